"""RocketMQ, 200-byte rows: read to nothing and written, beside our client alone and RocketMQ's own: `python -m benchmarks.rocketmq [rows]`.

RocketMQ's own client is timed with the start of its JVM, about two seconds.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.nodes.rocketmq.client import RocketMq
from jobs.nodes.rocketmq.positions import QueueRange, newest
from jobs.nodes.rocketmq.pulling import Wanted
from jobs.nodes.rocketmq.reading import QueueReading
from jobs.nodes.rocketmq.sending import Outgoing, TopicWriter
from tests.servers.rocketmq import RocketmqServer

QUEUES = 4
COLUMNS = [{"name": "id", "type": "long"}, {"name": "text", "type": "string"}]


def document(source: dict[str, Any], sink: dict[str, Any]) -> dict[str, object]:
    wide = {"columns": [{"name": "text", "expression": "repeat('x', 180)"}]}
    return {
        "name": "benchmark",
        "type": "BATCH_ROLLER",
        "nodes": {"in": source, "wide": {"type": "flow.compute_columns", "config": wide}, "out": sink},
        "edges": {"e1": {"from": ["in", "out"], "to": ["wide", "in"]}, "e2": {"from": ["wide", "out"], "to": ["out", "in"]}},
    }


def main(rows: int) -> None:
    with folder() as name, RocketmqServer(signed=True) as server:
        root = Path(name)
        spark = session(root)
        for topic in ("orders", "clean", "alone", "peer"):
            server.topic_create(topic, queues=QUEUES)
        server.group_create("benchmark")
        server.peer("orders", "fill", str(rows))

        def alone(number: int) -> None:
            with RocketMq(server.settings) as client:
                reading = QueueReading(client, Wanted("orders", "benchmark"), skips=False)
                ranges = [QueueRange(queue, 0, end) for queue, end in newest(client, "orders").items()]
                assert sum(len(part) for one in ranges for part in reading.messages(one)) == rows

        def sent_alone(number: int) -> None:
            stored = 0

            def settled(messages: Sequence[Outgoing], reason: str) -> None:
                nonlocal stored
                stored += len(messages)

            with RocketMq(server.settings) as client:
                writer = TopicWriter(client, "alone", settled, in_order=False, together=True)
                for row in range(rows):
                    value = b'{"id":%d,"text":"%s"}' % (row, b"x" * 180)
                    writer.add(Outgoing(value, {"UNIQ_KEY": f"{number:08X}{row:024X}", "KEYS": str(row)}))
                writer.finish()
            assert stored == rows

        def ours(source: dict[str, Any], sink: dict[str, Any]) -> None:
            assert run_document(spark, document(source, sink), root, {"main": server.settings})["in"] == rows

        read = {"connection": "main", "topic": "orders", "group_id": "benchmark", "max_records_per_trigger": rows}
        bare = {"type": "source.rocketmq", "config": {**read, "format": "binary"}}
        parsed = {"type": "source.rocketmq", "config": {**read, "columns": COLUMNS}}
        none = {"type": "sink.none", "config": {}}
        reads = [
            Variant("our client alone, one process", alone),
            Variant("RocketMQ's own client, one thread", lambda number: server.peer("orders", "count", "benchmark")),
            Variant("source, bytes, with counters", lambda number: ours(bare, none)),
            Variant("source, JSON, with counters", lambda number: ours(parsed, none)),
        ]
        compare("RocketMQ to nothing", rows, reads, rounds=3)
        made = {"type": "source.generator", "config": {"total_rows": rows, "rows_per_batch": rows}}
        write = {"type": "sink.rocketmq", "config": {"connection": "main", "topic": "clean"}}
        writes = [
            Variant("our client alone, one process", sent_alone),
            Variant("generator to nothing", lambda number: ours(made, none)),
            Variant("RocketMQ's own client, one thread", lambda number: server.peer("peer", "fill", str(rows))),
            Variant("generator to sink, with counters", lambda number: ours(made, write)),
        ]
        compare("Rows to RocketMQ", rows, writes, rounds=3)
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400_000)
