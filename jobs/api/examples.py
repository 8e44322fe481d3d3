"""The example jobs: which there are, and setting one back."""

from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, answer_list, body_read, described
from jobs.selectors.job_details import job_detail
from jobs.selectors.jobs import job_get, jobs_for_lists, jobs_out, jobs_visible
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.job import JobDetailOut, JobOut
from jobs.services.examples import EXAMPLES, example_reset


class ExampleList(Shape):
    results: list[JobOut]
    next: str | None


class ExamplesView(ApiView):
    @described("The example jobs: they can be run at once, and set back", responds=ExampleList, tag="examples")
    def get(self, request: Request) -> Response:
        rows = jobs_for_lists(jobs_visible(self.user())).filter(job_name__in=EXAMPLES).order_by("job_name")
        return answer_list(jobs_out(list(rows)))


class ExampleResetView(ApiView):
    @described("Set an example back to its beginning: what it read and wrote is emptied", takes=Body, responds=JobDetailOut, tag="examples")
    def post(self, request: Request, job_name: str) -> Response:
        body_read(request, Body)
        example_reset(job=job_get(user=self.user(), job_name=job_name), user=self.user())
        return answer(job_detail(user=self.user(), job_name=job_name))
