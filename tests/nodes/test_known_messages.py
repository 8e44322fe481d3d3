"""A log is known again by messages of it: what is remembered, when it is another one, and when nothing can be said."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from jobs.nodes import known_messages
from jobs.nodes.base import NodeError
from jobs.nodes.known_messages import NOTE, KnownMessages, Mark
from jobs.nodes.node_error import SystemAway
from jobs.nodes.rabbitmq.told import sent_digest


class Log:
    """Messages by their offsets in the places of a log; those asked for are counted."""

    def __init__(self, **places: Mapping[int, str]) -> None:
        self.places = dict(places)
        self.asked = 0
        self.is_away = False

    def look(self, offsets: Mapping[str, int]) -> dict[str, Mark | None]:
        if self.is_away:
            raise SystemAway("the broker does not answer")
        self.asked += len(offsets)
        return {name: self._at(self.places[name], offset) for name, offset in offsets.items() if name in self.places}

    @staticmethod
    def _at(messages: Mapping[int, str], at: int) -> Mark | None:
        found = min((offset for offset in messages if offset >= at), default=None)
        return None if found is None else Mark(found, messages[found])


def numbered(texts: Sequence[str], first: int = 0) -> dict[int, str]:
    return dict(enumerate(texts, first))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_messages, "SETTLING_SECONDS", 0.0)


def known(folder: Path, log: Log, name: str = "orders") -> KnownMessages:
    return KnownMessages(folder / NOTE, "topic", name, log.look)


def is_refused(one: KnownMessages) -> bool:
    try:
        one.check()
    except NodeError as error:
        return (error.permanent, error.field) == (True, "lost_messages")
    return False


def test_a_log_is_another_one_where_a_message_that_was_read_is_another(tmp_path: Path) -> None:
    log = Log(a=numbered("abcdef"), b=numbered("xyz"))
    one = known(tmp_path, log)
    one.check()
    one.follow({"a": 3, "b": 0}, may_change=False)
    assert log.asked == 1, "of a place that nothing was read of nothing is known"
    one.check()
    log.places["a"] = numbered("abCdef")
    assert is_refused(one)
    assert not is_refused(known(tmp_path, log, "others")), "another log is another place"
    one.follow({"a": 5}, may_change=False)
    assert is_refused(one), "it is not taken for the one that was read"
    one.follow({"a": 5}, may_change=True)
    one.check()
    log.places["a"] = numbered("other")
    one.forget()
    one.check()


def test_what_a_checkpoint_found_out_is_heard_until_a_start_finds_the_log_again(tmp_path: Path) -> None:
    log = Log(a=numbered("abc"))
    one = known(tmp_path, log)
    one.follow({"a": 2}, may_change=False)
    one.begin()
    assert one.heard() is None
    log.places["a"] = numbered("xyz")
    one.follow({"a": 3}, may_change=False)
    assert "topic orders was deleted and made anew" in str(one.heard())
    with pytest.raises(NodeError, match="made anew"):
        one.begin()
    log.places["a"] = numbered("abc")
    one.begin()
    assert one.heard() is None
    one.check()


@pytest.mark.parametrize("left", [numbered("uvw", 7), {}, None], ids=["older ones are gone", "all are gone", "the place is gone"])
def test_of_what_is_not_there_any_more(tmp_path: Path, left: Mapping[int, str] | None) -> None:
    log = Log(a=numbered("abc"), b=numbered("xyz"))
    one = known(tmp_path, log)
    one.follow({"a": 3, "b": 3}, may_change=False)
    log.places = {"b": log.places["b"]} | ({} if left is None else {"a": left})
    assert is_refused(one) == (left == {}), "only where none came behind it, the log is not the one that was read"
    one.follow({"a": 9, "b": 3}, may_change=False)
    assert one.heard() is None
    assert is_refused(one) == (left == {})


def test_a_position_before_the_message_that_is_remembered_does_not_make_a_shorter_log_the_same(tmp_path: Path) -> None:
    log = Log(a=numbered("abcdef"))
    one = known(tmp_path, log)
    one.follow({"a": 6}, may_change=False)
    one.follow({"a": 2}, may_change=False)
    one.check()
    one.follow({"a": 6}, may_change=False)
    log.places["a"] = numbered("uvw")
    one.follow({"a": 2}, may_change=False)
    assert is_refused(one)


def test_where_an_offset_is_no_messages_the_next_one_is_remembered(tmp_path: Path) -> None:
    log = Log(a={0: "a", 1: "b", 4: "e"})
    one = known(tmp_path, log)
    one.follow({"a": 3}, may_change=False)
    one.check()
    log.places["a"] = {0: "a", 1: "b", 4: "E"}
    assert is_refused(one)


def test_a_checkpoint_reads_two_messages_of_a_place_that_moved_and_one_of_another(tmp_path: Path) -> None:
    log = Log(a=numbered("abcdef"), b=numbered("xyz"))
    one = known(tmp_path, log)
    one.follow({"a": 3, "b": 3}, may_change=False)
    log.asked = 0
    one.follow({"a": 5, "b": 3}, may_change=False)
    assert log.asked == 3


def test_while_nobody_answers_what_is_remembered_stays(tmp_path: Path) -> None:
    log = Log(a=numbered("abc"))
    one = known(tmp_path, log)
    one.follow({"a": 2}, may_change=False)
    before = one.place.read_text()
    log.is_away = True
    for may_change in (False, True):
        one.follow({"a": 3}, may_change=may_change)
    assert one.place.read_text() == before
    with pytest.raises(SystemAway):
        one.check()


def test_messages_of_rabbitmq_are_told_apart_by_all_that_their_senders_wrote() -> None:
    def digest(value: bytes = b"{}", **told: object) -> str:
        sent = {"headers": None, "message_id": None, "correlation_id": None, "timestamp": None} | told
        return sent_digest(value, SimpleNamespace(**sent))

    several = [
        digest(),
        digest(b"[]"),
        digest(headers={"shop": 1}),
        digest(message_id="1"),
        digest(correlation_id="1"),
        digest(timestamp=1),
    ]
    assert len(set(several)) == len(several)
    assert digest(headers={"x-stream-offset": 7, "x-of-the-next-version": "a", "shop": 1}) == several[2]
