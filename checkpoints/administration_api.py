"""/api/checkpoints: what rules and people do away with."""

from typing import Annotated, get_args

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, asked, body_read, described, number_asked
from jobs.selectors.checkpoint_administration import PageAsked, orphans_page, retention_page
from jobs.selectors.query_words import truth_asked
from jobs.selectors.shapes.base import Body
from jobs.selectors.shapes.checkpoint_administration import DeletionOut, OrphanKind, OrphansOut, ReasonKind, RetentionOut
from jobs.services.checkpoint_deletions import checkpoints_remove

MOST_ROWS = 500
MOST_IDS = 500

_PAGE = [
    asked("job", "Of this job only, by name."),
    asked("operated", "true: only of jobs that you operate, which are those that a clean-up looks at."),
    asked("offset", "Entries to leave out.", int),
    asked("rows", f"At most so many, up to {MOST_ROWS}; 100 without it.", int),
]


class Deletion(Body):
    """`ids`: row ids. `reason`: kept in the audit trail and in the history; without one, nothing goes that something needs.

    A `dry_run` tells what would become of each, and deletes nothing.
    """

    ids: list[Annotated[int, Field(ge=1, le=2**63 - 1)]] = Field(min_length=1, max_length=MOST_IDS)
    reason: str = Field("", max_length=500)
    dry_run: bool = False


class CheckpointRetentionView(ApiView):
    @described(
        "What the retention rule deletes next, and why each of the others stays",
        responds=RetentionOut,
        tag="checkpoints",
        query=[
            asked("action", "Only what goes (delete) or stays (keep).", choices=["delete", "keep"]),
            asked("kind", "Only for this reason.", choices=get_args(ReasonKind)),
            *_PAGE,
        ],
    )
    def get(self, request: Request) -> Response:
        """Every checkpoint that you may see with what the rule does with it and why, a page at a time, counted by reason."""
        found = retention_page(
            user=self.user(),
            action=request.query_params.get("action", ""),
            kind=request.query_params.get("kind", ""),
            page=_page(request),
        )
        return answer(found)


class CheckpointOrphansView(ApiView):
    @described(
        "What lies where checkpoints are kept and no row needs, and rows without files",
        responds=OrphansOut,
        tag="checkpoints",
        query=[asked("kind", "Only of this kind.", choices=get_args(OrphanKind)), *_PAGE],
    )
    def get(self, request: Request) -> Response:
        """Left-over folders, parts and objects with size, age and the end of their grace time, young ones too; the oldest first."""
        kind = request.query_params.get("kind", "")
        return answer(orphans_page(user=self.user(), kind=kind, page=_page(request)))


class CheckpointDeletionView(ApiView):
    @described("Delete the files of several; the rows stay as history", takes=Deletion, responds=DeletionOut, tag="checkpoints")
    def post(self, request: Request) -> Response:
        """Deletes what may go and refuses the rest, with an answer for each id; what something needs goes only for a reason."""
        return answer(checkpoints_remove(user=self.user(), **body_read(request, Deletion).model_dump()))


def _page(request: Request) -> PageAsked:
    offset = number_asked(request, "offset", 0, least=0, most=2**31)
    rows = number_asked(request, "rows", 100, least=1, most=MOST_ROWS)
    operated = bool(truth_asked(request.query_params.dict(), "operated"))
    return PageAsked(offset, rows, request.query_params.get("job", ""), operated)
