"""/api/executions/{id}/events, metrics, logs, rejected-rows and expectations: what happened."""

from datetime import timedelta

from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, answer_list, asked, described, number_asked
from jobs.models import EVENT_KINDS
from jobs.selectors.events import events_out, rejected_rows_out
from jobs.selectors.execution_filters import time_read
from jobs.selectors.executions import execution_get
from jobs.selectors.expectations import expectation_scores, expectations_out
from jobs.selectors.logs import MAX_LINES, log_page
from jobs.selectors.metrics import RESOLUTIONS, metrics_out
from jobs.selectors.query_words import words_asked
from jobs.selectors.shapes.base import Shape
from jobs.selectors.shapes.execution import EventOut, ExpectationOut, ExpectationScoreOut, LogPage, MetricsOut, RejectedRowOut


class EventList(Shape):
    results: list[EventOut]
    next: str | None


class RejectedRowList(Shape):
    results: list[RejectedRowOut]
    next: str | None


class ExpectationList(Shape):
    results: list[ExpectationOut]
    scores: list[ExpectationScoreOut]


class ExecutionEventsView(ApiView):
    @described(
        "What happened, newest first",
        responds=EventList,
        tag="executions",
        query=[
            asked("before", "Only events with a smaller seq.", int),
            asked("kind", f"Several by comma, of {', '.join(EVENT_KINDS)}."),
            asked("page_size", "At most 500.", int),
        ],
    )
    def get(self, request: Request, execution_id: str) -> Response:
        execution = execution_get(user=self.user(), execution_id=execution_id)
        size = number_asked(request, "page_size", 100, least=1, most=500)
        before = number_asked(request, "before", 0, least=0, most=2**31 - 1)
        kinds = words_asked(request.query_params, "kind", EVENT_KINDS)
        events = events_out(execution, before=before or None, kinds=kinds, limit=size)
        return answer_list(events, _next(request, "before", events[-1].seq) if len(events) == size else None)


class ExecutionRejectedRowsView(ApiView):
    @described(
        "Rows that nodes refused, newest first",
        responds=RejectedRowList,
        tag="executions",
        query=[
            asked("before", "Only rows with a smaller id.", int),
            asked("node_id", "Of this node."),
            asked("page_size", "At most 500.", int),
        ],
    )
    def get(self, request: Request, execution_id: str) -> Response:
        execution = execution_get(user=self.user(), execution_id=execution_id)
        size = number_asked(request, "page_size", 100, least=1, most=500)
        before = number_asked(request, "before", 0, least=0, most=2**63 - 1)
        rows = rejected_rows_out(execution, before=before or None, node_id=request.query_params.get("node_id", ""), limit=size)
        return answer_list(rows, _next(request, "before", rows[-1].id) if len(rows) == size else None)


class ExecutionExpectationsView(ApiView):
    @described(
        "How many rows broke which rule of the job's expectations, in all batches so far", responds=ExpectationList, tag="executions"
    )
    def get(self, request: Request, execution_id: str) -> Response:
        rules = expectations_out(execution_get(user=self.user(), execution_id=execution_id))
        return answer(ExpectationList(results=rules, scores=expectation_scores(rules)))


def _next(request: Request, name: str, value: int) -> str:
    query = request.query_params.copy()
    query[name] = str(value)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


class ExecutionMetricsView(ApiView):
    @described(
        "Figures over time; without a range the last hour of the execution",
        responds=MetricsOut,
        tag="executions",
        query=[
            asked("from", "ISO 8601."),
            asked("to", "ISO 8601."),
            asked("span", "Seconds up to the end of the execution, or up to now; instead of from and to.", int),
            asked("resolution", "Seconds: 1, 10 or 60; chosen by the range otherwise.", int),
        ],
    )
    def get(self, request: Request, execution_id: str) -> Response:
        execution = execution_get(user=self.user(), execution_id=execution_id)
        given = request.query_params
        start = time_read(given["from"], "from") if given.get("from") else None
        end = time_read(given["to"], "to") if given.get("to") else None
        wanted = number_asked(request, "resolution", 0, least=0, most=max(RESOLUTIONS))
        span = timedelta(seconds=number_asked(request, "span", 3600, least=1, most=30 * 86_400))
        return answer(metrics_out(execution, start=start, end=end, span=span, resolution=wanted or None))


class ExecutionLogsView(ApiView):
    @described(
        "Lines of the driver's log of one attempt",
        responds=LogPage,
        tag="executions",
        query=[
            asked("attempt", "The newest that left a log unless given.", int),
            asked("after", "Byte offset: `next_offset` of the answer before; negative: that many bytes from the end.", int),
            asked("before", "Byte offset, instead of after: the last lines that end there. `next_offset` is then the next `before`.", int),
            asked("level", "This level and worse.", choices=("DEBUG", "INFO", "WARNING", "ERROR")),
            asked("node_id", "Of this node."),
            asked("search", "Only lines that hold this text."),
            asked("limit", f"At most {MAX_LINES} lines.", int),
        ],
    )
    def get(self, request: Request, execution_id: str) -> Response:
        execution = execution_get(user=self.user(), execution_id=execution_id)
        given = request.query_params
        before = number_asked(request, "before", -1, least=-1, most=2**62)
        page = log_page(
            execution.execution_id,
            attempt=number_asked(request, "attempt", 0, least=0, most=2**31 - 1) or None,
            after=number_asked(request, "after", 0, least=-(2**31), most=2**62),
            before=before if before >= 0 else None,
            level=given.get("level", ""),
            node_id=given.get("node_id", ""),
            search=given.get("search", ""),
            limit=number_asked(request, "limit", 500, least=1, most=MAX_LINES),
        )
        return answer(page)
