"""Generations that began within an execution, because its live folder could not be read; its row knows only the last of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import QuerySet


@dataclass(frozen=True)
class Renewal:
    """`generation` began in the place of `before`. The rows of the checkpoints that both went on from, None where not known or none."""

    execution_id: str
    time: datetime
    generation: UUID
    before: UUID
    origin: int | None
    origin_before: int | None


def renewal_detail(*, generation: UUID, before: UUID, origin: int, origin_before: int | None) -> dict[str, Any]:
    """As the history of an execution keeps it."""
    return {"generation": str(generation), "before": str(before), "origin": origin, "origin_before": origin_before}


def renewals_of(runs: "QuerySet[Any]") -> list[Renewal]:
    """Oldest first, of what executions went through."""
    rows = apps.get_model("jobs", "Event")._default_manager.filter(execution__in=runs, kind="notice", detail__has_key="before")
    return [_renewal(row) for row in rows.only("execution_id", "time", "detail").order_by("time", "pk")]


def _renewal(row: Any) -> Renewal:
    kept = row.detail
    generation, before = UUID(kept["generation"]), UUID(kept["before"])
    return Renewal(row.execution_id, row.time, generation, before, kept.get("origin"), kept.get("origin_before"))
