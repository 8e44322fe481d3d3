"""Django's administration: everything can be looked at; rows change by the services only, users, groups and members here."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest

from jobs.models import (
    ApiToken,
    AuditEntry,
    Command,
    Connection,
    Driver,
    Event,
    Execution,
    Job,
    JobConfig,
    JobSchedule,
    JobVersion,
    Project,
    ProjectMember,
    RejectedRow,
    ScheduleFire,
)
from jobs.services.access import token_revoke
from jobs.services.audit import audit_record

if TYPE_CHECKING:
    AnyAdmin = admin.ModelAdmin[Any]
    AnyInline = admin.TabularInline[Any, Any]
    AnyUserAdmin = UserAdmin[User]
else:
    AnyAdmin, AnyInline, AnyUserAdmin = admin.ModelAdmin, admin.TabularInline, UserAdmin

admin.site.site_header = "Pipeline Web administration"
admin.site.site_title = "Pipeline Web"
admin.site.index_title = "Rows"


class ReadOnlyAdmin(AnyAdmin):
    """Looks, and changes nothing. Lists never count the whole table."""

    show_full_result_count = False
    list_per_page = 50

    class Media:
        css = {"all": ("jobs/admin.css",)}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class AuditedAdmin(AnyAdmin):
    """What is changed here stands in the audit trail: which fields, and how the row is afterwards."""

    def audited(self, obj: Any) -> tuple[str, Project | None, dict[str, Any]]:
        """What the entry calls `obj`, its project, and how it is now, without any secret."""
        raise NotImplementedError

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._audit(request, obj, "made", message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._audit(request, obj, "changed", message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            self._audit(request, obj, "deleted", [])
        return super().log_deletions(request, queryset)

    def _audit(self, request: HttpRequest, obj: Any, act: str, changes: Any) -> None:
        object_id, project, now = self.audited(obj)
        kind = str(obj._meta.model_name)
        detail = {"changes": changes, **now}
        audit_record(user=request.user, action=f"{kind} {act}", object_type=kind, object_id=object_id, project=project, detail=detail)


class ProjectMemberInline(AnyInline):
    model = ProjectMember
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(Project)
class ProjectAdmin(AuditedAdmin):
    list_display = ("slug", "title", "shares_files", "create_time")
    search_fields = ("slug", "title")
    inlines = (ProjectMemberInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> tuple[str, ...]:
        """Addresses, tokens and the project's folder hang on its name."""
        return ("slug",) if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        return False

    def audited(self, obj: Project) -> tuple[str, Project | None, dict[str, Any]]:
        members = {member.user.get_username(): member.role for member in obj.members.select_related("user").order_by("user__username")}
        return obj.slug, obj, {"title": obj.title, "shares_files": obj.shares_files, "members": members}


admin.site.unregister((User, Group))


@admin.register(User)
class AuditedUserAdmin(AuditedAdmin, AnyUserAdmin):
    """Django's own, with the audit trail."""

    def audited(self, obj: User) -> tuple[str, Project | None, dict[str, Any]]:
        rights = {
            "groups": sorted(obj.groups.values_list("name", flat=True)),
            "permissions": sorted(obj.user_permissions.values_list("codename", flat=True)),
        }
        return (
            str(obj.pk),
            None,
            {"username": obj.username, "active": obj.is_active, "staff": obj.is_staff, "superuser": obj.is_superuser, **rights},
        )


@admin.register(Group)
class AuditedGroupAdmin(AuditedAdmin, GroupAdmin):
    """Django's own, with the audit trail."""

    def audited(self, obj: Group) -> tuple[str, Project | None, dict[str, Any]]:
        return str(obj.pk), None, {"name": obj.name, "permissions": sorted(obj.permissions.values_list("codename", flat=True))}


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ("job_name", "title", "job_type", "version", "enabled", "project", "create_time", "deleted_at")
    list_filter = ("job_type", "enabled", "project")
    list_select_related = ("project",)
    search_fields = ("job_name", "title")


@admin.register(JobVersion)
class JobVersionAdmin(ReadOnlyAdmin):
    list_display = ("job", "version", "comment", "create_time", "created_by")
    list_select_related = ("job", "created_by")
    search_fields = ("job__job_name",)


@admin.register(Execution)
class ExecutionAdmin(ReadOnlyAdmin):
    list_display = ("execution_id", "job_name", "version", "status", "attempt", "triggered_by", "create_time", "end_time")
    list_filter = ("status", "job_type", "triggered_by")
    search_fields = ("execution_id", "job_name")


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("execution_id", "seq", "time", "kind", "actor", "from_status", "to_status", "reason")
    list_filter = ("kind",)
    search_fields = ("execution__execution_id",)


@admin.register(Command)
class CommandAdmin(ReadOnlyAdmin):
    list_display = ("execution_id", "kind", "status", "requested_by", "create_time", "done_time", "result")
    list_filter = ("kind", "status")
    search_fields = ("execution__execution_id",)


@admin.register(JobConfig)
class JobConfigAdmin(ReadOnlyAdmin):
    list_display = ("job", "config_key", "config_value", "config_type", "update_time")
    list_select_related = ("job",)
    search_fields = ("job__job_name", "config_key")


@admin.register(JobSchedule)
class JobScheduleAdmin(ReadOnlyAdmin):
    list_display = ("job", "schedule_type", "cron_expression", "time_zone", "enabled", "next_trigger_time", "last_trigger_time")
    list_select_related = ("job",)
    list_filter = ("schedule_type", "enabled")


@admin.register(ScheduleFire)
class ScheduleFireAdmin(ReadOnlyAdmin):
    list_display = ("schedule", "fire_time", "outcome", "reason", "execution_id")
    list_select_related = ("schedule__job",)
    list_filter = ("outcome",)
    search_fields = ("schedule__job__job_name",)


@admin.register(Connection)
class ConnectionAdmin(ReadOnlyAdmin):
    """Without its secrets, encrypted as they are."""

    list_display = ("name", "kind", "project", "test_ok", "test_time", "failing_since", "update_time")
    list_filter = ("kind", "project")
    list_select_related = ("project",)
    search_fields = ("name",)
    exclude = ("secrets",)


@admin.register(Driver)
class DriverAdmin(ReadOnlyAdmin):
    list_display = ("driver_id", "kind", "status", "host", "pid", "start_time", "heartbeat_time", "end_reason")
    list_filter = ("kind", "status")


@admin.register(RejectedRow)
class RejectedRowAdmin(ReadOnlyAdmin):
    list_display = ("execution_id", "node_id", "batch_id", "reason", "create_time")
    search_fields = ("execution__execution_id", "node_id")


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("time", "actor", "action", "object_type", "object_id", "project")
    list_filter = ("action", "object_type")
    list_select_related = ("project",)
    search_fields = ("actor", "object_id")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("prefix", "name", "scope", "user", "create_time", "last_used_time", "revoke_time")
    list_select_related = ("user",)
    exclude = ("digest",)
    actions = ("revoke",)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """They go with their user, whom nobody could delete otherwise; by themselves they are revoked."""
        page = request.resolver_match
        return page is not None and str(page.url_name).startswith("auth_user_") and request.user.has_perm("auth.delete_user")

    @admin.action(description="Revoke the chosen tokens")
    def revoke(self, request: HttpRequest, queryset: Any) -> None:
        if request.user.is_superuser:
            for token in queryset:
                token_revoke(token=token, user=request.user)
