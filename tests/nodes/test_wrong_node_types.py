"""What a package's node type declares wrongly is told where it is loaded: the type is missing, and all others can be shown."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest
from pydantic import BaseModel, Field

from jobs.nodes.base import Config, NodeType, Source
from jobs.nodes.connection_kind import ConnectionKind
from jobs.nodes.plugins import CONNECTION_GROUP, NODE_GROUP
from jobs.nodes.registry import NodeRegistry
from jobs.selectors import connections

NO_JSON: Any = object()


class Unserialized(Config):
    where: str = Field("", json_schema_extra={"x-where": NO_JSON})


class Unread(Source[Config]):
    """Reads nothing."""

    type = "source.acme"
    title = "Acme"
    icon = "plug"
    Config = Config


class Acme(Unread):
    """Reads nothing."""

    def read(self, spark: Any, context: Any) -> Any:
        raise NotImplementedError


class Nameless(NodeType[Config]):
    """Neither reads nor writes."""

    type, family, title, icon, Config = "source.acme", "source", "Acme", "plug", Config


class Strict(BaseModel):
    number: int


class Raising(ConnectionKind):
    def __init__(self) -> None:
        Strict.model_validate({"number": "x"})

    def check(self, settings: Any, limits: Any) -> Any:
        raise NotImplementedError


#: What the entry points of these tests name.
made: type = Acme


def loaded(name: str = "source.acme") -> NodeRegistry:
    points = (EntryPoint(name, f"{__name__}:made", NODE_GROUP), EntryPoint("acme", f"{__name__}:Raising", CONNECTION_GROUP))
    return NodeRegistry({"sink.none": "jobs.nodes.sinks.none:NoneSink"}, {}, plugins=lambda: points)


def declared(base: type = Acme, **attributes: Any) -> type:
    return type("Made", (base,), attributes)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (declared(title=None), "its title is None: title must be text"),
        (declared(icon=5), "its icon is 5: icon must be text"),
        (declared(version="new"), "its version is 'new': version must be a whole number"),
        (
            declared(job_types=("STREAMING", "NOPE")),
            "its job_types.1 is 'NOPE': job types 2 must be 'STREAMING', 'BATCH_ROLLER' or 'SQL_TASK'",
        ),
        (declared(boundedness="sometimes"), "its boundedness is 'sometimes': boundedness must be '', 'bounded', 'unbounded' or 'both'"),
        (
            declared(guarantee="exactly-once"),
            "its guarantee is 'exactly-once': guarantee must be 'exactly once', 'at least once', 'at most once' or 'no guarantee'",
        ),
        (declared(ports=("out",)), "its ports.0 is 'out': ports 1 must be a dictionary or an instance of Port"),
        (declared(Config=Unserialized), "PydanticSerializationError: Unable to serialize unknown type: <class 'object'>"),
        (Unread, "TypeError: Can't instantiate abstract class Unread with abstract method read"),
        (Nameless, "its entry point does not name a class below Source, Flow or Sink"),
    ],
)
def test_a_node_type_that_cannot_be_shown_or_run_is_missing_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, wrong: type, reason: str
) -> None:
    monkeypatch.setattr(f"{__name__}.made", wrong)
    monkeypatch.setattr(connections, "REGISTRY", loaded())
    shown = {one.type: one for one in connections.node_types_out()}
    assert shown["source.acme"].unavailable_reason == f"this node type could not be loaded: {reason} ({__name__}:made)"
    assert (shown["source.acme"].available, shown["sink.none"].available) == (False, True)


@pytest.mark.parametrize("name", ["bad name", "source", "source."])
def test_a_name_that_is_of_no_kind_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(f"{__name__}.made", declared(type=name))
    assert 'it is a source: its name has to begin with "source."' in loaded(name).catalogue()[name].unavailable_reason


def test_what_is_right_is_there_and_a_reason_tells_of_no_other_page() -> None:
    assert loaded().catalogue()["source.acme"].available
    told = loaded().missing_kinds()["acme"]
    assert "ValidationError" in told
    assert "http" not in told
