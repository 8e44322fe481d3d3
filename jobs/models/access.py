"""API tokens, one-time sign-in links and the audit trail."""

from django.conf import settings
from django.db import models

from jobs.models.project import Project


class TokenScope(models.TextChoices):
    """What a token may do of what its user may: only look, or everything."""

    READ = "READ"
    FULL = "FULL"


class ApiToken(models.Model):
    """Only the SHA-256 of a token is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, blank=True, default="")
    digest = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(max_length=8)
    scope = models.CharField(max_length=10, choices=TokenScope.choices, default=TokenScope.FULL)
    create_time = models.DateTimeField(auto_now_add=True)
    last_used_time = models.DateTimeField(null=True)
    revoke_time = models.DateTimeField(null=True)

    class Meta:
        db_table = "pipeline_api_token"

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user}"


class SignInLink(models.Model):
    """A link that signs one user in, once, until it expires. Only the SHA-256 of its token is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    expire_time = models.DateTimeField()
    use_time = models.DateTimeField(null=True)
    create_time = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pipeline_sign_in_link"

    def __str__(self) -> str:
        return f"sign-in link of {self.user}"


class AuditEntry(models.Model):
    time = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.CharField(max_length=200)
    action = models.CharField(max_length=100)
    object_type = models.CharField(max_length=50)
    object_id = models.CharField(max_length=200)
    project = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="+")
    detail = models.JSONField(default=dict)

    class Meta:
        db_table = "pipeline_audit"
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["object_type", "object_id"], name="audit_object")]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.object_type} {self.object_id}"
