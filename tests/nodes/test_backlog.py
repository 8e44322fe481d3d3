"""Which messages are skipped where more wait in a system's own log than may."""

from collections.abc import Collection, Mapping

import pytest

from jobs.nodes.backlog import Backlog, Place, widened
from jobs.nodes.backpressure import Backpressure, Skip, Strategy, is_beyond, placed_at
from jobs.nodes.node_error import NodeError

ENDS: Mapping[Place, int] = {("orders", "0"): 750, ("orders", "1"): 750}


def ends(places: Collection[Place]) -> Mapping[Place, int]:
    return {place: ENDS[place] for place in places if place in ENDS}


def backlog(strategy: Strategy, most: int) -> Backlog:
    return Backlog(ends, Backpressure(strategy, most))


def test_the_newest_are_kept_of_each_place_by_what_waits_there() -> None:
    stands = {"orders": {"0": 0, "1": 500}}
    skip = backlog("LATEST", 101).skip([stands])
    assert skip == Skip((stands,), ({"orders": {"0": 674, "1": 725}},), 899)
    assert backlog("LATEST", 101).skip(skip.positions) is None, "no more waits than may"


def test_the_oldest_are_kept_where_the_newest_go() -> None:
    skip = backlog("DROP", 101).skip([{"orders": {"0": 0, "1": 500}}])
    assert skip == Skip(({"orders": {"0": 76, "1": 525}},), ({"orders": {"0": 750, "1": 750}},), 899)
    assert backlog("DROP", 101).skip(skip.positions) is None, "nothing waits any more"


def test_a_source_that_is_read_twice_goes_on_from_one_place() -> None:
    slow, fast = {"orders": {"0": 0, "1": 0}}, {"orders": {"0": 720, "1": 10}}
    skip = backlog("LATEST", 100).skip([slow, fast])
    assert skip is not None
    assert (skip.positions, skip.messages) == (({"orders": {"0": 700, "1": 700}}, {"orders": {"0": 720, "1": 700}}), 1400)


@pytest.mark.parametrize("position", [{"offset": 100}, {"broker-a/0": 100}])
def test_positions_have_any_depth(position: dict[str, int]) -> None:
    (place,) = position
    found = Backlog(lambda places: dict.fromkeys(places, 1000), Backpressure("LATEST", 300)).skip([position])
    assert found == Skip((position,), ({place: 700},), 600)


def test_a_place_that_is_there_no_more_waits_for_nothing() -> None:
    assert backlog("LATEST", 1000).skip([{"orders": {"0": 0, "7": 0}}]) is None


@pytest.mark.parametrize("strategy", ["BUFFER", "ERROR"])
def test_nothing_is_skipped_where_all_is_kept(strategy: Strategy) -> None:
    assert backlog(strategy, 1).skip([{"orders": {"0": 0}}]) is None


@pytest.mark.parametrize(
    ("strategy", "most", "status"),
    [("BUFFER", 0, "OK"), ("ERROR", 749, "FAILED"), ("ERROR", 750, "OK"), ("DROP", 749, "DROPPING"), ("LATEST", 749, "DROPPING")],
)
def test_how_it_stands(strategy: Strategy, most: int, status: str) -> None:
    found = backlog(strategy, most).look([{"orders": {"0": 0}}])
    assert found is not None
    assert (found.waiting, found.status) == (750, status)


def test_a_place_that_only_one_position_knows_is_left_as_it_is() -> None:
    planned, limit = {"orders": {"0": 90, "1": 20}, "new": {"0": 5}}, {"orders": {"0": 80, "1": 30}}
    assert is_beyond(planned, limit)
    assert not is_beyond({"orders": {"0": 80}}, limit)
    assert placed_at(planned, limit) == {"orders": {"0": 80, "1": 30}, "new": {"0": 5}}


def test_what_was_read_since_the_system_was_asked_waits_no_more() -> None:
    asked = 0

    def counted(places: Collection[Place]) -> Mapping[Place, int]:
        nonlocal asked
        asked += 1
        return ends(places)

    found = Backlog(counted, Backpressure())
    waits = [stands.waiting for offset in (0, 700, 750) if (stands := found.look([{"orders": {"0": offset}}]))]
    assert (waits, asked) == ([750, 50, 0], 1)


def test_a_system_that_does_not_answer_is_not_asked_at_once_again() -> None:
    def away(places: Collection[Place]) -> Mapping[Place, int]:
        raise NodeError("no broker answers")

    found = Backlog(away, Backpressure())
    with pytest.raises(NodeError):
        found.look([{"orders": {"0": 0}}])
    assert found.look([{"orders": {"0": 0}}]) is None


def test_what_comes_while_that_many_wait_is_left_out_too() -> None:
    newest: dict[Place, int] = {("orders", "0"): 750, ("orders", "1"): 750}
    log = Backlog(lambda places: newest, Backpressure("DROP", 100))
    skip = log.skip([{"orders": {"0": 650, "1": 550}}])
    assert skip == Skip(({"orders": {"0": 683, "1": 617}},), ({"orders": {"0": 750, "1": 750}},), 200)
    newest = {("orders", "0"): 950, ("orders", "1"): 850}
    fresh = log.skip([{"orders": {"0": 673, "1": 557}}])
    assert fresh is not None
    assert fresh.messages == 470
    wider = widened(skip, fresh)
    assert wider == Skip(skip.begins, ({"orders": {"0": 930, "1": 840}},), 470), "70 still wait before what goes, so 30 may behind it"
    assert widened(wider, skip) == wider, "it never becomes less"
