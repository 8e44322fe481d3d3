"""A job, its draft, its published versions and its settings."""

import uuid

from django.conf import settings
from django.db import models

from jobs.models.lifecycle import JobType
from jobs.models.project import Project


class Job(models.Model):
    """What a user designs and names. `dag_definition` repeats the document of the current published version.

    `reset_time`: what the job read and wrote was emptied then; no execution from before it can be continued.
    """

    job_uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="jobs")
    job_name = models.CharField(max_length=200, db_index=True)
    title = models.CharField(max_length=200, blank=True, default="")
    job_type = models.CharField(max_length=50, choices=JobType.choices, db_index=True)
    version = models.PositiveIntegerField(null=True)
    dag_definition = models.TextField(blank=True, default="")
    description = models.TextField(blank=True, default="")
    enabled = models.BooleanField(default=True, db_index=True)
    deleted_at = models.DateTimeField(null=True)
    attempt_counter = models.PositiveIntegerField(default=0)
    reset_time = models.DateTimeField(null=True)
    create_time = models.DateTimeField(auto_now_add=True)
    update_time = models.DateTimeField(auto_now=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        db_table = "pipeline_job_definition"
        permissions = [("run_python", "Can write Python into jobs and run it")]
        constraints = [models.UniqueConstraint(fields=["job_name"], condition=models.Q(deleted_at=None), name="job_name_unique_living")]
        indexes = [
            models.Index(fields=["project", "job_name"], name="job_project_name"),
            models.Index(fields=["create_time", "id"], name="job_create_time"),
        ]

    def __str__(self) -> str:
        return self.job_name


class JobVersion(models.Model):
    """One published document. Rows never change."""

    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="versions")
    version = models.PositiveIntegerField()
    dag_definition = models.TextField()
    logic_hash = models.CharField(max_length=64)
    comment = models.CharField(max_length=500, blank=True, default="")
    create_time = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        db_table = "pipeline_job_version"
        constraints = [models.UniqueConstraint(fields=["job", "version"], name="job_version_unique")]

    def __str__(self) -> str:
        return f"{self.job} v{self.version}"


class JobDraft(models.Model):
    """The one shared draft of a job. `revision` is its ETag; `layout` and `samples` are outside it.

    `samples`: source id → rows that previews take instead of reading it: {"columns", "rows", "by_hand", "taken_at", "taken_by"}, the rows
    as a text in JSON (see jobs.dag.samples).
    `logic_hash` is that of the document with defaults written in, as a version keeps it; "" while it cannot be read.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="draft")
    document = models.TextField()
    logic_hash = models.CharField(max_length=64, blank=True, default="")
    layout = models.JSONField(default=dict)
    samples = models.JSONField(default=dict)
    base_version = models.PositiveIntegerField(null=True)
    revision = models.PositiveIntegerField(default=1)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    update_time = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "pipeline_job_draft"

    def __str__(self) -> str:
        return f"draft of {self.job}, revision {self.revision}"


class ConfigType(models.TextChoices):
    STRING = "STRING"
    INT = "INT"
    BOOLEAN = "BOOLEAN"
    JSON = "JSON"


class JobConfig(models.Model):
    """A setting an operator lays over the document's: order is config, document, installation default."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="config")
    config_key = models.CharField(max_length=100)
    config_value = models.TextField()
    config_type = models.CharField(max_length=20, choices=ConfigType.choices, default=ConfigType.STRING)
    description = models.CharField(max_length=500, blank=True, default="")
    create_time = models.DateTimeField(auto_now_add=True)
    update_time = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "pipeline_job_config"
        constraints = [models.UniqueConstraint(fields=["job", "config_key"], name="job_config_unique")]

    def __str__(self) -> str:
        return f"{self.job} {self.config_key}"
