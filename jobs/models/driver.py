"""Workers, and their driver processes: the Spark programs that they launch and watch."""

import uuid

from django.db import models


class DriverKind(models.TextChoices):
    SHARED = "SHARED"
    DEDICATED = "DEDICATED"
    INTERACTIVE = "INTERACTIVE"


class DriverStatus(models.TextChoices):
    STARTING = "STARTING"
    READY = "READY"
    DRAINING = "DRAINING"
    GONE = "GONE"


class Driver(models.Model):
    """`cpu_usage`: processors; `memory_usage`: share of the memory there is; with `thread_count` of the driver and all its processes.

    They were measured with the last heartbeat; null before.
    """

    driver_id = models.UUIDField(default=uuid.uuid4, unique=True)
    kind = models.CharField(max_length=20, choices=DriverKind.choices)
    status = models.CharField(max_length=20, choices=DriverStatus.choices, default=DriverStatus.STARTING)
    worker = models.CharField(max_length=200)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    slots = models.PositiveIntegerField(default=1)
    start_time = models.DateTimeField(auto_now_add=True)
    heartbeat_time = models.DateTimeField(null=True)
    cpu_usage = models.FloatField(null=True)
    memory_usage = models.FloatField(null=True)
    thread_count = models.PositiveIntegerField(null=True)
    end_time = models.DateTimeField(null=True)
    end_reason = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        db_table = "pipeline_driver"
        indexes = [models.Index(fields=["status", "kind"], name="driver_status_kind")]

    def __str__(self) -> str:
        return f"{self.kind} driver {self.pid} on {self.host}"


class Worker(models.Model):
    """A Celery worker, one row for each name. `task_time` is when it last ran a task: one that lives and runs none is deaf."""

    name = models.CharField(max_length=200, unique=True)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    start_time = models.DateTimeField()
    heartbeat_time = models.DateTimeField()
    task_time = models.DateTimeField(null=True)

    class Meta:
        db_table = "pipeline_worker"

    def __str__(self) -> str:
        return self.name
