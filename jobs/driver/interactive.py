"""Answers the editor's questions: what is wrong with a document, what a node's rows look like, and whether its tests pass."""

import logging
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import close_old_connections
from pyspark.sql import SparkSession
from redis.exceptions import RedisError

from jobs.dag.document import DagDocument, parse_document
from jobs.dag.samples import SampleRows
from jobs.driver.answer_threads import AnswerThreads
from jobs.driver.checkpoint_state import state_answer
from jobs.driver.exits import SPARK_DIED
from jobs.driver.process import DriverProcess
from jobs.engine.compiler import PlanInvalid
from jobs.engine.pipeline_test import MOST_SECONDS, pipeline_test_run, result_data
from jobs.engine.preview import preview
from jobs.engine.script.program import script_write
from jobs.engine.user_code import Cancelled, time_limit
from jobs.engine.validation import analyse
from jobs.models import Job, Project
from jobs.nodes.base import Limits
from jobs.queue import (
    INTERACTIVE_LANES,
    interactive_answer,
    interactive_give_back,
    interactive_is_cancelled,
    interactive_lane,
    interactive_take,
    redis_client,
)
from jobs.services.connections import connections_closed, connections_open
from jobs.services.limits import project_limits

logger = logging.getLogger(__name__)

#: Tests, state and scripts take their time, and a preview may: each kind has threads of its own, so that who draws does not wait for them.
_AT_ONCE = {lane: 2 if lane in ("validate", "quick") else 1 for lane in INTERACTIVE_LANES}
_CANCEL_POLL_SECONDS = 0.5
#: So long after an error the JVM that it brings down may still be there.
_END_SECONDS = 2.0
#: A driver that gives itself up first tells those whose questions it works at: what they wait for fails soon where Spark is gone.
_LAST_ANSWERS_SECONDS = 10.0
SPARK_ENDED = (
    "Spark ended while it worked on this, most likely because its memory ran out; it starts anew: ask again in some seconds, "
    "with fewer rows or smaller values"
)


def answer_for_ever(process: DriverProcess) -> None:
    """Until the process is to end; questions that are being answered then get no answer, unless it gives itself up.

    Redis may come and go.

    A question is taken once there is a thread for it: until then another driver may, or who asked takes it back.
    """
    threads = AnswerThreads(_AT_ONCE)
    while _answers(process):
        try:
            with redis_client() as client:
                while _answers(process):
                    lanes, seconds = threads.free(timeout=1.0)
                    if not lanes or not (request := interactive_take(client, timeout=seconds, lanes=lanes)):
                        continue
                    if _answers(process):
                        threads.answer(interactive_lane(request["kind"]), _answer, process, request, time.monotonic())
                    else:  # the end came while the next one was waited for
                        interactive_give_back(client, request)
        except RedisError as error:
            logger.warning("questions cannot be heard: %s", error)
            time.sleep(1.0)
    if process.spark_died():
        process.give_up("Spark's JVM ended")
    threads.end(seconds=_LAST_ANSWERS_SECONDS if process.exit_code else 0)


def _answers(process: DriverProcess) -> bool:
    return not process.is_stopping() and not process.spark_died()


class Cancellation:
    """Whether nobody waits for an answer any more: its time is over, or Redis, which is asked now and then, says that it was cancelled.

    Once cancelled it stays so; while Redis is away it is not.
    """

    def __init__(self, request: Mapping[str, Any], taken: float) -> None:
        self._until = taken + request.get("seconds", math.inf)
        self._request_id: str = request["id"]
        self._asks = bool(request.get("cancellable"))
        self._next = 0.0
        self._cancelled = False

    def __call__(self) -> bool:
        if self._asks and not self._cancelled and time.monotonic() >= self._next:
            self._next = time.monotonic() + _CANCEL_POLL_SECONDS
            try:
                with redis_client() as client:
                    self._cancelled = interactive_is_cancelled(client, self._request_id)
            except RedisError as error:
                logger.info("whether %s was cancelled cannot be asked: %s", self._request_id, error)
        return self._cancelled or time.monotonic() > self._until


def _answer(process: DriverProcess, request: Mapping[str, Any], taken: float) -> None:
    is_cancelled = Cancellation(request, taken)
    if is_cancelled():
        return
    try:
        close_old_connections()
        asked = taken - request.get("waited", 0.0)
        answer: dict[str, Any] = {"result": _result(process, request["kind"], request["payload"], asked, is_cancelled)}
    except Cancelled:
        return
    except Exception as error:
        logger.exception("a question of kind %s", request.get("kind"))
        answer = {"error": f"{type(error).__name__}: {error}"}
    if _went_wrong(answer) and _spark_ended(process, answer):
        process.give_up("Spark's JVM ended", SPARK_DIED)  # no other question is to be taken here
        answer = {"error": SPARK_ENDED}
    try:
        with redis_client() as client:
            interactive_answer(client, request["id"], answer)
    except RedisError as error:
        logger.warning("an answer could not be given: %s", error)


def _went_wrong(answer: Mapping[str, Any]) -> bool:
    result = answer.get("result", {})
    return "error" in answer or bool(result.get("problems")) or any(test["status"] == "error" for test in result.get("results", ()))


def _spark_ended(process: DriverProcess, answer: Mapping[str, Any]) -> bool:
    """Whether what went wrong is Spark's end, of which the answer tells what it left behind. It may follow the error that causes it."""
    until = time.monotonic() + (_END_SECONDS if "error" in answer or "OutOfMemoryError" in str(answer) else 0)
    while not process.spark_ends():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def _result(process: DriverProcess, kind: str, payload: Mapping[str, Any], asked: float, is_cancelled: Cancellation) -> dict[str, Any]:
    """`asked`: when, by the monotonic clock."""
    if kind == "state":
        return state_answer(process.spark, payload, deadline=asked + payload["seconds"])
    document, problems = parse_document(payload["document"])
    if document is None:
        return {"problems": [problem.model_dump() for problem in problems]}
    if kind == "test":
        return _tests(process, document, payload, asked, is_cancelled)
    if kind == "preview":
        return _preview(process, document, payload, is_cancelled)
    with _ended_with(process.spark, kind, is_cancelled):
        return _script(process, document, payload) if kind == "script" else _validate(process, document, payload, is_cancelled)


@contextmanager
def _ended_with(spark: SparkSession, kind: str, is_cancelled: Cancellation) -> Iterator[None]:
    """What Spark reads for an answer, such as files for their columns, ends when nobody waits for it."""
    group = f"{kind}-{uuid4()}"
    spark.sparkContext.setJobGroup(group, kind, interruptOnCancel=True)
    try:
        with time_limit(spark, group, None, is_cancelled):
            yield
    finally:  # this thread's next question must not be cancelled with it
        for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
            spark.sparkContext.setLocalProperty(name, None)  # type: ignore[arg-type]


def _script(process: DriverProcess, document: DagDocument, payload: Mapping[str, Any]) -> dict[str, Any]:
    try:
        written = script_write(
            process.spark,
            document,
            connections=connections_closed(payload["project_id"]),
            limits=_limits(payload),
            parameters=payload.get("parameters") or {},
        )
    except PlanInvalid as error:
        return {"problems": [problem.model_dump() for problem in error.problems]}
    return {"problems": [problem.model_dump() for problem in written.problems], "text": written.text}


def _tests(
    process: DriverProcess, document: DagDocument, payload: Mapping[str, Any], asked: float, is_cancelled: Cancellation
) -> dict[str, Any]:
    """The time that the questioner waits is shared among the tests: for those that come too late there is none left."""
    deadline = asked + payload["seconds"]
    results = [
        pipeline_test_run(
            process.spark,
            document,
            number,
            folder=settings.DATA_DIR / "tests",
            owner=f"project {payload['project_id']}",
            seconds=min(MOST_SECONDS, deadline - time.monotonic()),
            code_seconds=settings.PREVIEW_CODE_SECONDS,
            cancelled=lambda: process.is_stopping() or is_cancelled(),
        )
        for number, test in enumerate(document.tests)
        if payload.get("test") in (None, test.name) and not is_cancelled()
    ]
    if any(result.hanging for result in results):
        process.give_up("a test of a job cannot be ended")
    return {"problems": [], "results": [result_data(result, rows=payload.get("rows", False)) for result in results]}


def _validate(process: DriverProcess, document: DagDocument, payload: Mapping[str, Any], is_cancelled: Cancellation) -> dict[str, Any]:
    found = analyse(
        process.spark,
        document,
        connections=connections_open(payload["project_id"]),
        limits=_limits(payload),
        parameters=payload.get("parameters") or {},
        job_uid=_job_uid(document, payload),
        is_cancelled=is_cancelled,
    )
    return {"problems": [problem.model_dump() for problem in found.problems], "schemas": found.schemas}


def _preview(process: DriverProcess, document: DagDocument, payload: Mapping[str, Any], is_cancelled: Cancellation) -> dict[str, Any]:
    try:
        tables = preview(
            process.spark,
            document,
            payload["node_id"],
            rows=payload.get("rows", 50),
            connections=connections_open(payload["project_id"]),
            limits=_limits(payload),
            parameters=payload.get("parameters") or {},
            samples={source: SampleRows.model_validate(sample) for source, sample in payload.get("samples", {}).items()},
            job_uid=_job_uid(document, payload),
            workers=f"project {payload['project_id']}",
            code_seconds=settings.PREVIEW_CODE_SECONDS,
            is_cancelled=is_cancelled,
        )
    except PlanInvalid as error:
        return {"problems": [problem.model_dump() for problem in error.problems]}
    inputs = {name: _side(table) for name, table in tables.pop("inputs").items()}
    ports = {port: _side(table) for port, table in tables.pop("ports").items()}
    told = {name: tables.pop(name) for name in ("not_acted", "given", "printed", "supposed")}
    sides = {name: _side(table) for name, table in tables.items() if table is not None}
    return {
        "problems": [],
        **told,
        "in": inputs,
        "out": ports | {port: sides[name] for port, name in (("out", "out"), ("errors", "rejected")) if name in sides},
    }


def _limits(payload: Mapping[str, Any]) -> Limits:
    return project_limits(Project.objects.get(pk=payload["project_id"]))


def _job_uid(document: DagDocument, payload: Mapping[str, Any]) -> str:
    """Of the job that the document was drawn for, "" where it is not saved yet."""
    found = Job.objects.filter(project_id=payload["project_id"], job_name=document.name, deleted_at=None).values_list("job_uid", flat=True)
    return str(found[0]) if found else ""


def _side(table: Mapping[str, Any]) -> dict[str, Any]:
    """Rows as lists in the order of the columns."""
    names = [column["name"] for column in table["columns"]]
    columns = [{"name": column["name"], "type": column["type"], "nullable": column.get("nullable", True)} for column in table["columns"]]
    rows = [[row.get(name) for name in names] for row in table["rows"]]
    return {"columns": columns, "rows": rows, "more": table["more"], "cut": table["cut"]}
