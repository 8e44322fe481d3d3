"""A stream that reads Kafka too slowly skips the oldest that waits: every message is written, rejected, counted as dropped, or waits."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checkpoints.checksums import Digests
from checkpoints.cut import cut_restore, query_cut
from checkpoints.verification import cut_verify
from jobs.engine import offset_log, skip_ledger
from jobs.engine.events import BufferStands, Noticed, QueryStarted
from jobs.engine.failure import ExecutionFailure
from jobs.engine.progress import last_committed
from jobs.engine.runner import Run
from tests.engine.graphs import COLLECT, Bench, document, numbers
from tests.engine.kafka_numbers import (
    Feed,
    came_once_and_in_order,
    connected,
    drained,
    dropped,
    goes_on_whole,
    position,
    reading,
    rejected,
    skipped_at_least,
    source,
    waiting,
)
from tests.engine.nodes import CollectSink, SlowSink
from tests.servers.kafka import KafkaServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server]

MOST = 400
LATEST: dict[str, Any] = {"backpressure": "LATEST", "max_backlog": MOST, "max_records_per_trigger": 100}


@pytest.mark.slow
def test_the_sums_add_up_before_and_after_a_stop(bench: Bench, kafka_server: KafkaServer, feed: Feed) -> None:
    plan = reading(bench, kafka_server, feed.topic, **LATEST)
    first = skipped_at_least(bench, plan, feed, 3)
    written = SlowSink.took[plan.generation]
    still = waiting(kafka_server, position(plan))
    assert feed.produced == len(written) + rejected(first) + dropped(first) + still
    assert (len(first.of(QueryStarted)), "DROPPING" in {event.status for event in first.of(BufferStands)}) == (1, True)
    batches = [event.batch_id for event in first.committed()]
    assert batches == list(range(len(batches))), "every batch is told of, by whichever of Spark's runs"
    told = [re.fullmatch(r"skipped ([\d,]+) messages: more waited than may", event.message) for event in first.of(Noticed)]
    assert sum(int(match[1].replace(",", "")) for match in told if match) == dropped(first)
    assert sum(event.detail.get("skipped", 0) for event in first.of(Noticed)) == dropped(first)

    second = drained(bench, kafka_server, replace(plan, attempt=2))
    assert second.of(BufferStands)[0].dropped == dropped(first), "it begins where the attempt before ended"
    assert feed.produced == len(written) + rejected(first, second) + dropped(second)
    assert came_once_and_in_order(written)
    assert max(written) >= feed.produced - 2, "the newest are never skipped"


@pytest.mark.slow
@pytest.mark.parametrize("ends_before", ["it is done", "it is counted"])
def test_an_attempt_that_ends_amid_a_skip_loses_nothing_and_counts_nothing_twice(
    bench: Bench, kafka_server: KafkaServer, feed: Feed, monkeypatch: pytest.MonkeyPatch, ends_before: str
) -> None:
    plan = reading(bench, kafka_server, feed.topic, **LATEST)
    move = offset_log.ends_move

    def end(*given: Any) -> None:
        if ends_before == "it is counted":
            move(*given)
        raise OSError("the host went down")

    feed.send(10 * MOST)
    with monkeypatch.context() as patch:
        patch.setattr(skip_ledger, "ends_move", end)
        run, first = bench.run(plan)
        with pytest.raises(ExecutionFailure, match="the host went down"):
            run.wait(60)
    goes_on_whole(bench, kafka_server, feed, plan, first)


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["stop", "interrupt"])
def test_a_stop_amid_a_skip_ends_the_run(
    bench: Bench, kafka_server: KafkaServer, feed: Feed, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    plan = reading(bench, kafka_server, feed.topic, **LATEST)
    move = offset_log.ends_move
    runs: list[Run] = []

    def move_and_stop(*given: Any) -> None:
        getattr(runs[0], asked)()
        move(*given)

    monkeypatch.setattr(skip_ledger, "ends_move", move_and_stop)
    run, heard = bench.run(plan)
    runs.append(run)
    heard.wait_for(BufferStands)
    feed.send(10 * MOST)
    assert run.wait(60) == "stopped"
    assert (run.hanging, dropped(heard) > 0) == (False, True)
    written = SlowSink.took[plan.generation]
    assert feed.produced == len(written) + rejected(heard) + dropped(heard) + waiting(kafka_server, position(plan))
    assert came_once_and_in_order(written)


@pytest.mark.slow
def test_what_is_counted_over_all_rows_goes_on_behind_a_skip(bench: Bench, kafka_server: KafkaServer, feed: Feed) -> None:
    every_year = {"time_column": "kafka_time", "window": "365 days", "emit": "update", "aggregates": [{"name": "n"}]}
    nodes = {
        "numbers": source(feed.topic, metadata=True, **LATEST),
        "count": ("flow.window_aggregate", every_year),
        "out": COLLECT,
    }
    plan = connected(bench.plan(document(nodes, "numbers>count, count>out", type="STREAMING")), kafka_server)
    feed.send(10 * MOST)
    first = drained(bench, kafka_server, plan)
    feed.send(10 * MOST)
    second = drained(bench, kafka_server, replace(plan, attempt=2))
    batches = CollectSink.rows[plan.generation + "out"]
    newest = {row.window_start: row.n for batch in sorted(batches) for row in batches[batch]}
    assert sum(newest.values()) == feed.produced - rejected(first, second) - dropped(second)
    assert dropped(second) > dropped(first) > 0


@pytest.mark.slow
def test_other_queries_go_on_and_checkpoints_are_whole(bench: Bench, kafka_server: KafkaServer, feed: Feed, tmp_path: Path) -> None:
    nodes = {"numbers": source(feed.topic, **LATEST), "out": ("sink.slow", {}), "gen": numbers(None, 5), "other": COLLECT}
    plan = connected(bench.plan(document(nodes, "numbers>out, gen>other", type="STREAMING")), kafka_server)
    run, heard = bench.run(plan)
    heard.wait_for(BufferStands)
    digests: Digests = {}
    cuts: list[Path] = []
    folder = plan.locations.live / "out"
    with feed.producing():
        wait_until(lambda: len({event.query for event in heard.committed()}) == 2, seconds=60, what="a batch of both queries")
        while len({event.dropped for event in heard.of(BufferStands)}) <= 3:
            assert run.wait(0.05) is None
            batch = min(last_committed(folder), max(event.batch_id for event in heard.committed() if event.query == "out"))
            cuts.append(tmp_path / f"cut{len(cuts)}")
            query_cut(folder, batch, cuts[-1], real_copy=False, digests=digests)
    run.stop()
    assert run.wait(30) == "stopped"
    assert [cut_verify(cut) for cut in cuts] == [[]] * len(cuts)
    others = [event for event in heard.committed() if event.query == "other"]
    assert [event.batch_id for event in others] == list(range(len(others)))
    batches = CollectSink.rows[plan.generation + "other"]
    ids = [row.id for batch in sorted(batches) for row in batches[batch]]
    assert ids == list(range(len(ids)))
    assert {event.query for event in heard.of(QueryStarted)} == {"out", "other"}

    again = reading(bench, kafka_server, feed.topic, **LATEST)
    cut_restore(cuts[-1], again.locations.live / "out")
    still = waiting(kafka_server, position(again))
    restored = drained(bench, kafka_server, again)
    assert still == len(SlowSink.took[again.generation]) + rejected(restored) + dropped(restored)
