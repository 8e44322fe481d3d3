"""The one event time that a stream has on its way: the first node that goes by it sets the watermark, others take it over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jobs.nodes.columns import own_name, quoted
from jobs.nodes.node_error import NodeError
from jobs.nodes.plan_patterns import plan_holds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: In what Spark keeps of a column that has the watermark.
_WATERMARK = "spark.watermarkDelayMs"


class HandsOnTime:
    """A flow that goes by the time in a column of its rows and hands it on: another behind it may go by the same."""

    def time_handed_on(self, config: Any) -> str:
        """The column; "" where one with this config goes by none."""
        return ""


class TakesTimeOver:
    """A flow that goes by the time in a column of each input, and takes that over from a node before it which goes by the same."""

    def times_taken_over(self, config: Any) -> Mapping[str, str]:
        """Input port → its column; none where one with this config cannot."""
        return {}


def watermarked(frame: DataFrame, name: str, delay: str, *, field: str = "time_column", called: str = "") -> DataFrame:
    """`frame` with the watermark on the column `name`, `delay` behind the newest row; where a node before has set it there, as that has.

    NodeError at `field` where the stream has one on another column: Spark would end such a query, or leave rows out. `called`: what a
    person calls the column, where it is another name.
    """
    if _WATERMARK in frame.schema[own_name(frame, name)].metadata:
        return frame
    if frame.isStreaming and plan_holds(frame, "EVENT_TIME_WATERMARK"):
        raise NodeError(
            f"a node before goes by {called or name} too, which is made anew on the way: a stream has one event time; "
            "go by the column as that node has it",
            permanent=True,
            kind="user",
            field=field,
        )
    return frame.withWatermark(quoted(name), delay)
