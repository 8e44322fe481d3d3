"""/api/jobs/{name}/schedule: when a job starts by itself; /api/schedule-times: what a CRON expression means."""

from typing import Annotated, Literal

from drf_spectacular.utils import OpenApiParameter
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, asked, body_read, described
from jobs.models import JobSchedule, ScheduleType
from jobs.selectors.jobs import job_get
from jobs.selectors.schedules import schedule_out, schedule_times
from jobs.selectors.shapes.base import Body
from jobs.selectors.shapes.job import ScheduleOut, ScheduleTimesOut
from jobs.services.schedules import schedule_delete, schedule_problems, schedule_set


class ScheduleBody(Body):
    """`cron_expression` has five fields (minute, hour, day, month, weekday), read in `time_zone`."""

    schedule_type: Literal["CRON", "MANUAL", "EVENT", "DEPENDENCY"] = "CRON"
    cron_expression: Annotated[str, StringConstraints(max_length=100)] = ""
    time_zone: Annotated[str, StringConstraints(max_length=64)] = "UTC"
    event_topic: Annotated[str, StringConstraints(max_length=200)] = ""
    dependencies: list[str] = Field(default_factory=list)
    enabled: bool = True


IF_UNCHANGED = [
    OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="Only if nobody changed it since: its `revision`, in quotes."),
    OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="*: only if there is none yet."),
]


class JobScheduleView(ApiView):
    @described("When the job starts by itself; 204 without a schedule", responds=ScheduleOut, tag="jobs")
    def get(self, request: Request, job_name: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        row = JobSchedule.objects.filter(job=job).first()
        return answer(schedule_out(row, with_times=True)) if row else Response(status=204)

    @described("Set when the job starts by itself", takes=ScheduleBody, responds=ScheduleOut, tag="jobs", query=IF_UNCHANGED)
    def put(self, request: Request, job_name: str) -> Response:
        body = body_read(request, ScheduleBody)
        job = job_get(user=self.user(), job_name=job_name)
        row = schedule_set(job=job, user=self.user(), seen=_seen(request), **body.model_dump())
        return answer(schedule_out(row, with_times=True))

    @described("No longer start by itself", status=204, tag="jobs")
    def delete(self, request: Request, job_name: str) -> Response:
        schedule_delete(job=job_get(user=self.user(), job_name=job_name), user=self.user())
        return Response(status=204)


def _seen(request: Request) -> str | None:
    if request.headers.get("If-None-Match") == "*":
        return ""
    seen = request.headers.get("If-Match")
    return seen and seen.strip().strip('"')


class ScheduleTimesView(ApiView):
    @described(
        "The next five times of a CRON expression, in times and in words; nothing is kept",
        responds=ScheduleTimesOut,
        tag="jobs",
        query=[asked("cron_expression", "Five fields."), asked("time_zone", "Such as Europe/Berlin; UTC without it.")],
    )
    def get(self, request: Request) -> Response:
        expression = request.query_params.get("cron_expression", "").strip()[:100]
        zone = request.query_params.get("time_zone", "UTC")[:64]
        problems = schedule_problems(ScheduleType.CRON, expression, zone)
        return answer(ScheduleTimesOut(problems=problems) if problems else schedule_times(expression, zone))
