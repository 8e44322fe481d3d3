"""Driver processes as rows: announced, ready, alive, gone."""

import uuid
from dataclasses import asdict, dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from jobs.models import Driver, DriverStatus
from jobs.services.executions import driver_leases_end
from jobs.services.executions.clock import now_plus

#: A driver that starts may take this long until its first heartbeat.
STARTING_SECONDS = 180


def driver_announce(*, driver_id: uuid.UUID, kind: str, worker: str, pid: int, slots: int) -> Driver:
    """The row of a process that has just begun; it is STARTING until Spark is there."""
    return Driver.objects.create(driver_id=driver_id, kind=kind, worker=worker, host=settings.STORAGE_HOST, pid=pid, slots=slots)


def driver_ready(*, driver: Driver) -> None:
    """Spark is warm: it takes work from now on."""
    Driver.objects.filter(pk=driver.pk, status=DriverStatus.STARTING).update(status=DriverStatus.READY, heartbeat_time=Now())


@dataclass(frozen=True)
class DriverUsage:
    """What a driver and its processes take: processors (1.5: one and a half), share of the memory there is, threads."""

    cpu_usage: float
    memory_usage: float
    thread_count: int


def driver_heartbeat(*, driver: Driver, usage: DriverUsage | None = None) -> None:
    """It is alive now, by the database's clock, and takes so much of its machine; without `usage` what was known of that stays."""
    Driver.objects.filter(pk=driver.pk).update(heartbeat_time=Now(), **(asdict(usage) if usage else {}))


def driver_drain(*, driver: Driver) -> None:
    """It takes no more work and lets go of what it has."""
    Driver.objects.filter(pk=driver.pk).exclude(status=DriverStatus.GONE).update(status=DriverStatus.DRAINING)


def driver_gone(*, driver_id: uuid.UUID, reason: str, accused: bool = True) -> list[str]:
    """Its process has ended, which the caller has seen: its leases end at once. The executions that were let go.

    `accused`: it may have died of what one of them did.
    """
    driver = Driver.objects.filter(driver_id=driver_id).first()
    if driver is None:
        return []
    Driver.objects.filter(pk=driver.pk).update(status=DriverStatus.GONE, end_time=Now(), end_reason=reason[:500])
    return driver_leases_end(driver=driver, reason=reason, accused=accused)


def drivers_silent_mark() -> int:
    """Drivers unheard of for four lease terms are GONE: their worker's host went down with them. Their leases ran out long ago."""
    silent = Q(heartbeat_time__lt=now_plus(-4 * settings.LEASE_SECONDS)) | Q(
        heartbeat_time=None, start_time__lt=now_plus(-STARTING_SECONDS)
    )
    return (
        Driver.objects.exclude(status=DriverStatus.GONE)
        .filter(silent)
        .update(status=DriverStatus.GONE, end_time=Now(), end_reason="not heard of any more")
    )


def drivers_forget(*, older_than: timedelta) -> int:
    """Delete the rows of drivers that ended long ago; executions forget them."""
    old = Driver.objects.filter(status=DriverStatus.GONE, end_time__lt=now_plus(-older_than.total_seconds()))
    return Driver.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:500])).delete()[0]
