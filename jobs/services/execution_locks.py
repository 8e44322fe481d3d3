"""Locks of several executions at once."""

from django.db.models import QuerySet

from jobs.models import Execution


def executions_lock(rows: QuerySet[Execution]) -> None:
    """In one order: of two who change several, each would else wait for what the other holds. Call it inside a transaction."""
    list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk"))
