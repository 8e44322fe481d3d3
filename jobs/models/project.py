"""Projects and who may do what in them."""

from django.conf import settings
from django.db import models

DEFAULT_PROJECT = "default"


class Project(models.Model):
    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200)
    shares_files = models.BooleanField(
        "may use the shared folders",
        default=False,
        help_text="Its jobs and connections may read and write what other such projects keep in the folders of the installation, "
        "where their relative paths then begin. Every project has a folder of its own.",
    )
    create_time = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pipeline_project"

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    VIEWER = "VIEWER"
    OPERATOR = "OPERATOR"
    EDITOR = "EDITOR"
    ADMIN = "ADMIN"


class ProjectMember(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="project_memberships")
    role = models.CharField(max_length=20, choices=Role.choices)

    class Meta:
        db_table = "pipeline_project_member"
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="project_member_unique")]

    def __str__(self) -> str:
        return f"{self.user} {self.role} in {self.project}"
