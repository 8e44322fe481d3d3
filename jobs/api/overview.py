"""/api/overview, /api/search and /api/me."""

from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, asked, described
from jobs.selectors.me import me_out
from jobs.selectors.overview import overview_out
from jobs.selectors.search import search_out
from jobs.selectors.shapes.overview import MeOut, OverviewOut, SearchOut


class OverviewView(ApiView):
    @described("What home shows", responds=OverviewOut, tag="overview")
    def get(self, request: Request) -> Response:
        return answer(overview_out(self.user()))


class SearchView(ApiView):
    @described(
        "Jobs, nodes, executions and checkpoints by words",
        responds=SearchOut,
        tag="overview",
        query=[asked("q", "Two characters or more.")],
    )
    def get(self, request: Request) -> Response:
        return answer(search_out(self.user(), request.query_params.get("q", "")))


class MeView(ApiView):
    @described("Who is signed in, and what they may do where", responds=MeOut, tag="overview")
    def get(self, request: Request) -> Response:
        return answer(me_out(self.user()))
