"""Checkpoint rows: restorable points of an execution."""

from django.db import models


class CheckpointType(models.TextChoices):
    STREAMING = "STREAMING"
    ROLLER = "ROLLER"
    SQL_TASK = "SQL_TASK"


class CheckpointStatus(models.TextChoices):
    PENDING = "PENDING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    EXPIRED = "EXPIRED"


class CheckpointOrigin(models.TextChoices):
    INTERVAL = "INTERVAL"
    ROWS = "ROWS"
    PAGE = "PAGE"
    MANUAL = "MANUAL"
    STOP = "STOP"


class Checkpoint(models.Model):
    """A self-contained copy of every query's folder at one committed batch.

    `storage` names the store its files are in, `storage_path` says where there.
    `storage_size_bytes` is the logical size; `exclusive_bytes` is what deleting it would free (hard links are shared).
    `rows_read`: source rows of the execution up to it; null of one that was taken before these were counted.
    `backlog`: rows that waited at its sources when their queries told last; null where none can tell.
    `phases` is `{phase: milliseconds}`; `queries` as `query_facts` has them, of older rows without files, bytes and watermark;
    `operators` is a list of `{"query", "operator", "node_id", "rows", "bytes"}`. A row is EXPIRED once its files are deleted.
    """

    execution = models.ForeignKey(
        "jobs.Execution", to_field="execution_id", db_column="execution_id", on_delete=models.PROTECT, related_name="checkpoints"
    )
    generation = models.UUIDField()
    checkpoint_id = models.PositiveIntegerField()
    checkpoint_type = models.CharField(max_length=20, choices=CheckpointType.choices)
    status = models.CharField(max_length=20, choices=CheckpointStatus.choices, default=CheckpointStatus.PENDING)
    origin = models.CharField(max_length=20, choices=CheckpointOrigin.choices)
    requested_by = models.CharField(max_length=200, blank=True, default="")
    label = models.CharField(max_length=200, blank=True, default="")
    pinned = models.BooleanField(default=False)
    is_savepoint = models.BooleanField(default=False)
    attempt = models.PositiveIntegerField(default=0)
    state_data = models.JSONField(default=dict)
    storage = models.CharField(max_length=40, default="local")
    storage_path = models.CharField(max_length=1000, blank=True, default="")
    storage_size_bytes = models.BigIntegerField(default=0)
    exclusive_bytes = models.BigIntegerField(default=0)
    rows_read = models.BigIntegerField(null=True)
    backlog = models.BigIntegerField(null=True)
    file_count = models.PositiveIntegerField(default=0)
    phases = models.JSONField(default=dict)
    queries = models.JSONField(default=dict)
    operators = models.JSONField(default=list)
    failure_reason = models.TextField(blank=True, default="")
    create_time = models.DateTimeField(auto_now_add=True)
    complete_time = models.DateTimeField(null=True)
    delete_time = models.DateTimeField(null=True)
    deleted_by = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "pipeline_checkpoint"
        constraints = [models.UniqueConstraint(fields=["execution", "checkpoint_id"], name="checkpoint_number_unique")]
        indexes = [
            models.Index(fields=["execution", "-checkpoint_id"], name="checkpoint_execution"),
            models.Index(fields=["create_time"], name="checkpoint_create_time"),
            models.Index(fields=["generation", "-create_time", "-id"], name="checkpoint_generation"),
            # Every column that the sums of all checkpoints need: without it they walk through the long ones.
            models.Index(
                fields=[
                    "status",
                    "execution",
                    "create_time",
                    "storage_size_bytes",
                    "exclusive_bytes",
                    "is_savepoint",
                    "pinned",
                    "delete_time",
                ],
                name="checkpoint_sums",
            ),
            models.Index(fields=["is_savepoint"], condition=models.Q(is_savepoint=True), name="checkpoint_savepoints"),
        ]

    def __str__(self) -> str:
        return f"checkpoint {self.checkpoint_id} of {self.execution_id}"


class CheckpointData(models.Model):
    """A checkpoint that lies in the database: its files as one packed `body`, of `bytes` bytes when they are unpacked."""

    key = models.CharField(primary_key=True, max_length=200)
    body = models.BinaryField()
    bytes = models.BigIntegerField()
    create_time = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pipeline_checkpoint_data"

    def __str__(self) -> str:
        return self.key


class CheckpointRoot(models.Model):
    """A folder that was marked as one where checkpoints are kept. `host`: the name of its disk, "" where all hosts see the same."""

    host = models.CharField(max_length=200, blank=True)
    path = models.CharField(max_length=500)
    create_time = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pipeline_checkpoint_root"
        constraints = [models.UniqueConstraint(fields=["host", "path"], name="checkpoint_root_unique")]

    def __str__(self) -> str:
        return f"{self.host}:{self.path}"
