"""What the operators of a checkpoint remember, read for who looks into it."""

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from checkpoints.cut import CutDamaged
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.storages import opened
from checkpoints.stores.base import StorageFailed
from checkpoints.verification import checkpoint_queries
from jobs.engine.operator_state import StateRefused, state_operators, state_rows


def state_answer(spark: SparkSession, payload: Mapping[str, Any], *, deadline: float) -> dict[str, Any]:
    """{"operators": […]}, or the rows of one of them where the payload names it; {"refused": why} where it cannot be read.

    `deadline` is that of the monotonic clock: nobody waits for what comes later.
    """
    try:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise StateRefused("there was no time left for it: others were asked for before")
        with opened(_complete(payload["checkpoint"]), pulse=partial(_in_time, deadline)) as folder:
            return _answer(spark, _folders(folder), payload, deadline)
    except (ManifestDamaged, CutDamaged, StorageFailed) as error:
        return {"refused": f"the checkpoint cannot be read: {error}"}
    except StateRefused as error:
        return {"refused": str(error)}


def _answer(spark: SparkSession, folders: Mapping[str, Path], payload: Mapping[str, Any], deadline: float) -> dict[str, Any]:
    seconds = deadline - time.monotonic()
    if payload.get("query") is None:
        found = ((query, one) for query, folder in folders.items() for one in state_operators(spark, folder, seconds=seconds))
        return {"operators": [_told(query, one) for query, one in found]}
    if (folder := folders.get(payload["query"])) is None:
        raise StateRefused(f"the checkpoint holds no query {payload['query'][:100]}")
    asked = {name: payload[name] for name in ("operator", "part", "search", "offset", "rows")}
    return state_rows(spark, folder, seconds=seconds, **asked)


def _in_time(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise StateRefused("there was no time left for it: its files could not be fetched from their store so quickly")


def _complete(checkpoint_id: int) -> Checkpoint:
    rows = Checkpoint.objects.select_related("execution__job").filter(pk=checkpoint_id, status=CheckpointStatus.COMPLETED)
    checkpoint = rows.first()
    if checkpoint is None:
        raise StateRefused("the checkpoint is not complete, or its files are deleted")
    return checkpoint


def _folders(folder: Path) -> dict[str, Path]:
    """Query → its folder in the checkpoint's."""
    queries = checkpoint_queries(folder)
    return {query: folder / found["folder"] for query, found in queries.items() if found["folder"]}


def _told(query: str, one: Any) -> dict[str, Any]:
    return {"query": query, "operator": one.operator, "name": one.name, "parts": list(one.parts)}
