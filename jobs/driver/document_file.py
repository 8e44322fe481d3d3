"""A document in a file, for commands that work without the web part."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandError
from rich.console import Console

from jobs.dag.document import DagDocument, parse_document
from jobs.dag.importing import import_document
from jobs.dag.problems import Problem
from jobs.nodes.registry import REGISTRY

#: Exit code of a command whose document has Problems.
HAS_PROBLEMS = 2


def document_read(path: Path) -> tuple[DagDocument | None, list[Problem]]:
    """The document in the file (JSON, YAML or the linear shorthand) and its Problems; CommandError where there is no file to read."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}", returncode=HAS_PROBLEMS) from None
    imported = import_document(raw, REGISTRY.catalogue())
    if imported.document is None:
        return None, imported.problems
    document, problems = parse_document(imported.document)
    return document, imported.problems or problems


def problems_told(console: Console, problems: list[Problem]) -> int:
    """Print each Problem on a line; the exit code for that."""
    for problem in problems:
        console.print(f"{problem.severity} {problem.code} {problem.pointer or '/'}: {problem.message}", markup=False)
    return HAS_PROBLEMS
