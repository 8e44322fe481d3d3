"""What a roll-back would do, sink by sink, as the API shows it."""

from typing import Literal

from jobs.nodes.roll_back import Hindrance
from jobs.selectors.shapes.base import Shape


class RollBackOut(Shape):
    """One sink. removed: what it wrote since the checkpoint goes (`count` of `unit`s, null where it is not counted before); replaced: rows
    that come again overwrite it; repeated: it stays and comes again, because of `hindrance`. `message` says it in a sentence."""

    node_id: str
    name: str
    type: str
    way: Literal["removed", "replaced", "repeated"]
    unit: Literal["files", "rows"]
    count: int | None
    hindrance: Hindrance
    message: str
