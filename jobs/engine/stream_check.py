"""Spark's own rules for streams, asked of a document before it runs: Spark itself tells of them when a query starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.engine.analysis_problems import first_line
from jobs.engine.counts import NoCounter
from jobs.engine.failure import AtNode
from jobs.engine.frames import Frames
from jobs.engine.grouping import sends_again, ways_to
from jobs.engine.steps import Steps
from jobs.nodes.base import Flow, NodeError
from jobs.nodes.config_texts import texts_in

#: What a stream lets begin and never ends, or gives only once in its life.
_NEVER_DONE: Mapping[str, str] = {
    "Sort": "it sorts, and a stream has no end at which its rows could be in order; leave ORDER BY out, or sort in an import or a query",
    "Window": "it looks at a row's neighbours (OVER), and a stream has no end at which all are there; leave it out, or group by a window",
    "GlobalLimit": "it takes a number of rows from a stream, and gives no more after them; leave LIMIT out, or filter by a condition",
    "LocalLimit": "it takes a number of rows from a stream, and gives no more after them; leave LIMIT out, or filter by a condition",
    "Offset": "it skips rows of a stream once in its life; leave OFFSET out, or filter by a condition",
    "Tail": "it takes the last rows, and a stream has no end",
}
#: An expression may look at a row's neighbours, in any node that takes one.
_LOOKS_ASIDE = re.compile(r"\bover\b", re.IGNORECASE)
_TWO_TIMES = (
    "it goes by event time, and so does a node before it: a stream has one event time on its way; let one of the two go without, "
    "or write in between and read that in another job"
)
_NO_UPDATES = (
    "a join that also gives rows without a partner cannot stand in one stream with a node that sends a group again each time it "
    "changes; let a Window aggregate emit on close, or write in between and read that in another job"
)
_NO_SPAN = (
    "a join of two streams that also gives rows without a partner needs a span of time for its partners; "
    "use the Join node, which asks for it"
)
_READ_TWICE = (
    "the query reads an input more than once, and a stream gives each row once; draw the source a second time and connect it here, "
    "or make the job a paged import"
)
_NO_INPUT = "it reads none of its inputs, and a stream runs over rows that come in; read an input, or make the job a query"
_WHOLE_INPUTS = "it compares whole inputs (EXCEPT, INTERSECT), and a stream is never whole; use a Join or a Lookup, or make the job a query"
_SAMPLED = "it samples rows (TABLESAMPLE), which a query in a stream cannot do; use the node Sample"
_ASKED_WITHIN = (
    "it asks an input for rows inside an expression (IN, EXISTS or a SELECT in parentheses), which a stream cannot answer; "
    "use a Join or a Lookup"
)
_GROUPED_TWICE = (
    "it groups what it has grouped already, and a stream may lose late rows between the two; group once, or write in between and "
    "read that in another job"
)
_COUNTS_DISTINCT = "it counts different values (DISTINCT within an aggregate), which a stream cannot do; use approx_count_distinct"
#: What Spark says of a stream, and what it means.
_SENTENCES: Mapping[re.Pattern[str], str] = {
    re.compile(r"Redefining watermark", re.IGNORECASE): _TWO_TIMES,
    re.compile(r"(?:Outer|Semi)\w* join .*Update output mode", re.IGNORECASE | re.DOTALL): _NO_UPDATES,
    re.compile(r"(?:Outer|Semi)\w* join .*without a watermark", re.IGNORECASE | re.DOTALL): _NO_SPAN,
    re.compile(r"without streaming sources", re.IGNORECASE): _NO_INPUT,
    re.compile(r"\b(?:Except|Intersect) (?:on|of) ", re.IGNORECASE): _WHOLE_INPUTS,
    re.compile(r"Sampling is not supported", re.IGNORECASE): _SAMPLED,
    re.compile(r"Distinct aggregations", re.IGNORECASE): _COUNTS_DISTINCT,
    re.compile(r"not allowed in subquery", re.IGNORECASE): _ASKED_WITHIN,
    re.compile(r"correctness' issue", re.IGNORECASE): _GROUPED_TWICE,
}


class StreamCheck:
    """Looks at the frames of a stream's nodes as Spark does when it starts a query. `frames`: the same with schemas only, as batches.

    `spark`: a session of its own.
    """

    def __init__(self, spark: SparkSession, steps: Steps, frames: Frames) -> None:
        self._spark, self._steps, self._batch = spark, steps, frames
        # Nothing is read, so a source need not be known again, and may stand on several ways under no name.
        spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "false")
        self._given: dict[str, dict[str, DataFrame]] = {}
        self._frames = Frames(steps, spark, NoCounter(), mode="stream", schema_only=True, given=self._given, static=frames)

    def check(self, node_id: str) -> None:
        """NodeError where Spark would refuse to run the node in a stream, or would run it to no end."""
        node_type = self._steps.types[node_id]
        if self._steps.plan.job_type != "STREAMING" or node_id in self._steps.beside:
            return
        if not isinstance(node_type, Flow) or not self._reaches_across(node_id, node_type):
            return
        above = self._steps.upstream((node_id,))
        for source in set(above) & set(self._steps.sources):
            if source not in self._given:
                ports = {port: self._streaming(self._batch.of(source, port)) for port in self._batch.ports_of(source)}
                self._frames.give(source, ports)
        plan = self._plan_of(node_id)
        names = list(_names_in(plan))
        ways = ways_to(self._steps, node_id)
        if sum(name.startswith("StreamingRelation") for name in names) > sum(ways[source] for source in self._steps.sources):
            raise _refused(_READ_TWICE)
        for name in names:
            if name in _NEVER_DONE:
                raise _refused(_NEVER_DONE[name], self._looks_aside_in(node_id) if name == "Window" else "")
        mode = "Update" if any(sends_again(self._steps, other) for other in above) else "Append"
        self._ask_spark(plan, mode)

    def _plan_of(self, node_id: str) -> Any:
        """Some of Spark's rules for streams hold while it makes the plan."""
        try:
            return self._frames.of(node_id, self._a_port(node_id))._jdf.queryExecution().analyzed()
        except AtNode as error:
            if isinstance(error.__cause__, PySparkException) and (meant := _meant(error.__cause__)):
                raise _refused(meant) from error
            raise

    def _reaches_across(self, node_id: str, node_type: Flow[Any]) -> bool:
        if self._steps.is_stateful(node_id) or node_type.reads_names or self._looks_aside_in(node_id) != "":
            return True
        return len(self._steps.arriving(node_id)) > 1 and any(sends_again(self._steps, other) for other in self._steps.upstream((node_id,)))

    def _looks_aside_in(self, node_id: str) -> str:
        """The field whose expression may look at a row's neighbours, as "columns/0/expression"; "" if there is none."""
        config = self._steps.by_id[node_id].config.model_dump(mode="json")
        return next(("/".join(map(str, path)) for path, text in texts_in(config) if _LOOKS_ASIDE.search(text)), "")

    def _a_port(self, node_id: str) -> str:
        ports = self._frames.ports_of(node_id)
        return "out" if "out" in ports else ports[0]

    def _streaming(self, frame: DataFrame) -> DataFrame:
        """A stream without rows with the columns of `frame`."""
        columns = [F.lit(None).cast(one.dataType).alias(one.name) for one in frame.schema.fields]
        return self._spark.readStream.format("rate").load().select(*columns)

    def _ask_spark(self, plan: Any, mode: str) -> None:
        jvm: Any = self._spark._jvm
        checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
        output_mode = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, mode)()
        try:
            checker.checkForStreaming(plan, output_mode)
        except PySparkException as error:
            raise _refused(_in_words(error)) from error


def _names_in(plan: Any) -> Iterator[str]:
    """The operators of a plan that read a stream, by the names of their classes."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if node.isStreaming():
            yield str(node.getClass().getSimpleName())
            children = node.children()
            waiting.extend(children.apply(index) for index in range(children.size()))


def _in_words(error: PySparkException) -> str:
    return _meant(error) or f"Spark does not run this in a stream: {first_line(error)}"


def _meant(error: PySparkException) -> str:
    text = str(error)
    return next((sentence for pattern, sentence in _SENTENCES.items() if pattern.search(text)), "")


def _refused(sentence: str, field: str = "") -> NodeError:
    return NodeError(sentence, permanent=True, kind="user", field=field)
