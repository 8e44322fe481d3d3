"""Where a system is and how to sign in."""

from django.conf import settings
from django.db import models

from jobs.models.project import Project


class Connection(models.Model):
    """`config` is readable; `secrets` is one encrypted JSON object, never sent to a browser; `secret_names` are its keys.

    `test_*` is what was found last, asked for or from time to time: `test_step` names the step that failed, `failing_since` is when the
    first of an unbroken row of failures was found. `jobs_using` counted the jobs of then. `check_claim_time`: a worker took it to look.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="connections")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=50)
    description = models.CharField(max_length=500, blank=True, default="")
    config = models.JSONField(default=dict)
    secrets = models.TextField(blank=True, default="")
    secret_names = models.JSONField(default=list)
    test_time = models.DateTimeField(null=True)
    test_ok = models.BooleanField(null=True)
    test_step = models.CharField(max_length=100, blank=True, default="")
    test_message = models.TextField(blank=True, default="")
    failing_since = models.DateTimeField(null=True)
    jobs_using = models.PositiveIntegerField(default=0)
    check_claim_time = models.DateTimeField(null=True)
    create_time = models.DateTimeField(auto_now_add=True)
    update_time = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        db_table = "pipeline_connection"
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="connection_name_unique")]

    def __str__(self) -> str:
        return self.name
