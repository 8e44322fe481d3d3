"""Operators of a plan that Spark has run."""

from __future__ import annotations

from typing import Any


def kind_of(operator: Any) -> str:
    return str(operator.getClass().getSimpleName())


def output_rows(operator: Any) -> int:
    """How many rows it gave; 0 if it does not count them."""
    metrics = operator.metrics()
    return int(metrics.apply("numOutputRows").value()) if metrics.contains("numOutputRows") else 0
