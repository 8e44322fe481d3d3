"""When a job starts, and the fire times that were used up."""

from django.db import models

from jobs.models.job import Job


class ScheduleType(models.TextChoices):
    CRON = "CRON"
    MANUAL = "MANUAL"
    EVENT = "EVENT"
    DEPENDENCY = "DEPENDENCY"


class JobSchedule(models.Model):
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="schedule")
    schedule_type = models.CharField(max_length=20, choices=ScheduleType.choices)
    cron_expression = models.CharField(max_length=100, blank=True, default="")
    time_zone = models.CharField(max_length=64, default="UTC")
    event_topic = models.CharField(max_length=200, blank=True, default="")
    dependencies = models.JSONField(default=list)
    enabled = models.BooleanField(default=True)
    last_trigger_time = models.DateTimeField(null=True)
    next_trigger_time = models.DateTimeField(null=True)
    create_time = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pipeline_job_schedule"
        indexes = [models.Index(fields=["next_trigger_time"], condition=models.Q(enabled=True), name="schedule_due")]

    def __str__(self) -> str:
        return f"{self.schedule_type} of {self.job}"


class FireOutcome(models.TextChoices):
    STARTED = "STARTED"
    SKIPPED = "SKIPPED"


class ScheduleFire(models.Model):
    """One fire time of one schedule; the unique key makes two ticks start one execution."""

    schedule = models.ForeignKey(JobSchedule, on_delete=models.CASCADE, related_name="fires")
    fire_time = models.DateTimeField()
    outcome = models.CharField(max_length=20, choices=FireOutcome.choices)
    reason = models.CharField(max_length=500, blank=True, default="")
    execution_id = models.CharField(max_length=36, blank=True, default="")
    create_time = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pipeline_schedule_fire"
        constraints = [models.UniqueConstraint(fields=["schedule", "fire_time"], name="schedule_fire_unique")]

    def __str__(self) -> str:
        return f"{self.schedule} at {self.fire_time}"
