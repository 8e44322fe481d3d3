"""Runs one document without the web part: the same engine, a progress bar and the result on the terminal."""

from __future__ import annotations

import tempfile
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from django import db
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from pydantic import BaseModel, TypeAdapter, ValidationError
from rich.console import Console

from jobs.dag.document import DagDocument
from jobs.dag.problems import errors_in
from jobs.driver.document_file import HAS_PROBLEMS, document_read, problems_told
from jobs.driver.run_folder import KeptRun, run_keep, run_to_keep
from jobs.driver.spark import spark_silenced, spark_start
from jobs.engine.compiler import PlanInvalid, plan_compile, settings_resolve
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Locations, Plan
from jobs.engine.runner import Run
from jobs.engine.terminal import Display
from jobs.engine.validation import analyse
from jobs.models import Project
from jobs.nodes.base import ConnectionSettings, Limits
from jobs.services.connections import connections_open
from jobs.services.limits import project_limits

COMPLETED, FAILED = 0, 1
_POLL_SECONDS = 0.2


class _Given(BaseModel):
    """A connection in a file of connections."""

    kind: str
    config: dict[str, Any] = {}
    secrets: dict[str, Any] = {}


_GIVEN = TypeAdapter(dict[str, _Given])


class Command(BaseCommand):
    help = "Runs one document (JSON or YAML). Exit code 0: completed or stopped, 1: failed, 2: the document has Problems."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the document")
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="value of a parameter; may be repeated")
        parser.add_argument(
            "--connections", type=Path, metavar="FILE", help="JSON {name: {kind, config, secrets}} instead of the database's connections"
        )
        parser.add_argument("--project", default="default", help="whose connections of the database and whose folders to use")
        parser.add_argument(
            "--live",
            type=Path,
            metavar="FOLDER",
            help="keep the position in FOLDER and go on from it the next time",
        )
        parser.add_argument("--rejected", type=int, default=5, metavar="N", help="show at most N rejected rows of a node and batch")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(highlight=False, soft_wrap=True)
        with ExitStack() as stack:
            code = _run(console, options, stack)
        if code:
            raise SystemExit(code)


def _run(console: Console, options: Mapping[str, Any], stack: ExitStack) -> int:
    document, problems = document_read(options["file"])
    project = _project(options["project"])
    connections = _connections(options, project)
    limits = project_limits(project)
    if document is None or errors_in(problems):
        return problems_told(console, problems)
    with console.status("starting Spark"):
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pipeline-web-")))
        spark = spark_start(folder, memory=settings.SPARK_DRIVER_MEMORY)
        stack.callback(spark.stop)
        stack.enter_context(spark_silenced(spark, folder, traces=options["traceback"]))
        parameters = _parameters(options["param"])
        found = analyse(spark, document, connections=connections, limits=limits, parameters=parameters)
    if found.problems:
        problems_told(console, found.problems)
    if errors_in(found.problems):
        return HAS_PROBLEMS
    root = (options["live"] or folder / "live").resolve()
    try:
        run, warnings = run_to_keep(root, document, parameters)
        plan = _plan(document, run, connections, limits, parameters, root)
    except PlanInvalid as error:
        return problems_told(console, error.problems)
    problems_told(console, [change.problem for change in warnings])
    run_keep(root, run)
    code, outcome = _execute(console, spark, plan, rejected=options["rejected"], trace=options["traceback"])
    run_keep(root, replace(run, is_completed=outcome == "completed"))
    return code


def _execute(console: Console, spark: Any, plan: Plan, *, rejected: int, trace: bool) -> tuple[int, str]:
    """Exit code and outcome. Ctrl-C ends at the batch boundary, a second one at once. `trace`: a failure is shown with its traceback."""
    display = Display(console, plan, rejected_shown=rejected)
    run = Run(spark, plan, display.hear, log=display.logger)
    begun = time.monotonic()
    with display:
        run.start()
        while True:
            try:
                outcome = run.wait(_POLL_SECONDS)
            except KeyboardInterrupt:
                display.stopping()
                run.interrupt() if display.stops > 1 else run.stop()
                continue
            except ExecutionFailure as failure:
                display.failed(failure, trace=trace)
                return FAILED, "failed"
            if outcome is not None:
                break
    display.result(outcome, time.monotonic() - begun)
    return COMPLETED, outcome


def _project(slug: str) -> Project:
    """As the installation has it; without an installation, one that uses its shared folders and has no connections."""
    if not _has_installation():
        return Project(slug=slug, shares_files=True)
    found = Project.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f'there is no project "{slug}"', returncode=HAS_PROBLEMS)
    return found


def _has_installation() -> bool:
    """CommandError where its database does not answer; SQLite's cannot be opened where there is none."""
    try:
        return Project._meta.db_table in db.connection.introspection.table_names()
    except db.Error as error:
        if db.connection.vendor == "sqlite":
            return False
        told = f"the database does not answer: {str(error).splitlines()[0]}"
        raise CommandError(told, returncode=HAS_PROBLEMS) from None


def _connections(options: Mapping[str, Any], project: Project) -> Mapping[str, ConnectionSettings]:
    if options["connections"]:
        try:
            given = _GIVEN.validate_json(options["connections"].read_bytes())
        except OSError as error:
            raise CommandError(f"{options['connections']} cannot be read: {error.strerror}", returncode=HAS_PROBLEMS) from None
        except ValidationError as error:
            told = f"{options['connections']} holds no connections: {_first_fault(error)}"
            raise CommandError(told, returncode=HAS_PROBLEMS) from None
        return {name: ConnectionSettings(name, one.kind, one.config, one.secrets) for name, one in given.items()}
    return connections_open(project.pk) if project.pk else {}


def _first_fault(error: ValidationError) -> str:
    """Without the values: a secret may be among them."""
    first = error.errors(include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _parameters(given: list[str]) -> dict[str, str]:
    parameters = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"--param {text}: write NAME=VALUE", returncode=HAS_PROBLEMS)
        parameters[name] = value
    return parameters


def _plan(
    document: DagDocument,
    run: KeptRun,
    connections: Mapping[str, ConnectionSettings],
    limits: Limits,
    parameters: Mapping[str, Any],
    root: Path,
) -> Plan:
    return plan_compile(
        document,
        job_uid=str(uuid.uuid5(uuid.NAMESPACE_URL, f"pipeline-web:run_job:{document.name}")),
        generation=run.generation,
        attempt=int(time.time()),
        fresh=True,
        parameters=parameters,
        settings=settings_resolve(document, {}),
        connections=connections,
        locations=Locations(live=root / run.generation, work=root / run.generation / "work"),
        limits=limits,
        is_run=True,
    )
