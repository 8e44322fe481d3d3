"""Checkpoints in Django's administration: looked at here, changed by the same services as everywhere."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest

from checkpoints.models import Checkpoint
from jobs.selectors.checkpoints import checkpoints_visible
from jobs.selectors.refusals import Refusal
from jobs.services.checkpoint_deletions import checkpoint_remove
from jobs.services.checkpoints import checkpoint_change, checkpoints_clean_up

if TYPE_CHECKING:
    AnyAdmin = admin.ModelAdmin[Checkpoint]
else:
    AnyAdmin = admin.ModelAdmin

_LINES_SHOWN = 100


class ReasonForm(ActionForm):
    """What something needs is deleted for a reason only."""

    reason = forms.CharField(required=False, max_length=500, label="Reason (for deleting)")


@admin.register(Checkpoint)
class CheckpointAdmin(AnyAdmin):
    list_display = ("__str__", "job", "status", "origin", "label", "pinned", "is_savepoint", "size", "exclusive", "create_time")
    list_filter = ("status", "origin", "is_savepoint", "pinned", "checkpoint_type")
    search_fields = ("execution__execution_id", "execution__job_name", "label")
    list_per_page = 50
    show_full_result_count = False
    action_form = ReasonForm
    actions = ("pin", "unpin", "keep_as_savepoint", "delete_files", "clean_up_dry_run", "clean_up")

    class Media:
        css = {"all": ("jobs/admin.css",)}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Checkpoint]:
        return checkpoints_visible(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Checkpoint | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Checkpoint | None = None) -> bool:
        return False

    @admin.display(description="job", ordering="execution__job_name")
    def job(self, checkpoint: Checkpoint) -> str:
        return str(checkpoint.execution.job_name)

    @admin.display(description="bytes", ordering="storage_size_bytes")
    def size(self, checkpoint: Checkpoint) -> str:
        return f"{checkpoint.storage_size_bytes:,}"

    @admin.display(description="freed by deleting", ordering="exclusive_bytes")
    def exclusive(self, checkpoint: Checkpoint) -> str:
        return f"{checkpoint.exclusive_bytes:,}"

    @admin.action(description="Pin", permissions=["view"])
    def pin(self, request: HttpRequest, rows: QuerySet[Checkpoint]) -> None:
        self._each(request, rows, "pinned", lambda row: checkpoint_change(checkpoint=row, user=_user(request), pinned=True))

    @admin.action(description="Take the pin off", permissions=["view"])
    def unpin(self, request: HttpRequest, rows: QuerySet[Checkpoint]) -> None:
        self._each(request, rows, "unpinned", lambda row: checkpoint_change(checkpoint=row, user=_user(request), pinned=False))

    @admin.action(description="Keep as savepoints (their files are copied)", permissions=["view"])
    def keep_as_savepoint(self, request: HttpRequest, rows: QuerySet[Checkpoint]) -> None:
        self._each(
            request, rows, "kept as savepoints", lambda row: checkpoint_change(checkpoint=row, user=_user(request), is_savepoint=True)
        )

    @admin.action(description="Delete their files", permissions=["view"])
    def delete_files(self, request: HttpRequest, rows: QuerySet[Checkpoint]) -> None:
        reason = request.POST.get("reason", "")[:500]
        self._each(request, rows, "deleted", lambda row: checkpoint_remove(checkpoint=row, user=_user(request), reason=reason))

    @admin.action(description="Clean up the jobs of these: tell only (dry run)", permissions=["view"])
    def clean_up_dry_run(self, request: HttpRequest, rows: QuerySet[Checkpoint]) -> None:
        self._clean(request, rows, dry_run=True)

    @admin.action(description="Clean up the jobs of these: delete", permissions=["view"])
    def clean_up(self, request: HttpRequest, rows: QuerySet[Checkpoint]) -> None:
        self._clean(request, rows, dry_run=False)

    def _each(self, request: HttpRequest, rows: QuerySet[Checkpoint], word: str, act: Callable[[Checkpoint], Any]) -> None:
        done = 0
        for row in rows:
            try:
                act(row)
                done += 1
            except Refusal as refusal:
                self.message_user(request, refusal.message, messages.WARNING)
        self.message_user(request, f"{done} {word}", messages.SUCCESS if done else messages.INFO)

    def _clean(self, request: HttpRequest, rows: QuerySet[Checkpoint], *, dry_run: bool) -> None:
        for job_name in sorted(set(rows.values_list("execution__job__job_name", flat=True))):
            try:
                found = checkpoints_clean_up(user=_user(request), dry_run=dry_run, job_name=job_name)
            except Refusal as refusal:
                self.message_user(request, f"{job_name}: {refusal.message}", messages.WARNING)
                continue
            going = [decision for decision in found if decision.action == "delete"]
            for decision in going[:_LINES_SHOWN]:
                self.message_user(request, f"{decision.shown}: {decision.reason}, {decision.bytes:,} bytes")
            word = "would be deleted" if dry_run else "deleted"
            freed = sum(decision.bytes for decision in going)
            self.message_user(request, f"{job_name}: {len(going)} {word}, {freed:,} bytes", messages.SUCCESS)


def _user(request: HttpRequest) -> Any:
    return request.user
