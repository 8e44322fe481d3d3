"""What every node type is made of: a Config, ports, a docstring and one verb.

A node type is one file with one class below `Source`, `Flow` or `Sink`. The first line of its docstring is the palette's help;
the second paragraph of a source or sink states boundedness and guarantee. Nothing here imports Django: it runs on Spark executors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

from jobs.dag.catalogue import Family, JobTypeName, Port
from jobs.nodes.batches import Batch as Batch
from jobs.nodes.batches import Written as Written
from jobs.nodes.cautions import Caution as Caution
from jobs.nodes.follows_checkpoints import FollowsCheckpoints
from jobs.nodes.guarantees import Guarantee, together
from jobs.nodes.installation import ConnectionSettings as ConnectionSettings
from jobs.nodes.installation import Limits as Limits
from jobs.nodes.node_context import Config as Config
from jobs.nodes.node_context import ConfigT as ConfigT
from jobs.nodes.node_context import NodeContext as NodeContext
from jobs.nodes.node_error import NodeError as NodeError
from jobs.nodes.places import open_places
from jobs.nodes.roll_back import RollsBack
from jobs.nodes.routed import Routed as Routed
from jobs.nodes.told_failures import ToldFailures

if TYPE_CHECKING:
    from threading import Event

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType

    from jobs.nodes.backpressure import Buffered, Skip
    from jobs.nodes.hand_positions import HandPositions

#: A rejecting node adds this column: the reason as text, null for a good row. The engine splits and drops it.
REJECTED = "__rejected"
#: In that reason: what follows is the row as it came.
AS_IT_CAME = ":\n"
#: The reason of a line of delimited values: the engine looks into it for those that are to blame.
LINE_MISFIT = "the line does not fit the columns"
#: Said of a node that works on batches.
NOT_IN_REAL_TIME = "it works on whole batches"
#: Named here because node classes have attributes called `type` and `Config`.
ConfigClass = type[Config]


class NodeType(ToldFailures, ABC, Generic[ConfigT]):
    """Common face of sources, flows and sinks; read by the registry, the palette and the form."""

    type: ClassVar[str]
    version: ClassVar[int] = 1
    family: ClassVar[Family]
    title: ClassVar[str]
    icon: ClassVar[str]  # a Tabler icon name
    ports: ClassVar[tuple[Port, ...]]
    #: Config field, a list of rows: the `name` of each is one more output port, before the declared outputs.
    ports_field: ClassVar[str] = ""
    Config: ClassVar[ConfigClass]
    job_types: ClassVar[tuple[JobTypeName, ...]] = ("STREAMING", "BATCH_ROLLER", "SQL_TASK")
    connection_kinds: ClassVar[tuple[str, ...]] = ()
    rejects_rows: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = False  # its config holds a program, which only those who are allowed to may write and run
    changes_row_count: ClassVar[bool] = False  # other rows go out than came in, or later: the engine counts behind this node
    real_time: ClassVar[bool] = False  # Spark can run it without batches, row by row
    #: The one line under the name on the node's card, with `{field}` for config values; drawn in the browser as `x-summary`.
    summary_template: ClassVar[str] = ""
    #: Where others reach this node, below the installation's own address, with `{job_uid}` and `{node_id}`; drawn as `x-address`.
    address_template: ClassVar[str] = ""
    #: Config field → `${names}` it fills in itself; None: any. There `$${name}` comes as it is written: the node makes `${name}` of it.
    own_places: ClassVar[Mapping[str, frozenset[str] | None]] = {}
    pace_fields: ClassVar[frozenset[str]] = frozenset()  # config fields on which neither rows nor what is kept of them depends
    patience_fields: ClassVar[frozenset[str]] = frozenset()  # that say only how long a stateful flow waits: what it keeps stays right

    def waits_for(self, context: NodeContext[ConfigT]) -> str:
        """The system that this node needs and that does not answer now, as in "waiting for kafka main"; "" if all is well.

        Asked every few seconds while a run goes on, in a thread of its own; it must answer within some seconds.
        """
        return ""

    def needs_to_begin(self, context: NodeContext[ConfigT]) -> str:
        """Like `waits_for`: asked before an attempt begins, which does so when every node says ""."""
        return self.waits_for(context)

    def cautions(self, context: NodeContext[ConfigT], arriving: Sequence[StructType]) -> Sequence[Caution]:
        """Told while the job is drawn, of a node that holds otherwise; such as state that grows for ever. `arriving`: one per input."""
        return () if self.runs_user_code else open_places(context.config.model_dump(include=set(self.own_places)))

    def hinders_real_time(self, config: ConfigT) -> str:
        """Why a stream with this node cannot run in real time, in words behind its name; "" where it can. Reads no other system."""
        return "" if self.real_time else NOT_IN_REAL_TIME

    def plain_fault(self, context: NodeContext[ConfigT]) -> str:
        """Why a plain PySpark script cannot do what this node does, as in "messages are received by workers"; "" where it can."""
        return ""

    def check_connection(self, context: NodeContext[ConfigT]) -> None:
        """NodeError where the node's connection does not exist, or is of a kind that it cannot use."""
        name = getattr(context.config, "connection", "")
        if name and self.connection_kinds and (found := context.connection(name)).kind not in self.connection_kinds:
            wanted = " or ".join(filter(None, (", ".join(self.connection_kinds[:-1]), self.connection_kinds[-1])))
            raise NodeError(
                f'connection "{name}" is of kind {found.kind}, but {wanted} is needed here; choose another',
                permanent=True,
                kind="user",
                field="connection",
            )


class Source(FollowsCheckpoints[ConfigT], NodeType[ConfigT]):
    """A streaming offset of a source written in Python may carry `"progress": {"done", "total", "unit"}`, total null when unknown."""

    family = "source"
    ports = (Port("out", "output"),)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "bounded"
    guarantee: ClassVar[str] = ""
    changes_row_count = True
    goes_on: ClassVar[bool] = False  # a start after a bounded run goes on behind what that has read, unless asked to begin anew
    row_fields: ClassVar[frozenset[str]] = frozenset()  # fields that say what rows are like: else a changed one is another place
    has_own_buffer: ClassVar[bool] = False  # its position counts messages that were kept for one job
    hand_positions: ClassVar[HandPositions | None] = None  # how a person may set its position; None: not at all

    def position_of_one_job(self, config: ConfigT) -> Literal["", "buffer", "copies"]:
        """What a position of a node with this config counts or names that is one job's alone; "" where another job may go on from it."""
        return "buffer" if self.has_own_buffer else ""

    def guarantee_of(self, config: ConfigT) -> Guarantee:
        """Of a node with this config: one that discards what comes too fast may lose rows, whatever it gives otherwise."""
        return together([self.guarantee, "at most once"] if getattr(config, "backpressure", "") in ("DROP", "LATEST") else [self.guarantee])

    @abstractmethod
    def read(self, spark: SparkSession, context: NodeContext[ConfigT]) -> DataFrame:
        """The frame of this source: streaming when `context.mode` is "stream" (named `context.stream_name`), else plain."""

    def resumes(self, config: ConfigT) -> bool:
        """Whether a bounded read goes in steps from a position it can go on from; else a SQL_TASK reads it whole."""
        return False

    def goes_whole(self, config: ConfigT) -> bool:
        """Whether a bounded read cannot go in steps, so that an import reads it whole as well."""
        return False

    def check_end(self, config: ConfigT) -> None:
        """NodeError where the rows of a node with this config have no end, so that nobody can read all of them."""

    def fields_that_move(self, before: ConfigT, after: ConfigT) -> Sequence[str]:
        """Fields of pace or of rows whose change, from `before` to `after`, makes another place of what is read all the same."""
        return ()

    def check(self, missing: Sequence[str]) -> None:
        """Called every few seconds while a stream reads, and before each batch with the files it names and Spark no longer found.
        Raises NodeError where input is gone."""

    def begin(self, context: NodeContext[ConfigT]) -> None:
        """Called once at the start of an attempt, before anything is received or read."""

    def receive(self, context: NodeContext[ConfigT], stopping: Event) -> None:
        """Takes what a system sends once into the source's own buffer, until `stopping`; a bounded run: what is there at its start.
        Runs in a thread of its own. What it raises that is not permanent is logged, and it is called again."""

    def buffered(self, context: NodeContext[ConfigT], positions: Sequence[Any] = ()) -> Buffered | None:
        """How its own buffer stands, or what waits behind `positions`, where its queries are; None if unknown. Asked every second."""
        return None

    def real_time_tasks(self, context: NodeContext[ConfigT]) -> int:
        """How many of Spark's tasks read it at the same time in real time: each of them runs as long as the stream does."""
        return 1

    def skip(self, context: NodeContext[ConfigT], positions: Sequence[Any]) -> Skip | None:
        """What to leave out behind `positions`, one for each time a query reads this source; None: nothing.

        Asked of a source whose `buffered` said DROPPING: before its query is stopped, and again when it stands still behind a batch.
        `dropped` of what `buffered` finds need not hold what was left out in this way.
        """
        return None

    def complete(self, context: NodeContext[ConfigT]) -> None:
        """Called once after a bounded run ended well."""


class Flow(NodeType[ConfigT]):
    family = "flow"
    ports: ClassVar[tuple[Port, ...]] = (Port("in", "input"), Port("out", "output"))
    reads_names: ClassVar[bool] = False  # what it does depends on what the nodes before it are called
    computes_once: ClassVar[bool] = False  # it acts on a system, or takes its time, for each row: once a batch, in one query
    acts: ClassVar[bool] = False  # on another system: what it does is done for all rows of a batch before the first sink gets one
    needs_rocksdb: ClassVar[bool] = False  # Spark keeps its state in RocksDB only, never in memory
    tells_late_rows: ClassVar[bool] = False  # it has a port `late`, which gives rows of its input as they came: see `too_late`

    def reads_within(self, config: ConfigT) -> bool:
        return False  # its inputs within expressions: Spark then wants them to give the same rows each time

    def is_stateful(self, config: ConfigT) -> bool:
        """Keeps state between micro-batches: such a node ends up in the streaming plan, never inside a batch."""
        return False

    def hinders_real_time(self, config: ConfigT) -> str:
        return "it keeps something from one batch to the next" if self.is_stateful(config) else super().hinders_real_time(config)

    def output_mode(self, config: ConfigT) -> Literal["append", "update"]:
        """How a stateful node emits."""
        return "append"

    def sets_watermark(self, config: ConfigT) -> bool:
        """A stateful node tells a stream by which column event time goes on: Spark takes that once on the way to a sink."""
        return False

    def times(self, context: NodeContext[ConfigT]) -> Mapping[str, str]:
        """Input port → the column without whose value a row is left out there."""
        return {}

    def too_late(self, frame: DataFrame, config: ConfigT, watermark_ms: int) -> Column:
        """True for those rows of `frame`, as they arrive, that a stream leaves out where event time has come to `watermark_ms`."""
        raise NotImplementedError(self.type)

    def without_clock(self, config: ConfigT) -> ConfigT:
        """For a test of a stream without a clock, which ends with its input. NodeError where that makes no sense."""
        return config

    def tallies(self, config: ConfigT) -> Mapping[str, Column]:
        """What to count among the rows behind it, rejected ones included: name → true for a row that counts."""
        return {}

    def tally_words(self, config: ConfigT, name: str) -> str:
        """What is counted under a name of `tallies`, for the job's log."""
        return name

    @abstractmethod
    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[ConfigT]) -> DataFrame | dict[str, DataFrame] | Routed:
        """Input port → frames in edge order; returns the frame of port `out`, one per output port, or one whose rows go to several."""


class Sink(RollsBack[ConfigT], NodeType[ConfigT]):
    """`begin` once an attempt, `write` once a batch, `close` at the end. Idempotent per (job_uid, node, generation, batch_id)."""

    family = "sink"
    ports = (Port("in", "input"),)
    guarantee: ClassVar[str] = ""
    reads_every_row: ClassVar[bool] = True  # the first thing `write` does with its frame; else the engine counts the rows itself

    def guarantee_of(self, config: ConfigT) -> Guarantee:
        """Of a node with this config."""
        return together([self.guarantee])

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[ConfigT]) -> None:
        """Raises NodeError where rows of `schema` cannot be written as configured. Changes nothing; may look at the target.

        Asked while the job is drawn; of kind external means that the target cannot be asked now, which is no fault of the drawing.
        """

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[ConfigT]) -> None:
        """Raise this attempt's fence in the target and close superseded generations; make or check the target."""

    @abstractmethod
    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[ConfigT]) -> Written:
        """Make the rows of `frame` visible in the target, all or none."""

    def stream_writer(self, frame: DataFrame, context: NodeContext[ConfigT]) -> DataStreamWriter:
        """By which Spark writes a stream without handing over batches: of a sink that runs in real time."""
        raise NotImplementedError(self.type)

    def failed_stream(self, text: str, config: ConfigT) -> bool:
        """Whether `text`, of which a stream in real time died, tells of what this sink writes: there no batch of its own fails."""
        return False

    def write_plainly(self, frame: DataFrame, context: NodeContext[ConfigT]) -> tuple[DataFrame, str]:
        """For a script, whose lines calls of Spark's API become: writes `frame` by Spark itself, or returns what `rows` are to be for lines
        of Python, which also know `batch_id`. NodeError where there is no way."""
        raise NodeError("plain PySpark has no writer for it", permanent=True, kind="user")

    def settle(self, spark: SparkSession, context: NodeContext[ConfigT], *, committed: int, last: bool) -> None:
        """Called every few seconds, beside batches too, and once, `last`, when a run ended in good order. Batches up to `committed` are."""

    def mark(self, context: NodeContext[ConfigT], batch_id: int) -> bool:
        """A checkpoint is about to be cut behind this batch: what `roll_back` to it takes away must stay apart from what it leaves.

        False where it is too late for that; then it is cut behind a newer batch. Called from any thread.
        """
        return True

    def close(self, context: NodeContext[ConfigT]) -> None:
        """Let go of what `begin` took. Called also after a failure."""


class SinkFenced(NodeError):
    """A newer attempt or generation took over the target: this attempt must stop at once and write nothing more."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=False, kind="system")
