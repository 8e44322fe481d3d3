"""/api/checkpoints/ID/state: what its stateful operators remember, to look at, to search and to take along."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from checkpoints.models import Checkpoint, CheckpointStatus
from jobs.api.base import ANY_OBJECT, ApiView, answer, asked, described, number_asked
from jobs.api.csv_cells import csv_cell
from jobs.api.driver_questions import driver_answer
from jobs.selectors.checkpoints import checkpoint_get
from jobs.selectors.query_words import query_refused, text_asked
from jobs.selectors.refusals import Conflict, Invalid
from jobs.selectors.shapes.base import Shape

#: Reading is cut off so long before the questioner gives up.
STATE_SECONDS, _BEFORE_SECONDS = 60.0, 5.0
MOST_ROWS = 10_000


class StateOperatorOut(Shape):
    """One operator of `query`; `name` is Spark's, `node_id` "" where it cannot be told. `parts`: sides, variables, or "default"."""

    query: str
    operator: int
    name: str
    node_id: str
    rows: int | None
    parts: list[str]


class StateOperatorsOut(Shape):
    operators: list[StateOperatorOut]


class StateColumnOut(Shape):
    name: str
    type: str


class StateRowsOut(Shape):
    """Columns of the key begin with "key.", those of what is remembered with "value."; `more`: there are rows behind these."""

    columns: list[StateColumnOut]
    rows: list[list[Any]]
    more: bool


_PLACE = [
    asked("query", "As `operators` names it."),
    asked("operator", "Its number."),
    asked("part", "One of its parts."),
    asked("q", "Only rows in whose key this text stands."),
]


class CheckpointStateView(ApiView):
    @described("The stateful operators of a checkpoint", responds=StateOperatorsOut, tag="checkpoints")
    def get(self, request: Request, checkpoint_id: int) -> Response:
        """The operators of the checkpoint that keep state, each with its node, its number of rows and its parts."""
        checkpoint = _whole(checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id))
        found = _asked_of_driver({"checkpoint": checkpoint.pk})
        return answer(StateOperatorsOut(operators=[_operator(checkpoint, one, found["operators"]) for one in found["operators"]]))


class CheckpointStateRowsView(ApiView):
    @described(
        "What one operator remembers",
        responds=StateRowsOut,
        tag="checkpoints",
        query=[*_PLACE, asked("offset", "Rows to leave out."), asked("rows", f"At most so many, up to {MOST_ROWS}; 100 without it.")],
    )
    def get(self, request: Request, checkpoint_id: int) -> Response:
        """A page of the keys and values that one part of an operator keeps in the checkpoint, read from its files by Spark."""
        return answer(StateRowsOut.model_validate(_rows(self, request, checkpoint_id, most=100)))


class CheckpointStateFileView(ApiView):
    @described(f"The same as CSV, up to {MOST_ROWS} rows", responds=ANY_OBJECT, tag="checkpoints", query=_PLACE)
    def get(self, request: Request, checkpoint_id: int) -> HttpResponse:
        """The keys and values of one part of an operator as a CSV file."""
        found = _rows(self, request, checkpoint_id, most=MOST_ROWS)
        text = io.StringIO()
        lines = csv.writer(text)
        lines.writerow([csv_cell(column["name"]) for column in found["columns"]])
        lines.writerows([[csv_cell(value) for value in row] for row in found["rows"]])
        response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="state-of-checkpoint-{checkpoint_id}.csv"'
        return response


def _whole(checkpoint: Checkpoint) -> Checkpoint:
    if checkpoint.status != CheckpointStatus.COMPLETED:
        raise Conflict(f"checkpoint {checkpoint.checkpoint_id} is {checkpoint.status}: only a complete one has state to look at")
    return checkpoint


def _rows(view: ApiView, request: Request, checkpoint_id: int, *, most: int) -> dict[str, Any]:
    checkpoint = _whole(checkpoint_get(user=view.user(), checkpoint_id=checkpoint_id))
    given = request.query_params
    return _asked_of_driver(
        {
            "checkpoint": checkpoint.pk,
            "query": _query_asked(given.get("query", ""), checkpoint),
            "operator": _operator_asked(given.get("operator", "") or "0"),
            "part": given.get("part", "default"),
            "search": text_asked(request.query_params, "q", most=1000),
            "offset": number_asked(request, "offset", 0, least=0, most=2**31 - MOST_ROWS - 2),
            "rows": number_asked(request, "rows", most, least=1, most=MOST_ROWS),
        }
    )


def _query_asked(name: str, checkpoint: Checkpoint) -> str:
    """One of those that the checkpoint tells of; where it tells of none, what its files hold decides."""
    if name and (not checkpoint.queries or name in checkpoint.queries):
        return name
    known = ", ".join(sorted(checkpoint.queries))
    wrong = f'this checkpoint has no query "{name[:100]}"' if name else "query is missing"
    raise query_refused({"query": f"{wrong}: name one of {known}" if known else wrong})


def _operator_asked(text: str) -> int:
    """A number that names one: none near it will do."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise query_refused({"operator": "operator is a whole number, 0 or more"})
    return int(text)


def _asked_of_driver(payload: Mapping[str, Any]) -> dict[str, Any]:
    timed = {**payload, "seconds": STATE_SECONDS - _BEFORE_SECONDS}
    found = driver_answer("state", timed, seconds=STATE_SECONDS, failing="the state cannot be read now")
    if refused := found.get("refused"):
        raise Invalid(refused, code="state.unreadable")
    return found


def _operator(checkpoint: Checkpoint, one: Mapping[str, Any], others: list[dict[str, Any]]) -> StateOperatorOut:
    """With node and rows where the name tells which of the checkpoint's own list it is."""
    listed = [known for known in checkpoint.operators if known.get("query") == one["query"] and known.get("operator") == one["name"]]
    is_only = sum((other["query"], other["name"]) == (one["query"], one["name"]) for other in others) == 1
    known = listed[0] if len(listed) == 1 and is_only else {}
    return StateOperatorOut(**one, node_id=str(known.get("node_id", "")), rows=known.get("rows"))
