"""Stores that other packages bring, found by their entry points."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from checkpoints.stores.base import CheckpointStorage, StorageUnfit
from jobs.nodes.plugins import Missing, Unfit, brought, judged, package_of

#: Name in settings = module:class, a CheckpointStorage that is made with its name and the options of the installation for it.
STORAGE_GROUP = "pipeline_web.checkpoint_storage"


def storage_brought(name: str, options: Mapping[str, Any], ours: Collection[str]) -> CheckpointStorage | None:
    """The store of that name which a package brings, None where none does. StorageUnfit says why it cannot be used."""
    point = brought(_points(), STORAGE_GROUP, ours).get(name)
    if point is None:
        return None

    def make(found: Any) -> CheckpointStorage:
        if not (isinstance(found, type) and issubclass(found, CheckpointStorage)):
            raise Unfit(f"{point.value} is no CheckpointStorage")
        return found(name, **options)

    made = judged(name, point.load, make, package_of(point))
    if isinstance(made, Missing):
        raise StorageUnfit(made.reason)
    return made


@cache
def _points() -> tuple[EntryPoint, ...]:
    """Nothing is imported; what is installed does not change under a process."""
    return tuple(entry_points(group=STORAGE_GROUP))
