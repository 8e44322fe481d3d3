"""One frame whose rows go to several output ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Routed:
    """Its input is read once, and counted per port. `ports`: port → true (never null) for its rows; `helpers`: columns used for that,
    which no port passes on.
    """

    frame: DataFrame
    ports: Mapping[str, Column]
    helpers: tuple[str, ...] = ()
