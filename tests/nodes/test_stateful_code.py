"""What is wrong with Python that keeps state is told with its line, and what it does to its state is done once it has returned."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from jobs.nodes.config_problems import config_problems
from jobs.nodes.flows.stateful_config import StatefulConfig
from jobs.nodes.user_python.kept import Declared, State, Store
from jobs.nodes.user_python.memory import MemoryHandle
from jobs.nodes.user_python.state_code import DEFAULT_STATE_CODE, checked_state_code
from jobs.nodes.user_python.timers import Timers, milliseconds_of

ZONE = ZoneInfo("Europe/Berlin")
CALLED = "def process(key, rows, state, timers):\n    "


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "def process(row):\n    return row",
            "line 1: process is called with 4 arguments, and takes 1: write def process(key, rows, state",
        ),
        ("def proces(key, rows, state, timers): pass", "there is no function process: call the one in line 1 process instead of proces"),
        ("def on_timer(key, timer, state, timers): pass", "there is no function process: write def process(key, rows, state, timers)"),
        (
            f"{CALLED}pass\ndef on_timer(key): pass",
            "line 3: on_timer is called with 4 arguments, and takes 1: write def on_timer(key, timer",
        ),
        (f"{CALLED}state.other.get()", "line 2: nothing is kept under the name other: there is count"),
        ("def process(k, r, kept, t):\n    kept.cunt.get()", "line 2: nothing is kept under the name cunt: did you mean count?"),
        (f"{CALLED}return row +", "line 2: invalid syntax: return row +"),
    ],
)
def test_a_fault_is_told_with_its_line(code: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        checked_state_code(code, ("count",))


@pytest.mark.parametrize(
    "code", [DEFAULT_STATE_CODE, "from mine import process", "def process(*given): pass", f"{CALLED}state.count.other.more()"]
)
def test_code_that_can_be_called_is_taken_without_being_run(code: str) -> None:
    assert checked_state_code(code, ("count",)) == code


def test_the_code_that_stands_there_at_first_is_judged_by_the_state_that_is_kept() -> None:
    (problem,) = config_problems(StatefulConfig, {"keys": ["a"], "state": [{"name": "streak"}]})
    assert (problem.pointer, problem.message) == ("/code", "line 10: nothing is kept under the name count: there is streak")


def test_a_faulty_state_hides_no_fault_of_the_code_and_blames_no_name() -> None:
    found = config_problems(StatefulConfig, {"keys": ["a"], "state": [{"name": "1"}], "code": f"{CALLED}state.x.get()"})
    assert [problem.pointer for problem in found] == ["/state/0/name"]


@pytest.fixture
def store() -> Store:
    whole, moment = pa.int64(), pa.timestamp("us", "Europe/Berlin")
    schema: Any = None  # what is in memory has none
    declared = (
        Declared("one", "value", schema, whole),
        Declared("at", "value", schema, moment),
        Declared("many", "list", schema, whole),
        Declared("by", "map", schema, whole, schema, pa.string()),
    )
    return Store.of(MemoryHandle(), declared, ZONE)


def after(store: Store, act: Any) -> State:
    """State as it is read once `act` on it has been stored."""
    pieces = store.pieces()
    act(State(pieces))
    for piece in pieces.values():
        piece.store()
    return State(store.pieces())


def test_nothing_is_stored_before_the_function_has_returned(store: Store) -> None:
    after(store, lambda state: (state.one.set(1), state.many.append(1), state.by.put("a", 1)))
    lost = State(store.pieces())
    lost.one.set(2)
    lost.many.append(2)
    lost.by.remove("a")
    lost.by.put("b", 2)
    kept = State(store.pieces())
    assert (kept.one.get(), kept.many.get(), kept.by.items()) == (1, [1], [("a", 1)])


def test_a_function_sees_its_own_changes_and_the_next_one_too(store: Store) -> None:
    def change(state: State) -> None:
        one, many, by = state.one, state.many, state.by
        assert (one.get(), one.get(7), many.get(), by.get("a"), by.get("a", 5), "a" in by) == (None, 7, [], None, 5, False)
        one.set(3.0)
        many.extend([1, 2])
        by.put("a", 1)
        by.put("b", 2)
        by.remove("a")
        assert (one.get(), list(many), len(many), by.items(), list(by), len(by)) == (3, [1, 2], 2, [("b", 2)], ["b"], 1)
        many.set([5])
        many.append(6)

    kept = after(store, change)
    assert (kept.one.get(), kept.many.get(), kept.by.items()) == (3, [5, 6], [("b", 2)])
    kept = after(store, lambda state: (state.one.clear(), state.many.clear(), state.by.clear(), state.by.put("c", 3)))
    assert (kept.one.get(), kept.many.get(), kept.by.items()) == (None, [], [("c", 3)])


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda state: state.one.set("x"), "state.one: 'x' is no bigint"),
        (lambda state: state.one.set(1.5), "state.one: 1.5 is no bigint"),
        (lambda state: state.one.set(None), "state.one cannot be None: clear or remove it instead"),
        (lambda state: state.by.put(1, 1), "a key of state.by: 1 is no string"),
        (lambda state: state.many.append([]), "state.many: [] is no bigint"),
        (lambda state: state.other.get(), "nothing is kept under the name other: there is one, at, many, by"),
        (lambda state: setattr(state, "one", 1), "state.one cannot be assigned: write state.one.set(…)"),
    ],
)
def test_what_does_not_fit_is_told_in_words(store: Store, act: Any, words: str) -> None:
    with pytest.raises((TypeError, AttributeError), match=f"^{re.escape(words)}$"):
        act(State(store.pieces()))


def test_times_come_back_in_the_zone_of_the_job(store: Store) -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)
    found = after(store, lambda state: state.at.set(noon)).at
    assert found.get().isoformat() == "2026-07-01T14:00:00+02:00"


def test_timers_are_set_once_the_function_has_returned() -> None:
    handle, noon = MemoryHandle(), datetime(2026, 7, 1, 12, tzinfo=UTC)
    handle.registerTimer(milliseconds_of(noon))
    timers = Timers(handle, "event", milliseconds_of(noon), ZONE, fires=True)
    timers.register(noon + timedelta(hours=1, microseconds=1999))
    timers.delete(noon)
    assert timers.now == noon
    assert [time.isoformat() for time in timers.list()] == ["2026-07-01T15:00:00.001000+02:00"]
    assert list(handle.listTimers()) == [milliseconds_of(noon)]
    timers.store()
    assert list(handle.listTimers()) == [milliseconds_of(noon) + 3_600_001]


@pytest.mark.parametrize(
    ("mode", "fires", "act", "words"),
    [
        ("none", True, lambda timers: timers.now, "timers need a time to go by: choose processing or event as the node's time"),
        ("event", False, lambda timers: timers.register(timers.now), "a timer needs a function to call: write def on_timer(key, timer"),
        ("event", True, lambda timers: timers.register(5), "a timer is a time, not int: write timers.now + timedelta(…)"),
    ],
)
def test_a_timer_that_cannot_fire_is_told(mode: Any, fires: bool, act: Any, words: str) -> None:
    with pytest.raises((RuntimeError, TypeError), match=f"^{re.escape(words)}"):
        act(Timers(MemoryHandle(), mode, 0, ZONE, fires=fires))
