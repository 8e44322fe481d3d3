"""`source.rabbitmq_stream` against a real broker: what is read from where, once, over gaps, losses and a broker that is killed."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pika
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes import known_messages
from jobs.nodes.base import REJECTED, ConnectionSettings, NodeError
from jobs.nodes.rabbitmq import stream_reading
from jobs.nodes.rabbitmq.stream_end import StreamEnd
from jobs.nodes.rabbitmq.stream_line import StreamLine
from jobs.nodes.rabbitmq.stream_reading import StreamRange, StreamReading, shared_out
from jobs.nodes.readers.rabbitmq_streams import StreamsStreamReader
from jobs.nodes.readers.replayed import reader_options
from jobs.nodes.worker_errors import node_error_in
from tests.nodes.conftest import Build, Built
from tests.nodes.streams import Drained
from tests.servers.rabbitmq import PASSWORD, USER, RabbitMQServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server]

COLUMNS = [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]
ID = [{"name": "id", "type": "long"}]
#: A stream of many small files, each of which takes an offset for the broker's own notes.
SMALL = {"x-stream-max-segment-size-bytes": 2_000}


def stream_delete(server: RabbitMQServer, name: str) -> None:
    with closing(server.line()) as line:
        line.channel().queue_delete(name)


@pytest.fixture
def stream(rabbitmq_server: RabbitMQServer) -> Iterator[str]:
    name = f"s-{uuid4().hex[:8]}"
    rabbitmq_server.stream_create(name)
    yield name
    stream_delete(rabbitmq_server, name)


def publish(server: RabbitMQServer, stream: str, bodies: Sequence[bytes], **properties: Any) -> None:
    """One by one, each confirmed: each is a chunk of its own."""
    with closing(server.line()) as line:
        channel = line.channel()
        channel.confirm_delivery()
        for body in bodies:
            channel.basic_publish("", stream, body, pika.BasicProperties(**properties))


def publish_many(server: RabbitMQServer, stream: str, bodies: Sequence[bytes]) -> None:
    """Chunks as the broker makes them; all confirmed at the end."""
    with closing(server.line()) as line:
        channel = line.channel()
        for body in bodies[:-1]:
            channel.basic_publish("", stream, body)
        channel.confirm_delivery()
        channel.basic_publish("", stream, bodies[-1])


def numbered(first: int, last: int) -> list[bytes]:
    return [json.dumps({"id": number}).encode() for number in range(first, last)]


def settings(server: RabbitMQServer, password: str = PASSWORD) -> ConnectionSettings:
    return ConnectionSettings("main", "rabbitmq", {"host": "127.0.0.1", "port": server.port, "user": USER}, {"password": password})


def source(build: Build, server: RabbitMQServer, stream: str, *, mode: str = "batch", password: str = PASSWORD, **config: Any) -> Built:
    given = {"connection": "main", "stream": stream, "columns": ID, **config}
    return build("source.rabbitmq_stream", given, connections={"main": settings(server, password)}, mode=mode)


def read(spark: SparkSession, built: Built) -> DataFrame:
    frame: DataFrame = built.node.read(spark, built.context)
    return frame


def drain(spark: SparkSession, built: Built, drained: Drained, folder: Path) -> None:
    drained.run(read(spark, built), folder)


def test_messages_become_columns_with_all_that_is_told_and_are_there_to_be_read_again(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str
):
    sent = datetime(2026, 1, 31, 6, tzinfo=UTC)
    bodies = ['{"id": 1, "name": "Zoë 李"}'.encode(), b'{"id": "x"}', b"", b'{"id": 2}']
    publish(rabbitmq_server, stream, bodies, headers={"shop": "é", "lines": 3}, message_id="m", timestamp=int(sent.timestamp()))
    built = source(build, rabbitmq_server, stream, columns=COLUMNS, metadata=True)
    for _ in range(2):
        rows = sorted(read(spark, built).collect(), key=lambda row: row.rabbitmq_offset)
        assert [row.rabbitmq_offset for row in rows] == [0, 1, 2, 3]
        assert [(row.id, row.name) for row in rows if row[REJECTED] is None] == [(1, "Zoë 李"), (2, None)]
    first = rows[0]
    assert (first.rabbitmq_routing_key, first.rabbitmq_exchange, first.rabbitmq_time.astimezone(UTC)) == (stream, "", sent)
    assert {"shop": "é", "lines": "3", "message_id": "m"}.items() <= first.rabbitmq_headers.items()
    assert not any(name.startswith("x-stream") for name in first.rabbitmq_headers)


def test_text_bytes_empty_bodies_and_a_large_message(spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str):
    large = b"x" * 1_000_000
    publish(rabbitmq_server, stream, [b"", b"\xff\x00", large, "é".encode()])
    found = [bytes(row.value) for row in read(spark, source(build, rabbitmq_server, stream, format="binary", columns=[])).collect()]
    assert sorted(found, key=len) == [b"", b"\xff\x00", "é".encode(), large]
    texts = {row.value for row in read(spark, source(build, rabbitmq_server, stream, format="text", columns=[])).collect()}
    assert {"", "é", large.decode()} < texts


def test_names_and_types_come_from_the_newest_messages(spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str):
    built = source(build, rabbitmq_server, stream, columns=[])
    with pytest.raises(NodeError, match="there is no message yet to take the columns from"):
        read(spark, built)
    publish_many(rabbitmq_server, stream, [b'{"old": 1}'] * 300 + [b'{"id": 1, "tags": ["a"]}'] * 200)
    assert dict(read(spark, built).dtypes) == {"id": "bigint", "tags": "array<string>", REJECTED: "string"}


def test_ranges_over_many_files_are_read_side_by_side_in_order_and_without_a_hole(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer
):
    name = f"s-{uuid4().hex[:8]}"
    rabbitmq_server.stream_create(name, **SMALL)
    publish_many(rabbitmq_server, name, numbered(0, 12_000))
    with StreamLine(settings(rabbitmq_server), name) as line:
        assert line.look().newest > 12_000, "the broker's own notes take offsets"
    frame = read(spark, source(build, rabbitmq_server, name, metadata=True))
    assert frame.rdd.getNumPartitions() > 1
    parts = frame.rdd.mapPartitions(lambda rows: [[(row.rabbitmq_offset, row.id) for row in rows]]).collect()
    assert [number for part in parts for _, number in part] == list(range(12_000))
    assert all(part == sorted(part) for part in parts)
    stream_delete(rabbitmq_server, name)


def test_a_start_at_an_offset_a_time_or_behind_the_newest(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str, tmp_path: Path
):
    publish(rabbitmq_server, stream, numbered(0, 3))
    sent = datetime.now(UTC)
    wait_until(lambda: datetime.now(UTC).timestamp() >= int(sent.timestamp()) + 1, seconds=5, what="another second")
    since = datetime.now(UTC).isoformat(timespec="seconds")
    publish(rabbitmq_server, stream, numbered(3, 5))

    def found(**config: Any) -> list[int]:
        return sorted(row.id for row in read(spark, source(build, rabbitmq_server, stream, **config)).collect())

    assert found(start="offset", start_offset=1) == [1, 2, 3, 4]
    assert found(start="time", start_time=since) == [3, 4]
    assert found(start="time", start_time="2000-01-01") == [0, 1, 2, 3, 4]
    assert found(start="time", start_time="2999-01-01") == []
    latest, drained = source(build, rabbitmq_server, stream, mode="stream", start="latest"), Drained()
    drain(spark, latest, drained, tmp_path / "live")
    publish(rabbitmq_server, stream, numbered(5, 7))
    drain(spark, latest, drained, tmp_path / "live")
    assert drained.everything == [5, 6]


def test_a_start_behind_the_newest_stays_where_it_was_until_a_batch_is_committed(
    build: Build, rabbitmq_server: RabbitMQServer, stream: str
):
    """Spark asks again in its first batch, and in the next attempt where that batch failed."""
    options = reader_options(source(build, rabbitmq_server, stream, mode="stream", start="latest").context, settings(rabbitmq_server), 2)

    def asked() -> dict[str, int]:
        reader = StreamsStreamReader(options)
        try:
            return reader.initialOffset()
        finally:
            reader.stop()

    publish(rabbitmq_server, stream, numbered(0, 3))
    assert asked() == {"offset": 3}
    publish(rabbitmq_server, stream, numbered(3, 5))
    assert asked() == {"offset": 3}


def test_a_stream_goes_on_where_it_was_in_batches_and_ends_at_what_was_there(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str, tmp_path: Path
):
    publish(rabbitmq_server, stream, numbered(0, 4))
    built, drained = source(build, rabbitmq_server, stream, mode="stream", max_records_per_trigger=3), Drained()
    drained.meanwhile = lambda batch_id: publish(rabbitmq_server, stream, numbered(4 + batch_id, 5 + batch_id))
    drain(spark, built, drained, tmp_path / "live")
    assert drained.batches == {0: [0, 1, 2], 1: [3]}, "what came while it ran is for the next run"
    assert json.loads(drained.progress[-1]["sources"][0]["latestOffset"]) == drained.end_offset() == {"offset": 4}
    drained.failing, drained.meanwhile = 2, lambda batch_id: None
    with pytest.raises(StreamingQueryException, match="the sink is away"):
        drain(spark, built, drained, tmp_path / "live")
    drained.failing = None
    drain(spark, built, drained, tmp_path / "live")
    assert drained.everything == [0, 1, 2, 3, 4, 5]
    assert drained.end_offset() == {"offset": 6}


def lost(spark: SparkSession, built: Built, drained: Drained, folder: Path) -> str:
    """What a run says that finds messages missing."""
    with pytest.raises(StreamingQueryException) as caught:
        drain(spark, built, drained, folder)
    carried = node_error_in(str(caught.value))
    assert carried is not None
    assert (carried.error.permanent, carried.error.field) == (True, "lost_messages")
    return carried.error.message


def test_messages_that_retention_took_before_they_were_read_fail_the_job_or_are_left_out_as_chosen(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, tmp_path: Path
):
    name = f"s-{uuid4().hex[:8]}"
    rabbitmq_server.stream_create(name, **SMALL, **{"x-max-length-bytes": 4_000})
    publish(rabbitmq_server, name, numbered(0, 3))
    drained = Drained()
    drain(spark, source(build, rabbitmq_server, name, mode="stream"), drained, tmp_path / "live")
    publish(rabbitmq_server, name, numbered(3, 400))
    with StreamLine(settings(rabbitmq_server), name) as line:
        wait_until(lambda: (line.look("first").first or 0) > 3, seconds=10, what="messages to be deleted")
        oldest, newest = line.look("first").first, line.look().newest
    failing = source(build, rabbitmq_server, name, mode="stream")
    message = lost(spark, failing, drained, tmp_path / "live")
    with pytest.raises(NodeError) as asked:
        failing.node.check_input({"offset": 3}, failing.context)
    assert (asked.value.message, asked.value.permanent) == (message, True), "before a restore as well"
    failing.node.check_input({"offset": newest}, failing.context)
    assert f"messages of {name} from 3 on were deleted before they were read" in message
    assert f'(there is none before {oldest:,}); set "Lost messages" to go on with what is left' in message
    choosing = source(build, rabbitmq_server, name, mode="stream", lost_messages="go_on")
    drain(spark, choosing, drained, tmp_path / "live")
    assert drained.end_offset() == {"offset": newest}
    left = drained.everything[3:]
    assert left == list(range(left[0], 400))
    assert left[0] > 3
    stream_delete(rabbitmq_server, name)


@pytest.mark.parametrize("skips", [False, True])
def test_messages_that_retention_takes_while_they_are_read_are_told_or_left_out(
    rabbitmq_server: RabbitMQServer, monkeypatch: pytest.MonkeyPatch, skips: bool
):
    monkeypatch.setattr(stream_reading, "_AHEAD", 1)
    name = f"s-{uuid4().hex[:8]}"
    rabbitmq_server.stream_create(name, **SMALL, **{"x-max-length-bytes": 4_000})
    publish(rabbitmq_server, name, numbered(0, 10))
    with StreamLine(settings(rabbitmq_server), name) as line, StreamLine(settings(rabbitmq_server), name) as beside:
        reading = StreamReading(line, name, skips=skips)
        parts = reading.messages(StreamRange(0, 300))
        found = list(next(parts))
        publish(rabbitmq_server, name, numbered(10, 600))
        wait_until(lambda: (beside.look("first").first or 0) > 300, seconds=10, what="messages to be deleted")
        if skips:
            found += [one for part in parts for one in part]
            assert found[-1].offset < 300, "what follows is of no concern to this range"
        else:
            with pytest.raises(NodeError, match=f"messages of {name} from .* on were deleted before they were read"):
                found += [one for part in parts for one in part]
    assert [json.loads(one.value)["id"] for one in found] == list(range(len(found)))
    assert len(found) < 300
    stream_delete(rabbitmq_server, name)


def test_a_stream_that_was_made_anew_fails_the_job_or_is_read_from_its_beginning_as_chosen(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str, tmp_path: Path
):
    publish(rabbitmq_server, stream, numbered(0, 5))
    built, drained = source(build, rabbitmq_server, stream, mode="stream"), Drained()
    drain(spark, built, drained, tmp_path / "live")
    stream_delete(rabbitmq_server, stream)
    with pytest.raises(NodeError, match=rf"no queue '{stream}'.*create it, or correct the name") as refused:
        read(spark, built)
    assert (refused.value.permanent, refused.value.field) == (True, "stream")
    rabbitmq_server.stream_create(stream)
    publish(rabbitmq_server, stream, numbered(7, 9))
    assert "(the stream ends at 2)" in lost(spark, built, drained, tmp_path / "live")
    with pytest.raises(NodeError, match=r"\(the stream ends at 2\)"):
        built.node.check_input({"offset": 5}, built.context)
    choosing = source(build, rabbitmq_server, stream, mode="stream", lost_messages="go_on")
    choosing.node.check_input({"offset": 5}, choosing.context)
    drain(spark, choosing, drained, tmp_path / "live")
    assert drained.everything == [0, 1, 2, 3, 4, 7, 8]


def test_a_stream_made_anew_and_filled_past_the_position_is_not_read_on_unless_that_is_wanted(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str, tmp_path: Path
):
    publish(rabbitmq_server, stream, numbered(0, 5))
    built, drained = source(build, rabbitmq_server, stream, mode="stream"), Drained()
    for number in (5, 7):
        drain(spark, built, drained, tmp_path / "live")
        built.node.checkpointed(drained.end_offset(), built.context)
        publish(rabbitmq_server, stream, numbered(number, number + 2))
    assert drained.everything == [0, 1, 2, 3, 4, 5, 6], "the same stream goes on"
    built.node.check_input({"offset": 3}, built.context)
    stream_delete(rabbitmq_server, stream)
    rabbitmq_server.stream_create(stream)
    publish(rabbitmq_server, stream, numbered(100, 110))
    with pytest.raises(NodeError, match=rf"stream {stream} was deleted and made anew since it was read.*Lost messages") as caught:
        read(spark, built)
    assert (caught.value.permanent, caught.value.field) == (True, "lost_messages")
    with pytest.raises(NodeError) as asked:
        built.node.check_input({"offset": 3}, built.context)
    assert asked.value.message == caught.value.message, "before a restore as well"
    choosing = source(build, rabbitmq_server, stream, mode="stream", lost_messages="go_on")
    choosing.node.check_input({"offset": 7}, choosing.context)
    drain(spark, choosing, drained, tmp_path / "live")
    assert drained.everything[7:] == [107, 108, 109]
    choosing.node.checkpointed(drained.end_offset(), choosing.context)
    read(spark, built)


def test_a_running_job_hears_at_a_checkpoint_that_its_stream_was_made_anew(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str
):
    built, beside = (source(build, rabbitmq_server, stream, mode="stream") for _ in range(2))
    publish(rabbitmq_server, stream, numbered(0, 5))
    read(spark, built)
    beside.node.checkpointed({"offset": 5}, beside.context)
    built.node.check([])
    stream_delete(rabbitmq_server, stream)
    rabbitmq_server.stream_create(stream)
    publish(rabbitmq_server, stream, numbered(100, 110))
    beside.node.checkpointed({"offset": 8}, beside.context)
    with pytest.raises(NodeError, match=rf"stream {stream} was deleted and made anew"):
        built.node.check([])
    with pytest.raises(NodeError, match=rf"stream {stream} was deleted and made anew"):
        read(spark, source(build, rabbitmq_server, stream, mode="stream"))


def test_a_stream_that_is_shorter_than_what_was_read_of_it_is_not_gone_back_into(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(known_messages, "SETTLING_SECONDS", 0.0)
    publish(rabbitmq_server, stream, numbered(0, 9))
    built = source(build, rabbitmq_server, stream, mode="stream")
    built.node.checkpointed({"offset": 9}, built.context)
    stream_delete(rabbitmq_server, stream)
    rabbitmq_server.stream_create(stream)
    publish(rabbitmq_server, stream, numbered(100, 105))
    built.node.checkpointed({"offset": 3}, built.context)
    for act in (lambda: read(spark, built), lambda: built.node.check_input({"offset": 3}, built.context)):
        with pytest.raises(
            NodeError, match=f"messages of stream {stream} that were read are not there any more, nor any behind them"
        ) as caught:
            act()
        assert (caught.value.permanent, caught.value.field) == (True, "lost_messages")


def test_of_a_remembered_message_that_retention_took_nothing_is_said_and_another_one_is_remembered(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer
):
    name = f"s-{uuid4().hex[:8]}"
    rabbitmq_server.stream_create(name, **SMALL, **{"x-max-length-bytes": 4_000})
    publish(rabbitmq_server, name, numbered(0, 3))
    built = source(build, rabbitmq_server, name, mode="stream")
    built.node.checkpointed({"offset": 3}, built.context)
    assert remembered(built, name) == 2
    publish(rabbitmq_server, name, numbered(3, 400))
    with StreamLine(settings(rabbitmq_server), name) as line:
        wait_until(lambda: (line.look("first").first or 0) > 3, seconds=10, what="messages to be deleted")
        newest = line.look().newest
    read(spark, built)
    built.node.check_input({"offset": newest}, built.context)
    built.node.checkpointed({"offset": newest}, built.context)
    built.node.check([])
    assert remembered(built, name) == newest - 1
    stream_delete(rabbitmq_server, name)


def remembered(built: Built, stream: str) -> int:
    """The offset of the message that is remembered."""
    note = json.loads((built.context.work_dir / "known_messages.json").read_text())
    return int(note[stream]["messages"]["offset"][0])


def test_a_broker_that_is_away_when_a_checkpoint_completes_costs_it_nothing(build: Build, rabbitmq_server: RabbitMQServer, stream: str):
    publish(rabbitmq_server, stream, numbered(0, 5))
    built = source(build, rabbitmq_server, stream, mode="stream")
    built.node.checkpointed({"offset": 0}, built.context)
    built.node.checkpointed({"offset": 3}, built.context)
    away = ConnectionSettings("main", "rabbitmq", {"host": "127.0.0.1", "port": 1, "user": USER}, {"password": PASSWORD})
    built.node.checkpointed({"offset": 5}, replace(built.context, connections={"main": away}))
    assert remembered(built, stream) == 2


def test_the_end_of_a_stream_is_known_without_reading_what_is_known_already(rabbitmq_server: RabbitMQServer, stream: str):
    with StreamLine(settings(rabbitmq_server), stream) as line:
        end = StreamEnd(line)
        assert end.newest() == 0
        publish(rabbitmq_server, stream, numbered(0, 3))
        wait_until(lambda: end.newest() == 3, seconds=10, what="the new end")
        consumer = end._consumer
        assert end.newest() == 3
        assert end._consumer is consumer, "nothing new, nothing asked"
        publish_many(rabbitmq_server, stream, numbered(3, 2_000))
        wait_until(lambda: end.newest() == 2_000, seconds=10, what="the new end")
        stream_delete(rabbitmq_server, stream)
        with pytest.raises(NodeError, match="no queue"):
            end.newest()
        rabbitmq_server.stream_create(stream)
        assert end.newest() == 0


def test_each_kind_of_queue_is_read_by_its_own_source_and_a_try_with_the_other_moves_nothing(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str
):
    publish(rabbitmq_server, stream, numbered(0, 1))
    with closing(rabbitmq_server.line()) as line:
        for kind in ("classic", "quorum"):
            name = f"q-{uuid4().hex[:8]}"
            line.channel().queue_declare(name, durable=True, arguments={"x-queue-type": kind})
            publish(rabbitmq_server, name, [b"1"])
            with pytest.raises(NodeError, match=rf"{name} is no stream.*\(source.rabbitmq\)") as refused:
                read(spark, source(build, rabbitmq_server, name))
            assert (refused.value.permanent, refused.value.field) == (True, "stream")
            method, _, _ = line.channel().basic_get(name)
            assert (method.message_count, method.redelivered) == (0, False)
            line.channel().queue_delete(name)
    queue = build(
        "source.rabbitmq",
        {"connection": "main", "queue": stream, "columns": ID},
        connections={"main": settings(rabbitmq_server)},
    )
    for act in (lambda: queue.node.receive(queue.context, Event()), lambda: queue.node.newest(queue.context)):
        with pytest.raises(NodeError, match=rf"{stream} is a stream.*\(source.rabbitmq_stream\)") as refused:
            act()
        assert (refused.value.permanent, refused.value.field) == (True, "queue")


def test_a_broker_that_refuses_or_is_away_is_told(spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, stream: str):
    with pytest.raises(NodeError, match='reading rabbitmq "main": the sign-in was refused') as refused:
        read(spark, source(build, rabbitmq_server, stream, password="wrong"))
    assert refused.value.permanent
    built = source(build, rabbitmq_server, stream)
    away = ConnectionSettings("main", "rabbitmq", {"host": "127.0.0.1", "port": 1, "user": USER}, {"password": PASSWORD})
    context = replace(built.context, connections={"main": away})
    with pytest.raises(NodeError, match="the broker does not answer"):
        built.node.read(spark, context)
    assert (built.node.waits_for(context), built.node.waits_for(built.context)) == ("rabbitmq main", "")
    assert built.node.read(spark, replace(context, schema_only=True)).columns == ["id", REJECTED]


@pytest.mark.slow
def test_a_range_is_read_whole_while_its_broker_is_killed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream_reading, "_AHEAD", 1)
    with RabbitMQServer() as server:
        server.stream_create("numbers", **SMALL)
        publish_many(server, "numbers", numbered(0, 2_000))
        with StreamLine(settings(server), "numbers") as line:
            newest = line.look().newest
            parts = StreamReading(line, "numbers", skips=False).messages(StreamRange(0, newest))
            found = [one.value for _ in range(2) for one in next(parts)]
            assert len(found) < 2_000
            server.kill()
            back = Thread(target=server.start)
            back.start()
            found += [one.value for part in parts for one in part]
            back.join()
    assert found == numbered(0, 2_000)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 8))
def test_every_offset_between_two_positions_is_read_by_one_task(start: int, end: int, tasks: int):
    parts = shared_out(start, end, tasks)
    assert len(parts) <= tasks
    begin = start if start <= end else 0
    edges = [begin, *(one.last for one in parts)]
    assert [one.first for one in parts] == edges[:-1]
    assert edges[-1] == end
    assert all(one.first < one.last for one in parts)
