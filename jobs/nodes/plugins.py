"""Node types and connection kinds of other packages: found by their entry points, and judged before they are used."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

NODE_GROUP = "pipeline_web.nodes"
CONNECTION_GROUP = "pipeline_web.connections"

Made = TypeVar("Made")
_ELSEWHERE = re.compile(r"\s*For further information visit \S+")


class Unfit(Exception):
    """What was loaded cannot be used; the text says why."""


@dataclass(frozen=True)
class Missing:
    """What could not be loaded, and why."""

    name: str
    reason: str


def installed_points() -> tuple[EntryPoint, ...]:
    """The entry points of every installed package that are meant for this product; nothing is imported."""
    return tuple(point for group in (NODE_GROUP, CONNECTION_GROUP) for point in entry_points(group=group))


def brought(points: Iterable[EntryPoint], group: str, ours: Collection[str]) -> dict[str, EntryPoint]:
    """Name → what a package brings. A name of ours stays ours, and of two packages the first by name has it; a warning tells."""
    found: dict[str, EntryPoint] = {}
    for point in sorted((point for point in points if point.group == group), key=package_of):
        if point.name in ours:
            logger.warning('%s may not replace the built-in "%s": the built-in is used', package_of(point), point.name)
        elif point.name in found:
            logger.warning('%s also brings "%s": that of %s is used', package_of(point), point.name, package_of(found[point.name]))
        else:
            found[point.name] = point
    return found


def package_of(point: EntryPoint) -> str:
    """As in "package acme-nodes 1.0"; without a package, where its class is."""
    return f"package {point.dist.name} {point.dist.version}" if point.dist else point.value


def raised_words(error: BaseException) -> str:
    """What other people's code raised, without the pages that pydantic names behind each of its reasons."""
    return f"{type(error).__name__}: {_ELSEWHERE.sub('', str(error))}"


def judged(name: str, load: Callable[[], Any], make: Callable[[Any], Made], package: str = "") -> Made | Missing:
    """What `make` makes of the loaded object, or why there is none, which is logged too.

    Other people's code may raise anything, and even try to end the process: the product goes on without it.
    """
    try:
        return make(load())
    except Unfit as error:
        reason = str(error)
    except (Exception, SystemExit) as error:
        reason = raised_words(error)
    reason += f" ({package})" if package else ""
    logger.warning('"%s" is left out: %s', name, reason)
    return Missing(name, reason)
