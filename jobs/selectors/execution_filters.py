"""Which executions somebody asked for."""

from collections.abc import Mapping
from datetime import UTC, datetime

from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_datetime

from jobs.models import Execution, ExecutionStatus, JobType, TriggeredBy
from jobs.selectors.query_words import query_refused, text_asked, words_asked


def executions_filtered(rows: QuerySet[Execution], given: Mapping[str, str]) -> QuerySet[Execution]:
    """`given` may hold job_name, status, job_type, triggered_by (several by comma), q, created_after, created_before."""
    if job_name := given.get("job_name"):
        rows = rows.filter(job_name=job_name)
    choices = (("status", ExecutionStatus.values), ("job_type", JobType.values), ("triggered_by", TriggeredBy.values))
    for column, known in choices:
        if words := words_asked(given, column, known):
            rows = rows.filter(**{f"{column}__in": words})
    if text := text_asked(given, "q").strip():
        rows = rows.filter(Q(job_name__icontains=text) | Q(job__title__icontains=text) | Q(execution_id__startswith=text))
    for name, condition in (("created_after", "create_time__gte"), ("created_before", "create_time__lt")):
        if given.get(name):
            rows = rows.filter(**{condition: time_read(given[name], name)})
    return rows


def time_read(text: str, name: str) -> datetime:
    """An ISO 8601 time, UTC unless it says otherwise; Invalid for anything else, and for a time that no calendar has in UTC."""
    try:
        found = parse_datetime(text.replace(" ", "+"))
        if found is not None:
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        pass
    raise query_refused({name: f'{name} must be a time such as "2026-01-31T12:00:00Z"'})
