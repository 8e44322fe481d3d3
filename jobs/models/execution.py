"""One run of one job version, what happened in it, and what people asked of it."""

import uuid
from datetime import datetime

from django.conf import settings
from django.db import models

from jobs.models.driver import Driver
from jobs.models.job import Job
from jobs.models.lifecycle import FINAL, UNFINISHED, ExecutionStatus, JobType, TriggeredBy


def new_execution_id() -> str:
    return str(uuid.uuid4())


class RunsHere(models.Manager["Execution"]):
    """Without the records of runs whose checkpoints were brought here."""

    def get_queryset(self) -> "models.QuerySet[Execution]":
        return super().get_queryset().filter(imported_from__isnull=True)

    def that_ran(self) -> "models.QuerySet[Execution]":
        """Without those that were cancelled before they ran: they left nothing to go on from."""
        return self.get_queryset().exclude(status=ExecutionStatus.CANCELLED, attempt=0)


class Execution(models.Model):
    """`attempt` is drawn from the job's counter when a driver claims; `seq` is the number of the latest event.

    `lease_expires_at` is the database's clock plus the lease term: past it, the driver no longer owns the execution.
    `resolved` keeps the settings the execution runs with; `parameters` the values given at start. `waiting_for` is a system that
    does not answer the running attempt. `buffer_size`: messages that wait in buffers of its sources, null without any; `dropped_before`:
    node id → what its buffer had dropped before this execution; `dropped_counted`: node id → what it dropped since, null before it is told.

    `duration_ms`: for how long it ran until it ended or was paused last; `resume_time`: since when it goes on after a pause.

    `roll_back`: what the sinks take away before the first batch (`RollBackPlan.data`), empty where nobody asked for it.

    A checkpoint that was brought here belongs to the record of the run that it was taken of: final from the first moment, with
    `imported_from` (`Arrival.data`) and, in `imported_document`, the version that ran. `objects` leaves these out.
    """

    execution_id = models.CharField(max_length=36, unique=True, default=new_execution_id, editable=False)
    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="executions")
    job_name = models.CharField(max_length=200)
    job_type = models.CharField(max_length=50, choices=JobType.choices)
    version = models.PositiveIntegerField()
    generation = models.UUIDField()
    attempt = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=20, choices=ExecutionStatus.choices, default=ExecutionStatus.SCHEDULED)
    seq = models.PositiveIntegerField(default=0)
    driver = models.ForeignKey(Driver, null=True, on_delete=models.SET_NULL, related_name="executions")
    lease_expires_at = models.DateTimeField(null=True)
    confirmed_time = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)
    storage_host = models.CharField(max_length=200, blank=True, default="")
    isolation = models.CharField(max_length=20, default="shared")
    restored_from_checkpoint_id = models.BigIntegerField(null=True)
    roll_back = models.JSONField(default=dict)
    parameters = models.JSONField(default=dict)
    resolved = models.JSONField(default=dict)
    create_time = models.DateTimeField(auto_now_add=True)
    start_time = models.DateTimeField(null=True)
    end_time = models.DateTimeField(null=True)
    resume_time = models.DateTimeField(null=True)
    duration_ms = models.BigIntegerField(null=True)
    processed_records = models.BigIntegerField(default=0)
    written_records = models.BigIntegerField(default=0)
    failed_records = models.BigIntegerField(default=0)
    error_message = models.TextField(blank=True, default="")
    error_stack_trace = models.TextField(blank=True, default="")
    error_node_id = models.CharField(max_length=64, blank=True, default="")
    error_class = models.CharField(max_length=20, blank=True, default="")
    checkpoint_path = models.CharField(max_length=1000, blank=True, default="")
    waiting_for = models.CharField(max_length=300, blank=True, default="")
    waiting_node_id = models.CharField(max_length=64, blank=True, default="")
    waiting_since = models.DateTimeField(null=True)
    buffer_size = models.BigIntegerField(null=True)
    backpressure_status = models.CharField(max_length=20, blank=True, default="")
    dropped_records = models.BigIntegerField(default=0)
    dropped_before = models.JSONField(default=dict)
    dropped_counted = models.JSONField(null=True)
    retry_count = models.PositiveIntegerField(default=0)
    triggered_by = models.CharField(max_length=20, choices=TriggeredBy.choices)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    imported_from = models.JSONField(null=True)
    imported_document = models.TextField(blank=True, default="")

    objects = RunsHere()
    with_imported = models.Manager["Execution"]()

    class Meta:
        db_table = "pipeline_job_execution"
        constraints = [
            models.UniqueConstraint(
                fields=["generation"], condition=models.Q(status__in=UNFINISHED), name="execution_one_unfinished_per_generation"
            ),
            models.UniqueConstraint(
                fields=["job"],
                condition=models.Q(status__in=UNFINISHED, job_type=JobType.STREAMING),
                name="execution_one_unfinished_per_stream",
            ),
        ]
        indexes = [
            models.Index(fields=["job", "-start_time"], name="execution_job_start"),
            models.Index(fields=["job", "-create_time", "-id"], name="execution_job_create"),
            models.Index(fields=["job_name", "-create_time", "-id"], name="execution_name_create"),
            models.Index(fields=["status", "-create_time", "-id"], name="execution_status_create"),
            models.Index(fields=["create_time", "id"], name="execution_create_time"),
            models.Index(fields=["end_time"], name="execution_end_time"),
            models.Index(fields=["job", "-end_time"], name="execution_job_end"),
            models.Index(fields=["generation"], name="execution_generation"),
        ]

    def __str__(self) -> str:
        return self.execution_id

    def ran_ms(self, now: datetime) -> int | None:
        """Milliseconds it ran until `now`, on the database's clock, without its pauses; None where it never began."""
        if self.start_time is None:
            return None
        if self.status == ExecutionStatus.PAUSED or self.status in FINAL:
            return self.duration_ms
        going = now - (self.resume_time or self.start_time)
        return (self.duration_ms or 0) + max(0, int(going.total_seconds() * 1000))


class ForgottenExecutions(models.Model):
    """What executions that were forgotten count for in the totals of their job: how many ended so, and the sums of their rows."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="forgotten")
    status = models.CharField(max_length=20)
    executions = models.BigIntegerField(default=0)
    processed_records = models.BigIntegerField(default=0)
    failed_records = models.BigIntegerField(default=0)
    dropped_records = models.BigIntegerField(default=0)

    class Meta:
        db_table = "pipeline_forgotten_executions"
        constraints = [models.UniqueConstraint(fields=["job", "status"], name="forgotten_executions_unique")]

    def __str__(self) -> str:
        return f"{self.executions} {self.status} of {self.job}"


#: What may happen to an execution; the page has words for each.
EVENT_KINDS = (
    "answers",
    "attempt_failed",
    "cancel_requested",
    "checkpoint_completed",
    "checkpoint_deleted",
    "checkpoint_failed",
    "checkpoint_pending",
    "checkpoint_requested",
    "claimed",
    "completed",
    "given_up",
    "lease_lost",
    "notice",
    "started",
    "status",
    "stop_requested",
    "triggered",
    "waiting",
)


class Event(models.Model):
    """One line of an execution's history, numbered without gaps by `seq` in the transaction that caused it."""

    execution = models.ForeignKey(Execution, to_field="execution_id", on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    time = models.DateTimeField()
    #: One of EVENT_KINDS.
    kind = models.CharField(max_length=50)
    actor = models.CharField(max_length=200, blank=True, default="")
    reason = models.TextField(blank=True, default="")
    attempt = models.PositiveIntegerField(default=0)
    from_status = models.CharField(max_length=20, blank=True, default="")
    to_status = models.CharField(max_length=20, blank=True, default="")
    node_id = models.CharField(max_length=64, blank=True, default="")
    detail = models.JSONField(default=dict)

    class Meta:
        db_table = "pipeline_event"
        constraints = [models.UniqueConstraint(fields=["execution", "seq"], name="event_seq_unique")]

    def __str__(self) -> str:
        return f"{self.execution_id} #{self.seq} {self.kind}"


class CommandKind(models.TextChoices):
    STOP = "STOP"
    CANCEL = "CANCEL"
    FORCE_CANCEL = "FORCE_CANCEL"
    CHECKPOINT = "CHECKPOINT"
    SAVEPOINT = "SAVEPOINT"


class CommandStatus(models.TextChoices):
    PENDING = "PENDING"
    TAKEN = "TAKEN"
    DONE = "DONE"
    REFUSED = "REFUSED"


class Command(models.Model):
    """What somebody asked of a running execution; the driver that holds the lease takes it."""

    execution = models.ForeignKey(Execution, to_field="execution_id", on_delete=models.CASCADE, related_name="commands")
    kind = models.CharField(max_length=20, choices=CommandKind.choices)
    status = models.CharField(max_length=20, choices=CommandStatus.choices, default=CommandStatus.PENDING)
    detail = models.JSONField(default=dict)
    requested_by = models.CharField(max_length=200, blank=True, default="")
    create_time = models.DateTimeField(auto_now_add=True)
    take_time = models.DateTimeField(null=True)
    done_time = models.DateTimeField(null=True)
    result = models.TextField(blank=True, default="")

    class Meta:
        db_table = "pipeline_command"
        indexes = [models.Index(fields=["execution", "status"], name="command_execution_status")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.execution_id}"


class QueryProgress(models.Model):
    """Counts of one query of one execution: `base` of the batches before `batch_id`, `latest` of that batch.

    A batch that runs again overwrites `latest`; the next batch number adds it to `base`. So a total never counts a batch twice.
    Both are `{"in": int, "out": int, "rejected": int, "nodes": {node_id: {"in": int, "out": int, "rejected": int}}}`;
    a node that counts more than its rows has `"tallies": {name: int}` too.
    """

    execution = models.ForeignKey(Execution, to_field="execution_id", on_delete=models.CASCADE, related_name="queries")
    query = models.CharField(max_length=200)
    batch_id = models.BigIntegerField(default=-1)
    base = models.JSONField(default=dict)
    latest = models.JSONField(default=dict)

    class Meta:
        db_table = "pipeline_query_progress"
        constraints = [models.UniqueConstraint(fields=["execution", "query"], name="query_progress_unique")]

    def __str__(self) -> str:
        return f"{self.query} of {self.execution_id}"


class MetricSample(models.Model):
    """Figures of an execution at `time`: totals, and rates over the sample's `resolution` (1, 10 or 60 seconds)."""

    execution = models.ForeignKey(Execution, to_field="execution_id", on_delete=models.CASCADE, related_name="samples")
    resolution = models.PositiveSmallIntegerField()
    time = models.DateTimeField()
    rows_in = models.BigIntegerField(default=0)
    rows_out = models.BigIntegerField(default=0)
    rows_rejected = models.BigIntegerField(default=0)
    in_per_second = models.FloatField(default=0)
    out_per_second = models.FloatField(default=0)
    batch_id = models.BigIntegerField(null=True)
    batch_ms = models.BigIntegerField(null=True)
    backlog = models.BigIntegerField(null=True)
    detail = models.JSONField(default=dict)

    class Meta:
        db_table = "pipeline_metric_sample"
        constraints = [models.UniqueConstraint(fields=["execution", "resolution", "time"], name="metric_sample_unique")]
        indexes = [models.Index(fields=["resolution", "time"], name="metric_sample_age")]

    def __str__(self) -> str:
        return f"{self.execution_id} at {self.time}"


class RejectedRow(models.Model):
    execution = models.ForeignKey(Execution, to_field="execution_id", on_delete=models.CASCADE, related_name="rejected_rows")
    node_id = models.CharField(max_length=64)
    generation = models.UUIDField()
    query = models.CharField(max_length=200)
    batch_id = models.BigIntegerField()
    ordinal = models.PositiveIntegerField()
    reason = models.TextField()
    row = models.TextField()
    create_time = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pipeline_rejected_row"
        constraints = [
            models.UniqueConstraint(fields=["generation", "query", "node_id", "batch_id", "ordinal"], name="rejected_row_unique")
        ]
        indexes = [models.Index(fields=["execution", "id"], name="rejected_row_execution")]

    def __str__(self) -> str:
        return f"{self.node_id}: {self.reason}"
