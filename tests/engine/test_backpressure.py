"""Messages come five times as fast as they are written: every one is written, rejected, dropped by choice, or waits."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from jobs.engine.events import BatchCommitted, BufferStands
from jobs.engine.failure import ExecutionFailure
from jobs.nodes.backpressure import Backpressure, Strategy
from jobs.nodes.spool import Message, Spool, spool_path
from tests.engine.graphs import Bench, Heard, document
from tests.engine.nodes import SlowSink
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

SIZE, BAD_EVERY = 400, 50
A_TICK, OF_A_TICK = 0.02, 50


def hook(strategy: Strategy) -> tuple[str, dict[str, Any]]:
    columns = [{"name": "id", "type": "long"}]
    pressure = {"backpressure": strategy, "buffer_size": SIZE, "max_records_per_trigger": 100}
    return "source.webhook", {"connection": "sender", "columns": columns, **pressure}


class Producer:
    """Offers numbered messages, some of them no JSON, and offers again what is refused."""

    def __init__(self, spool: Spool, strategy: Strategy) -> None:
        self.produced, self.refused = 0, 0
        self._spool, self._pressure = spool, Backpressure(strategy, SIZE)
        self._stopping = threading.Event()

    @contextmanager
    def producing(self) -> Iterator[None]:
        thread = threading.Thread(target=self._produce)
        thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            thread.join()

    def _produce(self) -> None:
        while not self._stopping.wait(A_TICK):
            self.refused += OF_A_TICK - self.offer(OF_A_TICK)

    def offer(self, count: int) -> int:
        """How many of the next `count` messages are done with."""
        numbers = range(self.produced, self.produced + count)
        done = self._spool.take([_message(number) for number in numbers], self._pressure).done
        self.produced += done
        return done


def _message(number: int) -> Message:
    return Message(b"no json" if number % BAD_EVERY == 0 else f'{{"id": {number}}}'.encode())


def _position(heard: Heard) -> int:
    """How far the source was read: a batch that Spark committed while it was cut short may go untold, the next one tells its end."""
    batches = heard.committed()
    return int(batches[-1].sources["hook"]["end"]["position"]) if batches else 0


@pytest.mark.parametrize("strategy", ["BUFFER", "DROP", "LATEST"])
def test_the_sums_add_up_under_a_sink_that_is_too_slow(bench: Bench, strategy: Strategy) -> None:
    plan = bench.plan(document({"hook": hook(strategy), "out": ("sink.slow", {})}, "hook>out", type="STREAMING"))
    spool = Spool(spool_path(bench.root, plan.job_uid, "hook"))
    producer = Producer(spool, strategy)
    run, heard = bench.run(plan)
    heard.wait_for(BufferStands)
    with producer.producing():
        heard.wait_for(BatchCommitted, 12)
        seen = {event.status for event in heard.of(BufferStands)}
    run.stop()
    assert run.wait(30) == "stopped"
    written = SlowSink.took[plan.generation]
    still = len(list(spool.read(_position(heard), spool.newest())))
    dropped = spool.standing().dropped
    assert producer.produced == len(written) + heard.rows("hook", "rejected") + dropped + still
    assert (sorted(set(written)), heard.rows("hook")) == (sorted(written), len(written))
    assert still <= SIZE + 100, "the buffer, and a batch that was planned"
    assert (dropped > 0, producer.refused > 0) == (strategy != "BUFFER", strategy == "BUFFER")
    assert ("HOLDING" if strategy == "BUFFER" else "DROPPING") in seen


def test_a_buffer_that_must_not_run_over_ends_the_job_and_loses_nothing(bench: Bench) -> None:
    plan = bench.plan(document({"hook": hook("ERROR"), "out": ("sink.slow", {})}, "hook>out", type="STREAMING"))
    spool = Spool(spool_path(bench.root, plan.job_uid, "hook"))
    producer = Producer(spool, "ERROR")
    run, heard = bench.run(plan)
    heard.wait_for(BufferStands)
    with producer.producing(), pytest.raises(ExecutionFailure, match="messages come faster than they are read") as failed:
        run.wait(60)
    assert (failed.value.permanent, failed.value.node_id) == (True, "hook")
    assert producer.produced == spool.newest()
    run, heard = bench.run(plan)
    wait_until(lambda: producer.offer(1) == 1, seconds=60, what="a message that came at once, with the buffer full to the brim, is taken")
    with heard.changed:
        assert heard.changed.wait_for(lambda: _position(heard) == spool.newest(), 60), (_position(heard), spool.newest())
    run.stop()
    assert run.wait(30) == "stopped"
    assert set(SlowSink.took[plan.generation]) == {number for number in range(producer.produced) if number % BAD_EVERY}
