"""Which sources of a checkpoint a person may set elsewhere, and why others not."""

from typing import Any, Literal

from checkpoints.models import Checkpoint
from jobs.engine.graph_shape import GraphShape
from jobs.models import Execution
from jobs.nodes.hand_positions import FOREIGN_POSITION, position_settable
from jobs.selectors.graph_comparisons import Incomparable, run_of, shape_of
from jobs.selectors.refusals import Conflict
from jobs.selectors.shapes.base import Shape
from jobs.selectors.shapes.checkpoint import CheckpointOut

_BUFFER = "its messages lie in a buffer of its own, from which those that were read are taken away"
_LOG = "Spark keeps its position in a log of its own: which files, or which version of a table, were read"

_WHOLE = "it is read whole, or in an order in which no place between its beginning and its end can be named"


class SourcePositionOut(Shape):
    """`ways`: how it can be set; none where `refused` says why it cannot. `values`: the part of the position that can be written."""

    node_id: str
    name: str
    type: str
    position: Any
    values: dict[str, Any]
    ways: list[Literal["earliest", "latest", "time", "values"]]
    refused: str


class PositionMoveOut(Shape):
    node_id: str
    before: Any
    after: Any


class PositionsOut(Shape):
    """`checkpoint`: the new one, null for a dry run."""

    dry_run: bool
    sources: list[PositionMoveOut]
    checkpoint: CheckpointOut | None


def position_shape(checkpoint: Checkpoint) -> GraphShape:
    """The graph that the checkpoint was taken of. Conflict where it cannot be run as it stands."""
    execution = Execution.with_imported.select_related("job").get(execution_id=checkpoint.execution_id)
    try:
        return shape_of(run_of(execution))
    except Incomparable as error:
        raise Conflict(str(error), problems=error.problems) from None


def checkpoint_positions_out(checkpoint: Checkpoint) -> list[SourcePositionOut]:
    """Every source of its graph, in the order of the graph."""
    shape = position_shape(checkpoint)
    positions = checkpoint.state_data.get("sources", {})
    found = []
    for node_id in shape.steps.sources:
        refused, step, position = position_fixed(shape, node_id, positions), shape.step(node_id), positions.get(node_id)
        hand = None if refused else shape.steps.source(node_id).hand_positions
        found.append(
            SourcePositionOut(
                node_id=node_id,
                name=step.name,
                type=step.type,
                position=position,
                values=(position_settable(hand, position, step.config) or {}) if hand else {},
                ways=list(hand.ways) if hand else [],
                refused=refused,
            )
        )
    return found


def position_fixed(shape: GraphShape, node_id: str, positions: dict[str, Any]) -> str:
    """Why the position of a source cannot be set, "" if it can."""
    state = [node for query in shape.queries for node in query.state]
    if state:
        return f'"{shape.step(state[0]).name}" keeps state, which was made of the rows up to here and of no others'
    if node_id not in positions:
        return "nothing of it was read yet: its settings say where it starts"
    source = shape.steps.source(node_id)
    if source.hand_positions is None:
        return _BUFFER if source.has_own_buffer else _LOG
    settable = position_settable(source.hand_positions, positions[node_id], shape.step(node_id).config)
    if settable is None:
        return f"its position cannot be read: {FOREIGN_POSITION}"
    return "" if settable else _WHOLE
