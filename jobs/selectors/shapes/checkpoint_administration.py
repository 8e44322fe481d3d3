"""What rules and people do away with, as it is sent."""

from datetime import datetime
from typing import Literal

from jobs.selectors.shapes.base import Shape

ReasonKind = Literal[
    "SAVEPOINT", "PINNED", "NEWEST", "NEWEST_GOOD", "EXECUTION", "COUNT", "AGE", "ROOM", "JOB_DELETED", "CANCELLED", "COMPLETED", "ORPHAN"
]
OrphanKind = Literal["LIVE", "RESTORE", "PARTIAL", "TEMPORARY", "NO_ROW", "ROW_GONE", "ELSEWHERE", "FOREIGN", "NO_FILES"]
NeedKind = Literal["PINNED", "SAVEPOINT", "NEWEST_GOOD", "EXECUTION", "START"]


class RetentionItemOut(Shape):
    """One checkpoint, and what the rule does with it. `reason` says why in words; `bytes` is what it alone takes.

    `newest`, `age` (seconds, 0 where there is no such limit) and `room` (bytes) are the limits that `kind` speaks of, null where it
    speaks of none; `needed_by` is the execution.
    """

    checkpoint: int
    checkpoint_id: int
    job_name: str
    job_title: str
    execution_id: str
    create_time: datetime
    action: Literal["delete", "keep"]
    kind: ReasonKind
    reason: str
    newest: int | None
    age: float | None
    room: int | None
    needed_by: str
    bytes: int


class RetentionReasonOut(Shape):
    """How many of the job asked for go or stay for one reason, whatever the page is filtered by."""

    action: Literal["delete", "keep"]
    kind: ReasonKind
    count: int
    bytes: int


class RetentionOut(Shape):
    """One page of what the rule does with every checkpoint. `next_run`: when it does so by itself; `count`: all that fit the filters."""

    next_run: datetime
    count: int
    reasons: list[RetentionReasonOut]
    results: list[RetentionItemOut]


class OrphanOut(Shape):
    """Something that no row needs, or (NO_FILES) a row whose files are not there, with `checkpoint` its row id.

    `changed`: when anything of it last was, or when the row's checkpoint was taken. `grace_ends`: from when on a clean-up takes it away or
    marks the row; null: it never does. `due`: it has come. `marked`: the row says already that it cannot be restored.
    """

    kind: OrphanKind
    path: str
    storage: str
    job_name: str | None
    checkpoint: int | None
    checkpoint_id: int | None
    execution_id: str | None
    bytes: int
    changed: datetime
    grace_ends: datetime | None
    due: bool
    marked: bool


class OrphanKindOut(Shape):
    kind: OrphanKind
    count: int
    due: int


class OrphansOut(Shape):
    """One page, the oldest first. `count`: all that fit the filter; `kinds`: of all. `grace`: seconds; `next_run`: of the clean-up."""

    grace: int
    next_run: datetime
    count: int
    kinds: list[OrphanKindOut]
    results: list[OrphanOut]


class DeletionNeedOut(Shape):
    """`execution`: the unfinished one that may fall back to it, or (START) starts from it and has none of its own; else ""."""

    kind: NeedKind
    execution: str


class DeletionItemOut(Shape):
    """What became, or in a dry run would become, of one. `checkpoint` is the row id that was sent.

    `refusal`: "" where it went; NOT_FOUND; FORBIDDEN: it takes an operator; GONE: it has no files; NEEDED: no reason lets it go now;
    REASON: one has to be given. `message` says so in a sentence.
    """

    checkpoint: int
    checkpoint_id: int | None
    job_name: str | None
    refusal: Literal["", "NOT_FOUND", "FORBIDDEN", "GONE", "NEEDED", "REASON"]
    message: str
    needs: list[DeletionNeedOut]
    bytes: int


class DeletionOut(Shape):
    """An answer an id, in their order. `deleted`: how many went, or would; `bytes`: what that gave back (a dry run: at least)."""

    dry_run: bool
    deleted: int
    bytes: int
    results: list[DeletionItemOut]
