"""What the supervisor of a worker needs to know of drivers and waiting executions."""

import uuid
from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from jobs.models import LEASED, Driver, DriverKind, DriverStatus, Execution, ExecutionStatus, Worker
from jobs.selectors.workers import ALIVE_WITHIN


def dedicated_waiting(*, host: str, worker: str) -> int:
    """Executions that want a driver of their own, could be claimed on `host` now, and have none of `worker` on its way."""
    due = Q(next_attempt_at=None) | Q(next_attempt_at__lte=Now())
    held = Execution.objects.filter(job=OuterRef("job"), status__in=LEASED, lease_expires_at__gt=Now())
    waiting = Execution.objects.filter(
        due, ~Exists(held), status=ExecutionStatus.SCHEDULED, isolation="dedicated", storage_host__in=("", host)
    ).count()
    coming = Driver.objects.filter(kind=DriverKind.DEDICATED, worker=worker, status__in=(DriverStatus.STARTING, DriverStatus.READY))
    busy = Execution.objects.filter(driver=OuterRef("pk"), status__in=LEASED)
    return max(0, waiting - coming.exclude(Exists(busy)).count())


def interactive_ready() -> bool:
    """Whether a driver that answers the editor's questions was heard of lately."""
    lately = timedelta(seconds=2 * settings.LEASE_SECONDS)
    rows = Driver.objects.filter(kind=DriverKind.INTERACTIVE, status=DriverStatus.READY, heartbeat_time__gte=Now() - lately)
    return rows.exists()


def interactive_expected() -> bool:
    """Whether such a driver is there, or a living worker starts one by itself."""
    workers = Worker.objects.filter(heartbeat_time__gte=Now() - ALIVE_WITHIN)
    return interactive_ready() or (settings.INTERACTIVE_DRIVERS > 0 and workers.exists())


def drivers_frozen(*, driver_ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Those that were READY and have not been heard of for three lease terms while the database could hear them."""
    silent_since = timedelta(seconds=3 * settings.LEASE_SECONDS)
    rows = Driver.objects.filter(driver_id__in=driver_ids, status=DriverStatus.READY, heartbeat_time__lt=Now() - silent_since)
    return set(rows.values_list("driver_id", flat=True))


def drivers_claimed_alive(*, host: str, worker: str) -> list[Driver]:
    """Drivers of `worker` that the database still takes for alive; after a restart of the worker none of them is."""
    return list(Driver.objects.filter(host=host, worker=worker).exclude(status=DriverStatus.GONE))


def scratch_unneeded(names: Collection[str]) -> set[str]:
    """Of folders named after drivers, those whose driver is gone or unknown."""
    ids = {name: uuid.UUID(name) for name in names if _is_uuid(name)}
    living = Driver.objects.filter(driver_id__in=list(ids.values())).exclude(status=DriverStatus.GONE)
    alive = set(living.values_list("driver_id", flat=True))
    return {name for name, driver_id in ids.items() if driver_id not in alive}


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
