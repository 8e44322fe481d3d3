"""/api/checkpoints: what can be gone back to, and what is done with it."""

from datetime import datetime
from typing import Literal

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from checkpoints.retention import Decision
from jobs.api.base import PAGED, ApiView, answer, answer_page, asked, body_read, described, number_asked
from jobs.api.jobs import StartedOut
from jobs.selectors.checkpoint_details import checkpoint_detail_out, checkpoint_files_out
from jobs.selectors.checkpoint_filters import checkpoints_filtered
from jobs.selectors.checkpoint_history import MOST_POINTS, checkpoint_comparison, checkpoint_history
from jobs.selectors.checkpoint_prechecks import PrecheckOut, checkpoint_precheck
from jobs.selectors.checkpoint_usage import checkpoint_usage
from jobs.selectors.checkpoints import checkpoint_get, checkpoint_out, checkpoints_out, checkpoints_visible
from jobs.selectors.executions import execution_get
from jobs.selectors.query_words import text_asked
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.checkpoint import (
    CheckpointComparisonOut,
    CheckpointDetailOut,
    CheckpointFilesOut,
    CheckpointHistoryOut,
    CheckpointOut,
    CheckpointUsageOut,
)
from jobs.services.checkpoint_deletions import checkpoint_remove
from jobs.services.checkpoints import checkpoint_change, checkpoint_looked_at, checkpoints_clean_up
from jobs.services.executions import execution_restore
from jobs.services.inputs_left import inputs_left
from jobs.services.roll_backs import roll_backs_viewed

_FILTERS = [
    asked("job", "Of this job, by name."),
    asked("job_name", "The same."),
    asked("status", "Several by comma: PENDING, COMPLETED, FAILED, EXPIRED."),
    asked("origin", "Several by comma: INTERVAL, ROWS, PAGE, MANUAL, STOP."),
    asked("is_savepoint", "true or false."),
    asked("pinned", "true or false."),
    asked("kept", "true: pinned or a savepoint."),
    asked("q", "Part of the label, of the job's name or title, or the beginning of an execution id."),
    asked("created_after", "ISO 8601."),
    asked("created_before", "ISO 8601."),
    *PAGED,
]


MOST_FILES = 1000


class CheckpointPage(Shape):
    results: list[CheckpointOut]
    next: str | None


class CheckpointChange(Body):
    """What is left out stays. `is_savepoint: true` makes it a savepoint for good: its files become copies of its own."""

    label: str | None = Field(None, max_length=200)
    pinned: bool | None = None
    is_savepoint: bool | None = None


class Restore(Body):
    """`version`: of the job; without it, the one it was taken of. Refused with 422 and a problem a node where it needs a fresh start.

    `allow_non_restored_state`: state that no node of that version reads is left behind. `roll_back`: sinks first take away what they wrote
    behind the checkpoint, as far as the pre-check's `roll_backs` say that they can.
    """

    version: int | None = Field(default=None, ge=1)
    allow_non_restored_state: bool = False
    roll_back: bool = False


class CleanupScope(Body):
    """Both left out: all that one may operate, orphaned folders too."""

    job_name: str | None = None
    execution_id: str | None = None


class Cleanup(Body):
    """`brief`: only numbers, no list."""

    dry_run: bool = True
    brief: bool = False
    scope: CleanupScope = CleanupScope()


class CleanupItem(Shape):
    """`checkpoint` is its row id, null for a folder that no row stands for. `bytes` of deletions add up to what is given back.

    `since`: when the checkpoint was taken, or when something of the folder last changed.
    """

    checkpoint: int | None
    checkpoint_id: int | None
    job_name: str | None
    execution_id: str | None
    path: str
    action: Literal["delete", "keep"]
    reason: str
    bytes: int
    since: datetime | None = None


class CleanupOut(Shape):
    """`deleted` and `kept`: how many; `bytes`: what the deletions give back."""

    dry_run: bool
    deleted: int
    kept: int
    bytes: int
    results: list[CleanupItem]


class CheckpointsView(ApiView):
    @described(
        "Checkpoints, newest first",
        responds=CheckpointPage,
        tag="checkpoints",
        query=[asked("execution", "Of this execution, by id."), asked("execution_id", "The same."), *_FILTERS],
    )
    def get(self, request: Request) -> Response:
        """The checkpoints of every job that you may see, failed and deleted ones too, a page at a time."""
        rows = checkpoints_filtered(checkpoints_visible(self.user()), request.query_params.dict())
        return answer_page(self, request, rows, checkpoints_out)


class ExecutionCheckpointsView(ApiView):
    @described("Checkpoints of one execution, newest first", responds=CheckpointPage, tag="checkpoints", query=_FILTERS)
    def get(self, request: Request, execution_id: str) -> Response:
        """The checkpoints that one execution took, failed and deleted ones too, a page at a time."""
        execution = execution_get(user=self.user(), execution_id=execution_id)
        given = {**request.query_params.dict(), "execution": execution.execution_id}
        return answer_page(self, request, checkpoints_filtered(checkpoints_visible(self.user()), given), checkpoints_out)


class ExecutionCheckpointHistoryView(ApiView):
    @described(
        "How an execution's checkpoints went over time, for charts",
        responds=CheckpointHistoryOut,
        tag="checkpoints",
        query=[asked("points", f"At most so many, the newest; {MOST_POINTS} without it, 0 for the counts alone.", int)],
    )
    def get(self, request: Request, execution_id: str) -> Response:
        """Size, duration and distance of the newest checkpoints of an execution that ended, well or not, and how many it has by status."""
        execution = execution_get(user=self.user(), execution_id=execution_id)
        return answer(checkpoint_history(execution, points=number_asked(request, "points", MOST_POINTS, least=0, most=MOST_POINTS)))


class CheckpointComparisonView(ApiView):
    @described("Two checkpoints of a job side by side", responds=CheckpointComparisonOut, tag="checkpoints")
    def get(self, request: Request, checkpoint_id: int, other_id: int) -> Response:
        """Both checkpoints, and for each source how far, in rows where they can be counted, it is from the first to the second."""
        first, second = (checkpoint_get(user=self.user(), checkpoint_id=one) for one in (checkpoint_id, other_id))
        return answer(checkpoint_comparison(first, second))


class CheckpointView(ApiView):
    @described("One checkpoint", responds=CheckpointDetailOut, tag="checkpoints")
    def get(self, request: Request, checkpoint_id: int) -> Response:
        """All that is kept of one checkpoint, what started from it, why it was deleted, and the nearest good one if it is none itself."""
        return answer(checkpoint_detail_out(checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id)))

    @described("Label it, pin it, keep it as a savepoint", takes=CheckpointChange, responds=CheckpointOut, tag="checkpoints")
    def patch(self, request: Request, checkpoint_id: int) -> Response:
        """Changes what people may: the label, the pin that keeps it from every clean-up, and whether it is a savepoint."""
        body = body_read(request, CheckpointChange)
        checkpoint = checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id)
        changed = checkpoint_change(checkpoint=checkpoint, user=self.user(), **body.model_dump())
        return answer(checkpoint_out(changed))

    @described(
        "Delete its files; the row stays as history",
        status=204,
        tag="checkpoints",
        query=[asked("reason", "Kept in the history; asked for (409 checkpoint.reason) where something needs it. At most 500 characters.")],
    )
    def delete(self, request: Request, checkpoint_id: int) -> Response:
        """Deletes the files of one checkpoint. What is pinned, a savepoint, the newest good one of its job, or what an execution may fall
        back to, goes for a reason only; what an execution starts from never."""
        reason = text_asked(request.query_params, "reason", most=500)
        checkpoint_remove(checkpoint=checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id), user=self.user(), reason=reason)
        return Response(status=204)


class CheckpointFilesView(ApiView):
    @described(
        "The files of a checkpoint, with size and checksum",
        responds=CheckpointFilesOut,
        tag="checkpoints",
        query=[
            asked("q", "Only paths in which this text stands."),
            asked("offset", "Files to leave out.", int),
            asked("rows", f"At most so many, up to {MOST_FILES}; 100 without it.", int),
        ],
    )
    def get(self, request: Request, checkpoint_id: int) -> Response:
        """The files that the manifests of a checkpoint list, read now from the store that it lies in; 409 where they are gone."""
        checkpoint = checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id)
        offset = number_asked(request, "offset", 0, least=0, most=2**31)
        most = number_asked(request, "rows", 100, least=1, most=MOST_FILES)
        return answer(checkpoint_files_out(checkpoint, search=request.query_params.get("q", ""), offset=offset, most=most))


class CheckpointPrecheckView(ApiView):
    @described(
        "What a restore would meet; every byte of its files is compared, and every node",
        responds=PrecheckOut,
        tag="checkpoints",
        query=[asked("version", 'Of the job, to go on with: a number, or "current"; without it, the one the checkpoint was taken of.')],
    )
    def get(self, request: Request, checkpoint_id: int) -> Response:
        """Compares every byte, and every node with the version to go on with; tells what is read again and what each sink does."""
        checkpoint = checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id)
        found = checkpoint_precheck(checkpoint, version=request.query_params.get("version", ""))
        checkpoint_looked_at(checkpoint=checkpoint, whole=all(check.ok for check in found.checks if check.name == "files"))
        missing = inputs_left(checkpoint, version=found.version)
        told = {"checks": [*found.checks, *missing], "ok": found.ok and all(check.ok for check in missing)}
        return answer(found.model_copy(update={**told, "roll_backs": roll_backs_viewed(checkpoint, version=found.version)}))


class CheckpointRestoreView(ApiView):
    @described("Start its job from it, in a new generation", takes=Restore, responds=StartedOut, status=202, tag="checkpoints")
    def post(self, request: Request, checkpoint_id: int) -> Response:
        """Starts a new execution behind the checkpoint; a paused one of the job is cancelled, any other unfinished one is a 409."""
        body = body_read(request, Restore)
        checkpoint = checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id)
        execution = execution_restore(checkpoint=checkpoint, user=self.user(), **body.model_dump())
        return answer(StartedOut(execution_id=execution.execution_id), status=202)


class CheckpointUsageView(ApiView):
    @described("What room checkpoints take: together, by age and by job", responds=CheckpointUsageOut, tag="checkpoints")
    def get(self, request: Request) -> Response:
        """Number and bytes of the checkpoints that you may see, with a forecast from the last week."""
        return answer(checkpoint_usage(user=self.user()))


class CheckpointCleanupView(ApiView):
    @described("What retention would delete, or, without dry_run, deletes", takes=Cleanup, responds=CleanupOut, tag="checkpoints")
    def post(self, request: Request) -> Response:
        """Lists what the retention rules delete and keep, and why; with `dry_run` false it deletes, of the jobs that you operate."""
        body = body_read(request, Cleanup)
        found = checkpoints_clean_up(user=self.user(), dry_run=body.dry_run, **body.scope.model_dump())
        going = [decision.bytes for decision in found if decision.action == "delete"]
        listed = [] if body.brief else [_item(decision) for decision in found]
        counted = {"deleted": len(going), "kept": len(found) - len(going), "bytes": sum(going)}
        return answer(CleanupOut(dry_run=body.dry_run, **counted, results=listed))


def _item(decision: Decision) -> CleanupItem:
    row = decision.checkpoint
    return CleanupItem(
        checkpoint=row.pk if row else None,
        checkpoint_id=row.checkpoint_id if row else None,
        job_name=row.execution.job_name if row else None,
        execution_id=row.execution_id if row else None,
        path=decision.shown,
        action=decision.action,
        reason=decision.reason,
        bytes=decision.bytes,
        since=row.create_time if row else decision.changed,
    )
