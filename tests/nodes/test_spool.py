"""The durable log behind sources whose messages come once: appended whole, told apart by id, read by position, trimmed from below."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.nodes.spool import Message, Spool, SpoolFull
from tests.servers.waiting import wait_until


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "job" / "hook.sqlite3")


def values(spool: Spool, after: int = 0, upto: int | None = None) -> list[bytes | None]:
    return [message.value for message in spool.read(after, spool.newest() if upto is None else upto)]


def test_messages_are_read_by_position_with_all_that_came(spool: Spool):
    assert (spool.oldest(), spool.newest(), spool.count()) == (1, 0, 0)
    assert spool.append([Message(b"a", key="k", headers={"h": "é"}), Message(None)]) == 2
    first, second = spool.read(0, 2)
    assert (first.position, first.value, first.key, first.headers) == (1, b"a", "k", {"h": "é"})
    assert (second.position, second.value, second.key) == (2, None, None)
    assert values(spool, after=1) == [None]


def test_a_message_that_is_sent_again_is_kept_once(spool: Spool):
    assert spool.append([Message(b"a", id="1"), Message(b"a", id="1"), Message(b"b")]) == 2
    assert spool.append([Message(b"a", id="1"), Message(b"c", id="2")]) == 1
    assert values(spool) == [b"a", b"b", b"c"]


def test_what_is_trimmed_is_not_read_as_if_it_had_never_been(spool: Spool):
    spool.append([Message(b"a"), Message(b"b"), Message(b"c")])
    assert spool.trim(3) == 2
    assert (spool.oldest(), spool.newest(), spool.count()) == (3, 3, 1)
    assert values(spool, after=2) == [b"c"]
    with pytest.raises(LookupError, match="messages 2 to 2 are not kept any more"):
        values(spool, after=1)
    spool.trim(10)
    assert (spool.oldest(), spool.append([Message(b"d")]), spool.newest()) == (4, 1, 4)
    with pytest.raises(LookupError, match="messages 3 to 3"):
        values(spool, after=2, upto=3)


def test_a_full_spool_takes_nothing_of_what_does_not_fit(spool: Spool):
    spool.append([Message(b"a")], most=2)
    with pytest.raises(SpoolFull, match="2 messages are kept"):
        spool.append([Message(b"b", id="1"), Message(b"c")], most=2)
    assert values(spool) == [b"a"]
    assert spool.append([Message(b"b", id="1")], most=2) == 1


def test_the_last_room_of_a_disk_is_left_to_others(spool: Spool, monkeypatch: pytest.MonkeyPatch):
    spool.append([Message(b"a")])
    monkeypatch.setattr("jobs.nodes.spool._LEAST_FREE_BYTES", 2**62)
    with pytest.raises(SpoolFull, match="the disk has next to no room"):
        spool.append([Message(b"b")])
    assert values(spool) == [b"a"]


APPENDING = """
import sys
from pathlib import Path
from jobs.nodes.spool import Message, Spool
spool = Spool(Path(sys.argv[1]))
for number in range(10**6):
    spool.append([Message(str(number).encode(), id=str(number))])
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
