"""Going back to a checkpoint: what a sink wrote behind it, and whether that can be taken away again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from jobs.nodes.base import Config, NodeContext

ConfigT = TypeVar("ConfigT", bound="Config")
#: Why rows stay: what is said of a sink that cannot take them back.
Hindrance = Literal["", "kept", "sent", "nothing", "columns", "shared", "delta", "silent"]


@dataclass(frozen=True)
class RollBackPoint:
    """Batches of `generation` up to `batch_id` stay, all of the generations in `later` go; what came before `generation` stays.

    `batch_id` None: the sink had no part in the checkpoint, so that nothing of `generation` is its own. `shared`: another sink of the
    job writes to the same target and stands at another batch.
    """

    generation: str
    batch_id: int | None
    later: tuple[str, ...] = ()
    shared: bool = False

    def is_behind(self, generation: str, batch_id: int) -> bool:
        if generation == self.generation:
            return self.batch_id is not None and batch_id > self.batch_id
        return generation in self.later


@dataclass(frozen=True)
class RollBack:
    """What becomes of rows behind the point. removed: they go; replaced: those that come again overwrite them; repeated: they stay, and
    come again, because of `hindrance`.

    `count` of `unit`s that go, or went; None: unknown.
    """

    way: Literal["removed", "replaced", "repeated"]
    unit: Literal["files", "rows"] = "rows"
    count: int | None = None
    hindrance: Hindrance = ""


class RollsBack(Generic[ConfigT]):
    """The part of a sink that is asked when a job goes back to a checkpoint. As it stands here: nothing can be taken away."""

    #: Why rows written behind a checkpoint stay when a job goes back to it; for a sink that never takes them away.
    stays: ClassVar[Hindrance] = "kept"

    #: Whether what it writes stays side by side in a target of rows, unless `replaces`.
    accumulates: ClassVar[bool] = False

    def target_of(self, config: ConfigT) -> str:
        """The same text for two nodes that write to one target in which `roll_back` cannot tell their rows apart; "" where it can."""
        return ""

    def replaces(self, config: ConfigT) -> bool:
        """Whether rows that come again overwrite those with the same keys: then nothing has to be taken away."""
        return False

    def roll_back_view(self, context: NodeContext[ConfigT], point: RollBackPoint) -> RollBack:
        """What `roll_back` would do, asked before a person confirms a restore. Changes nothing; NodeError where the target is silent."""
        return RollBack("replaced") if self.replaces(context.config) else RollBack("repeated", hindrance=self.stays)

    def roll_back(self, context: NodeContext[ConfigT], point: RollBackPoint) -> RollBack:
        """Take away what was written behind `point`; `count` says how much went. Called behind `begin`, before the first batch.

        Takes away only what is known to be of this job. Repeatable at any point: a crash may bring it again.
        """
        return self.roll_back_view(context, point)
