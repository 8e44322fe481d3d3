"""The durable log behind sources whose messages come once: appended whole, told apart by id, read by position, trimmed from below."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadMaxRows

from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import NodeError
from jobs.nodes.rabbitmq.told import text_told
from jobs.nodes.readers.replayed import Beginning, beginning_option
from jobs.nodes.readers.spool_rows import Positions, SpoolReader, SpoolStreamReader
from jobs.nodes.spool import Message, Spool, SpoolFull, Standing, Taken
from jobs.nodes.spool_source import _check_reachable
from jobs.nodes.worker_errors import WorkerFailure, node_error_in
from tests.nodes.conftest import Build
from tests.servers.waiting import wait_until

ALL = Backpressure()


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "job" / "hook.sqlite3")


def values(spool: Spool, after: int = 0, upto: int | None = None) -> list[bytes | None]:
    return [message.value for message in spool.read(after, spool.newest() if upto is None else upto)]


def positions(spool: Spool) -> list[int]:
    return [message.position for message in spool.read(0, spool.newest())]


def numbered(first: int, end: int) -> list[Message]:
    return [Message(str(number).encode(), id=str(number)) for number in range(first, end)]


def test_messages_are_read_by_position_with_all_that_came(spool: Spool):
    assert (spool.oldest(), spool.newest(), spool.count()) == (1, 0, 0)
    assert spool.take([Message(b"a", key="k", headers={"h": "é"}), Message(None)], ALL) == Taken(2, 2)
    first, second = spool.read(0, 2)
    assert (first.position, first.value, first.key, first.headers) == (1, b"a", "k", {"h": "é"})
    assert (second.position, second.value, second.key) == (2, None, None)
    assert values(spool, after=1) == [None]


def test_a_spool_that_never_came_as_far_as_the_position_is_told_and_loses_nothing(spool: Spool):
    """A machine that was lost with its disk: another one goes on from a checkpoint, and begins a spool of its own."""
    spool.take(numbered(0, 3), ALL)
    reader = SpoolStreamReader(spool, Beginning(Path(), Path(), Path(), "earliest"), 10, 1, node="hook")
    with pytest.raises(WorkerFailure) as told:
        reader.latestOffset({"position": 5000}, ReadMaxRows(10))
    carried = node_error_in(str(told.value))
    assert carried is not None
    assert carried.node_id == "hook"
    assert carried.error.permanent
    assert carried.error.message.startswith("the messages that this machine received end at number 3, the checkpoint stands at 5000")
    assert spool.trim(5001) == 0
    assert len(values(spool)) == 3
    assert spool.trim(4) == 3


def test_a_key_that_is_no_utf_8_is_read_all_the_same(spool: Spool):
    """A routing key of RabbitMQ is any bytes, and was once kept as such."""
    spool.take([Message(b"a", key=text_told("größe".encode("latin-1")))], ALL)
    with closing(sqlite3.connect(spool.path)) as database, database:
        database.execute("INSERT INTO message SELECT position + 1, received, CAST(X'FF' AS BLOB), headers, value FROM message")
    (batch,) = SpoolReader(spool, Positions(0, 2), 1).read(Positions(0, 2))
    assert batch.column("key").to_pylist() == ["gr\ufffd\ufffde", "\ufffd"]


def test_after_a_change_of_place_what_came_from_the_one_before_is_no_more_its_own(spool: Spool):
    """A queue, another one, and back: messages of each are read by those who read that queue, and by nobody else."""
    before, after = Spool(spool.path, "orders"), Spool(spool.path, "returns")
    spool.take(numbered(0, 2), ALL)  # of a spool that was made before places were noted
    assert before.begin() == 0
    spool.take(numbered(2, 5), ALL)
    assert before.begin() == 0
    before.plan(0, 3, "first")
    before.plan(3, 3, "first")
    assert after.begin() == 2, "received and not read"
    assert spool.take(numbered(4, 8), ALL) == Taken(4, 4), "an id of the other queue is no repeat here"
    assert (before.own(0, 9), after.own(0, 9)) == ([(0, 5)], [(5, 9)])
    assert after.first_behind(0) == 6
    assert [message.value for message in after.newest_own(3)] == [b"5", b"6", b"7"]
    assert before.newest_own(9) == [], "the newest are of another queue"
    assert before.begin() == 4
    spool.take(numbered(20, 21), ALL)
    assert (before.own(2, 10), after.own(2, 10), after.first_behind(9)) == ([(2, 5), (9, 10)], [(5, 9)], 11)
    spool.trim(5)
    assert (before.lacking(2), before.lacking(4), after.lacking(2)) == ((3, 4), None, None)


def test_a_reader_passes_by_what_came_from_another_place_in_one_step(spool: Spool):
    Spool(spool.path, "orders").begin()
    spool.take(numbered(0, 50), ALL)
    after = Spool(spool.path, "returns")
    after.begin()
    reader = SpoolStreamReader(after, Beginning(Path(), Path(), Path(), "earliest"), 10, 2)
    assert reader.latestOffset({"position": 0}, ReadMaxRows(10)) == {"position": 50}
    assert reader.partitions({"position": 0}, {"position": 50}) == [Positions(0, 0)]
    assert after.standing().waiting == 0
    spool.take(numbered(50, 65), ALL)
    assert reader.latestOffset({"position": 0}, ReadMaxRows(10)) == {"position": 60}
    assert reader.partitions({"position": 0}, {"position": 60}) == [Positions(50, 60)]


def test_messages_that_were_discarded_are_not_missed(spool: Spool):
    latest = Backpressure("LATEST", 2)
    spool.take(numbered(0, 4), ALL)
    spool.plan(0, 1)
    spool.take(numbered(4, 6), latest)
    assert (spool.oldest(), spool.lacking(1)) == (1, None)
    spool.trim(2)
    assert (spool.oldest(), spool.lacking(1), spool.lacking(0)) == (4, None, (1, 3))


@pytest.fixture
def asked(spool: Spool, build: Build, tmp_path: Path) -> Callable[..., int]:
    """Where a query begins: Spark asks in its first batch more than once."""
    context = build("source.webhook", {"connection": "hook"}).context

    def told(start: str, query: str = "out", attempt: int = 1) -> int:
        option = beginning_option(replace(context, query_dir=tmp_path / query, attempt=attempt), start)
        return int(SpoolStreamReader(spool, Beginning.of(option), 10, 1).initialOffset()["position"])

    return told


@pytest.mark.parametrize(("start", "begin"), [("earliest", 0), ("latest", 2), ("unread", 1)])
def test_a_stream_begins_where_it_first_said_until_a_batch_is_committed(spool: Spool, asked: Callable[..., int], start: str, begin: int):
    """Also in the next attempt where that batch failed, and whatever others that begin with it have read since."""
    spool.take(numbered(0, 2), ALL)
    spool.plan(1, 2)
    assert asked(start) == begin
    spool.take(numbered(2, 5), ALL)
    spool.plan(3, 4)
    spool.trim(2)
    assert (asked(start), asked(start, query="beside"), asked(start, attempt=2)) == (begin, begin, begin)


@pytest.mark.parametrize(("start", "begin"), [("earliest", 3), ("latest", 5), ("unread", 4)])
def test_a_query_that_is_added_later_begins_where_a_fresh_start_would(spool: Spool, asked: Callable[..., int], start: str, begin: int):
    spool.take(numbered(0, 2), ALL)
    asked(start)
    spool.take(numbered(2, 5), ALL)
    spool.plan(4, 5)
    spool.trim(4)
    assert asked(start, query="added", attempt=2) == begin


def test_a_start_that_was_changed_counts_until_a_batch_is_planned(spool: Spool, asked: Callable[..., int], tmp_path: Path):
    spool.take(numbered(0, 2), ALL)
    assert asked("latest") == 2
    assert asked("earliest", attempt=2) == 0
    for log, batches in (("offsets", "01"), ("commits", "0")):
        (tmp_path / "out" / log).mkdir(parents=True)
        for batch in batches:
            (tmp_path / "out" / log / batch).touch()
    assert asked("latest", attempt=3) == 0, "the batch that must still be written begins where it was planned to"
    (tmp_path / "out" / "commits" / "1").touch()
    assert asked("latest", attempt=4) == 2


def test_a_message_that_is_sent_again_is_kept_once(spool: Spool):
    assert spool.take([Message(b"a", id="1"), Message(b"a", id="1"), Message(b"b")], ALL) == Taken(3, 2)
    assert spool.take([Message(b"a", id="1"), Message(b"c", id="2")], ALL) == Taken(2, 1)
    assert values(spool) == [b"a", b"b", b"c"]


def test_what_is_trimmed_is_not_read_as_if_it_had_never_been(spool: Spool):
    spool.take([Message(b"a"), Message(b"b"), Message(b"c")], ALL)
    assert spool.trim(3) == 2
    assert (spool.oldest(), spool.newest(), spool.count()) == (3, 3, 1)
    assert values(spool, after=2) == [b"c"]
    with pytest.raises(LookupError, match="messages 2 to 2 are not kept any more"):
        values(spool, after=1)
    spool.trim(4)
    assert (spool.oldest(), spool.take([Message(b"d")], ALL).new, spool.newest()) == (4, 1, 4)
    with pytest.raises(LookupError, match="messages 3 to 3"):
        values(spool, after=2, upto=3)


def test_a_full_buffer_takes_what_fits_and_leaves_the_rest_to_come_again(spool: Spool):
    full, refused = Backpressure("BUFFER", 3), "at most 3 messages wait to be read"
    assert spool.take(numbered(0, 5), full) == Taken(3, 3, refused=refused)
    assert spool.take(numbered(2, 5), full) == Taken(1, 0, refused=refused), "one that is kept already needs no room"
    spool.plan(0, 2)
    assert spool.take(numbered(3, 9), full) == Taken(2, 2, refused=refused)
    assert values(spool) == [b"0", b"1", b"2", b"3", b"4"]
    assert spool.standing() == Standing(waiting=3, dropped=0, overrun=False)


def test_what_comes_is_dropped_and_counted(spool: Spool):
    assert spool.take(numbered(0, 5), Backpressure("DROP", 3)) == Taken(5, 3, dropped=2)
    assert spool.take(numbered(4, 6), Backpressure("DROP", 3)) == Taken(2, 0, dropped=1), "one that was dropped is not counted again"
    assert values(spool) == [b"0", b"1", b"2"]
    assert spool.standing() == Standing(waiting=3, dropped=3, overrun=False)


def test_the_latest_stay_and_what_is_being_read_is_left_alone(spool: Spool):
    latest = Backpressure("LATEST", 3)
    spool.take(numbered(0, 3), latest)
    spool.plan(0, 2)
    assert spool.take(numbered(3, 8), latest) == Taken(5, 5, dropped=3)
    assert values(spool) == [b"0", b"1", b"5", b"6", b"7"]
    assert spool.standing() == Standing(waiting=3, dropped=3, overrun=False)
    assert (spool.first_behind(2), spool.count()) == (6, 5)
    spool.take(numbered(8, 10), latest)
    assert values(spool) == [b"0", b"1", b"7", b"8", b"9"]
    spool.plan(2, 9)
    assert spool.take(numbered(10, 20), latest) == Taken(10, 10, dropped=8)
    assert values(spool) == [b"0", b"1", b"7", b"8", b"17", b"18", b"19"]
    assert spool.standing() == Standing(waiting=3, dropped=13, overrun=False)


def test_a_discarded_message_is_no_trimmed_one(spool: Spool):
    latest = Backpressure("LATEST", 2)
    spool.take(numbered(0, 3), latest)
    spool.plan(0, 3)
    spool.take(numbered(3, 8), latest)
    assert values(spool) == [b"1", b"2", b"6", b"7"]
    spool.trim(3)
    assert values(spool, after=2) == [b"2", b"6", b"7"]
    with pytest.raises(LookupError, match="messages 2 to 2"):
        values(spool, after=1)


def test_an_overrun_takes_nothing_until_somebody_says_so_and_what_waited_is_read(spool: Spool):
    error = Backpressure("ERROR", 2)
    full, failed = "at most 2 messages wait to be read", "the job has failed for want of room"
    assert spool.take(numbered(0, 3), error) == Taken(2, 2, overrun=True, refused=full)
    assert spool.standing() == Standing(waiting=2, dropped=0, overrun=True)
    assert spool.take(numbered(2, 3), error) == Taken(0, 0, overrun=True, refused=failed)
    spool.begin()
    draining = "what waited when the job failed is read first"
    assert spool.take(numbered(0, 3), error) == Taken(2, 0, refused=draining), "those that are known are done with"
    spool.plan(0, 1)
    assert spool.take(numbered(2, 3), error) == Taken(0, 0, refused=draining)
    assert spool.standing() == Standing(waiting=1, dropped=0, overrun=False, draining=True)
    spool.plan(1, 2)
    assert spool.take(numbered(2, 3), error) == Taken(1, 1)
    assert spool.standing() == Standing(waiting=1, dropped=0, overrun=False)


def test_messages_that_belong_together_are_kept_all_or_none(spool: Spool):
    full = Backpressure("BUFFER", 3)
    without_ids = [Message(str(number).encode()) for number in range(5)]
    assert spool.take(without_ids[:2], full, whole=True) == Taken(2, 2)
    assert spool.take(without_ids[:2], full, whole=True) == Taken(0, 0, refused="at most 3 messages wait to be read")
    spool.plan(0, 1)
    assert spool.take(without_ids[:2], full, whole=True) == Taken(2, 2)
    assert spool.take(without_ids, Backpressure("DROP", 4), whole=True) == Taken(5, 1, dropped=4)
    refused = Taken(0, 0, overrun=True, refused="at most 5 messages wait to be read")
    assert spool.take(without_ids, Backpressure("ERROR", 5), whole=True) == refused


def test_after_an_overrun_another_strategy_takes_messages_at_once(spool: Spool):
    spool.take(numbered(0, 3), Backpressure("ERROR", 2))
    spool.begin()
    assert spool.take(numbered(2, 3), Backpressure("BUFFER", 3)) == Taken(1, 1)


def test_the_disk_gets_back_what_a_spool_needs_no_more(spool: Spool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jobs.nodes.spool_space._GIVEN_BACK_BYTES", 100_000)
    large = [Message(b"x" * 10_000) for _ in range(100)]
    spool.take(large, ALL)
    assert spool.path.stat().st_size > 1_000_000
    assert (spool.trim(96), len(values(spool, after=95))) == (95, 5)
    assert spool.path.stat().st_size < 200_000
    assert (spool.newest(), spool.take(large[:1], ALL), spool.newest()) == (100, Taken(1, 1), 101)


def test_on_a_full_disk_the_room_that_a_spool_has_is_used_again(spool: Spool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jobs.nodes.spool_space._GIVEN_BACK_BYTES", 2**62)
    large = [Message(b"x" * 10_000) for _ in range(100)]
    spool.take(large, ALL)
    monkeypatch.setattr("jobs.nodes.spool_space.shutil.disk_usage", lambda _: SimpleNamespace(free=400_000))
    monkeypatch.setattr("jobs.nodes.spool_space.LEAST_FREE_BYTES", 500_000)
    monkeypatch.setattr("jobs.nodes.spool_space._AHEAD_BYTES", 300_000)
    with pytest.raises(SpoolFull):
        spool.take(large[:1], ALL)
    spool.trim(101)
    assert spool.take(large[:1], ALL) == Taken(1, 1)


def test_on_a_disk_that_is_full_no_file_is_opened(spool: Spool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jobs.nodes.spool_space.shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(SpoolFull):
        spool.take([Message(b"x")], ALL)
    assert not spool.path.exists()


def test_of_what_was_read_so_much_is_kept(spool: Spool):
    spool.take(numbered(0, 10), ALL)
    spool.plan(7, 9)
    assert (spool.trim_read(3), spool.oldest(), spool.trim_read(3)) == (4, 5, 0)


def test_what_a_slower_query_of_the_source_has_to_read_is_neither_trimmed_nor_left_out(spool: Spool):
    latest = Backpressure("LATEST", 30)
    spool.take(numbered(0, 60), ALL)
    spool.plan(40, 60, "quick")
    spool.plan(0, 20, "slow")
    assert spool.standing().waiting == 40, "the slow one reads 20 of 60"
    spool.take(numbered(60, 100), latest)
    assert values(spool, after=20, upto=60) == [str(number).encode() for number in range(20, 60)], "what the quick one reads is there"
    spool.plan(60, 60, "quick")
    assert spool.trim_read(10) == 0
    assert len(values(spool, after=0, upto=20)) == 20


def test_a_query_that_goes_on_later_than_the_other_finds_what_it_had_not_read(spool: Spool):
    spool.take(numbered(0, 60), ALL)
    spool.plan(0, 20, "slow")
    spool.plan(60, 60, "quick")
    spool.begin()
    spool.plan(60, 60, "quick again")
    assert (spool.trim_read(10), spool.standing().waiting, spool.last_read()) == (0, 0, 60)
    spool.plan(20, 60, "slow again")
    assert (spool.last_read(), len(values(spool, after=20, upto=60))) == (20, 40)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["take", "plan", "back"]), st.integers(0, 12)), max_size=25), st.integers(1, 6))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_the_sums_are_right(tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int]], size: int):
    """Read + waiting + dropped = taken, with reading that goes on and goes back; nothing planned is ever lost."""
    spool, latest = Spool(tmp_path_factory.mktemp("spool") / "s.sqlite3"), Backpressure("LATEST", size)
    taken, planned = 0, 0
    for act, number in acts:
        if act == "take":
            spool.take(numbered(taken, taken + number), latest)
            taken += number
        else:
            after = planned if act == "plan" else max(0, planned - number)
            upto = max(after, min(spool.newest(), spool.first_behind(after) - 1 + number))
            spool.plan(after, upto)
            planned = upto
        standing = spool.standing()
        kept = [int(value or b"") for value in values(spool)]
        assert len(kept) + standing.dropped == taken
        assert standing.waiting == sum(position > planned for position in positions(spool))
        assert kept == sorted(set(kept))


def test_the_last_room_of_a_disk_is_left_to_others(spool: Spool, monkeypatch: pytest.MonkeyPatch):
    spool.take([Message(b"a")], ALL)
    monkeypatch.setattr("jobs.nodes.spool_space.LEAST_FREE_BYTES", 2**62)
    with pytest.raises(SpoolFull, match="the disk has next to no room"):
        spool.take([Message(b"b")], ALL)
    assert values(spool) == [b"a"]


APPENDING = """
import sys
from pathlib import Path
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import NodeError
from jobs.nodes.spool import Message, Spool
spool = Spool(Path(sys.argv[1]))
for number in range(10**6):
    spool.take([Message(str(number).encode(), id=str(number))], Backpressure())
    print(number, flush=True)
"""


def test_what_was_confirmed_outlives_a_kill(spool: Spool):
    process = subprocess.Popen([sys.executable, "-c", APPENDING, str(spool.path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    confirmed = -1
    wait_until(lambda: spool.path.exists() and spool.newest() > 20, seconds=60, what="some messages")
    os.kill(process.pid, signal.SIGKILL)
    for line in process.stdout:
        confirmed = int(line)
    process.wait()
    found = [int(value or b"") for value in values(spool)]
    assert found == list(range(len(found)))
    assert len(found) > confirmed >= 20 - 1


def test_executors_on_other_hosts_are_refused():
    for master in ("local[*]", "local[2]", "local-cluster[1,2,1024]"):
        _check_reachable(master)
    for master in ("spark://main:7077", "k8s://https://main", "yarn"):
        with pytest.raises(NodeError, match=f"executors run elsewhere [(]{master}[)]; run this job on workers whose SPARK_MASTER is local"):
            _check_reachable(master)
