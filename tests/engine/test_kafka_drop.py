"""A stream that reads Kafka too slowly skips the newest that waits: every message is written, rejected, counted as dropped, or waits."""

from dataclasses import replace
from typing import Any

import pytest

from jobs.engine import offset_log, skip_ledger, skipping
from jobs.engine.events import BufferStands, QueryStarted
from jobs.engine.failure import ExecutionFailure
from tests.engine.graphs import Bench
from tests.engine.kafka_numbers import (
    Feed,
    came_once_and_in_order,
    drained,
    dropped,
    goes_on_whole,
    position,
    reading,
    rejected,
    skipped_at_least,
    waiting,
)
from tests.engine.nodes import SlowSink
from tests.servers.kafka import KafkaServer

pytestmark = [pytest.mark.spark, pytest.mark.server]

MOST = 400


def drop(per_batch: int) -> dict[str, Any]:
    return {"backpressure": "DROP", "max_backlog": MOST, "max_records_per_trigger": per_batch}


@pytest.mark.slow
@pytest.mark.parametrize("per_batch", [100, 0], ids=["in batches", "all at once"])
def test_the_sums_add_up_before_and_after_a_stop(bench: Bench, kafka_server: KafkaServer, feed: Feed, per_batch: int) -> None:
    plan = reading(bench, kafka_server, feed.topic, **drop(per_batch))
    first = skipped_at_least(bench, plan, feed, 2)
    written = SlowSink.took[plan.generation]
    assert feed.produced == len(written) + rejected(first) + dropped(first) + waiting(kafka_server, position(plan))
    assert (len(first.of(QueryStarted)), "DROPPING" in {event.status for event in first.of(BufferStands)}) == (1, True)
    batches = [event.batch_id for event in first.committed()]
    assert batches == list(range(len(batches))), "every batch is told of, by whichever of Spark's runs"

    second = drained(bench, kafka_server, replace(plan, attempt=2))
    assert second.of(BufferStands)[0].dropped == dropped(first), "it begins where the attempt before ended"
    assert feed.produced == len(written) + rejected(first, second) + dropped(second)
    assert came_once_and_in_order(written)


@pytest.mark.slow
def test_what_waited_before_is_read_and_what_came_after_is_not(bench: Bench, kafka_server: KafkaServer, feed: Feed) -> None:
    feed.send(10 * MOST)
    plan = reading(bench, kafka_server, feed.topic, **drop(100))
    heard = drained(bench, kafka_server, plan)
    written = SlowSink.took[plan.generation]
    assert len(written) + rejected(heard) == feed.produced - dropped(heard)
    assert MOST <= len(written) + rejected(heard) < 3 * MOST, "so many may wait, behind the batches that ran until somebody looked"
    assert max(written) < 3 * MOST, "those that came first"


@pytest.mark.slow
@pytest.mark.parametrize("ends_before", ["its last batch is planned", "it is done", "it is counted"])
def test_an_attempt_that_ends_amid_a_skip_loses_nothing_and_counts_nothing_twice(
    bench: Bench, kafka_server: KafkaServer, feed: Feed, monkeypatch: pytest.MonkeyPatch, ends_before: str
) -> None:
    plan = reading(bench, kafka_server, feed.topic, **drop(150))  # its batches end at other places than what may wait
    move, settled = offset_log.ends_move, ends_before == "it is counted"

    def end(*given: Any) -> None:
        if settled:
            move(*given)
        raise OSError("the host went down")

    feed.send(10 * MOST)
    with monkeypatch.context() as patch:
        if ends_before == "its last batch is planned":
            patch.setattr(skipping, "plan_end", end)
        else:
            patch.setattr(skip_ledger, "ends_move", end)
        run, first = bench.run(plan)
        with pytest.raises(ExecutionFailure, match="the host went down"):
            run.wait(60)
    goes_on_whole(bench, kafka_server, feed, plan, first)
