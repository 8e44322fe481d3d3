"""The database's clock, so that hosts whose clocks differ agree on a lease."""

from datetime import timedelta
from typing import Any

from django.db.models import DateTimeField, DurationField, ExpressionWrapper, Value
from django.db.models.functions import Now


def now_plus(seconds: float) -> Any:
    """An expression: the database's time in `seconds` from now."""
    return ExpressionWrapper(Now() + Value(timedelta(seconds=seconds), output_field=DurationField()), output_field=DateTimeField())
