"""Carries a NodeError out of a Spark worker: only the text of an exception comes back from there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.nodes.base import NodeError
from jobs.nodes.node_error import outage_error
from jobs.nodes.user_python.worker_memory import memory_told

if TYPE_CHECKING:
    from pyspark.sql import Column

_CARRIED = re.compile(r"node error (\{.*\})$", re.MULTILINE)


class WorkerFailure(Exception):
    """A NodeError as one line of JSON that survives any wrapping in stack traces."""


@dataclass(frozen=True)
class Carried:
    """What came out of a worker, and the node that was reading there."""

    error: NodeError
    node_id: str


@contextmanager
def carried_out(node_id: str) -> Iterator[None]:
    """Inside the data source of a node: a NodeError leaves as a WorkerFailure."""
    try:
        with memory_told():
            yield
    except NodeError as error:
        content = {"message": error.message, "permanent": error.permanent, "kind": error.kind, "field": error.field, "node_id": node_id}
        content["outage"] = error.outage
        raise WorkerFailure(f"node error {json.dumps(content)}") from error


def node_error_raised(words: Column, node_id: str) -> Column:
    """A column of text whose evaluation ends the job with a permanent NodeError of these words."""
    from pyspark.sql import functions as F

    rest = {"permanent": F.lit(True), "kind": F.lit("user"), "field": F.lit(""), "node_id": F.lit(node_id)}
    content = F.to_json(F.struct(words.alias("message"), *(value.alias(name) for name, value in rest.items())))
    return F.raise_error(F.concat(F.lit("node error "), content, F.lit("\n")))


def node_error_in(text: str) -> Carried | None:
    """The NodeError that a worker sent, found in the text of whatever Spark made of it; None if there is none."""
    found = _CARRIED.search(text)
    if found is None:
        return None
    try:
        content = json.loads(found[1])
        raised = outage_error(content.get("outage", ""))
        error = raised(content["message"], permanent=content["permanent"], kind=content["kind"], field=content["field"])
        return Carried(error, content["node_id"])
    except (ValueError, KeyError, TypeError):
        return None
