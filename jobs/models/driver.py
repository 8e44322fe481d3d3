"""Driver processes: the Spark programs that the workers launch and watch."""

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
    driver_id = models.UUIDField(default=uuid.uuid4, unique=True)
    kind = models.CharField(max_length=20, choices=DriverKind.choices)
    status = models.CharField(max_length=20, choices=DriverStatus.choices, default=DriverStatus.STARTING)
    worker = models.CharField(max_length=200)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    slots = models.PositiveIntegerField(default=1)
    start_time = models.DateTimeField(auto_now_add=True)
    heartbeat_time = models.DateTimeField(null=True)
    end_time = models.DateTimeField(null=True)
    end_reason = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        db_table = "pipeline_driver"
        indexes = [models.Index(fields=["status", "kind"], name="driver_status_kind")]

    def __str__(self) -> str:
        return f"{self.kind} driver {self.pid} on {self.host}"
