"""Runs the tests of one document without the web part and without any of its systems."""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from jobs.dag.document import DagDocument
from jobs.dag.problems import errors_in
from jobs.driver.document_file import HAS_PROBLEMS, document_read, problems_told
from jobs.driver.spark import spark_silenced, spark_start
from jobs.engine.pipeline_test import MOST_SECONDS, pipeline_test_run
from jobs.engine.result_lines import result_lines

FAILED = 1


class Command(BaseCommand):
    help = "Runs the tests of one document (JSON or YAML). Exit code 0: all passed, 1: one failed, 2: the document has Problems."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the document")
        parser.add_argument("--test", metavar="NAME", help="run only the test of this name")
        parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help=f"what one test may take ({MOST_SECONDS:g})")

    def handle(self, *args: Any, **options: Any) -> None:
        with ExitStack() as stack:
            code = _run(Console(highlight=False, soft_wrap=True), options, stack)
        if code:
            raise SystemExit(code)


def _run(console: Console, options: Mapping[str, Any], stack: ExitStack) -> int:
    if not options["seconds"] > 0:
        raise CommandError("--seconds must be more than 0", returncode=HAS_PROBLEMS)
    document, problems = document_read(options["file"])
    if document is None or errors_in(problems):
        return problems_told(console, problems)
    numbers = _chosen(document, options["test"])
    with console.status("starting Spark"):
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pipeline-web-")))
        spark = spark_start(folder, memory=settings.SPARK_DRIVER_MEMORY)
        stack.callback(spark.stop)
        stack.enter_context(spark_silenced(spark, folder, traces=options["traceback"]))
    statuses = []
    for number in numbers:
        with console.status(document.tests[number].name):
            seconds = options["seconds"]
            result = pipeline_test_run(spark, document, number, folder=folder / "tests", seconds=seconds, code_seconds=seconds / 2)
        for line in result_lines(result):
            console.print(line, markup=False)
        statuses.append("problems" if result.problems else result.status)
    tests = "test" if len(statuses) == 1 else "tests"
    console.print(f"{document.name}: {statuses.count('passed')} of {len(statuses)} {tests} passed")
    if "problems" in statuses:
        return HAS_PROBLEMS
    return 0 if set(statuses) <= {"passed"} else FAILED


def _chosen(document: DagDocument, name: str | None) -> list[int]:
    """Numbers of the tests to run."""
    if not document.tests:
        raise CommandError(f"{document.name} has no tests", returncode=HAS_PROBLEMS)
    chosen = [number for number, test in enumerate(document.tests) if name in (None, test.name)]
    if not chosen:
        known = ", ".join(f'"{test.name}"' for test in document.tests)
        raise CommandError(f'there is no test "{name}"; there are {known}', returncode=HAS_PROBLEMS)
    return chosen
