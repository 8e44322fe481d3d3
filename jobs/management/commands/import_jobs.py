"""Makes or updates jobs from files, one file a job."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from jobs.dag.problems import Problem
from jobs.management.commands.load_examples import user_found
from jobs.selectors.refusals import Refusal
from jobs.services.imports import job_import

SUFFIXES = (".json", ".yaml", ".yml")


class Command(BaseCommand):
    help = "Import jobs from JSON or YAML: a file, or every such file of a folder. A job that exists gets a new version."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--user", default="", help="who acts; else the first active superuser")
        parser.add_argument("--project", default="", help="where new jobs go; a job that exists elsewhere is refused")
        parser.add_argument("--draft", action="store_true", help="save drafts only, publish nothing")
        parser.add_argument("--overwrite-drafts", action="store_true", help="also where a draft has changes that are not published")

    def handle(self, *args: Any, path: Path, user: str, project: str, draft: bool, overwrite_drafts: bool, **options: Any) -> None:
        actor = user_found(user)
        files, failed = files_of(path), 0
        for file in files:
            try:
                imported = job_import(
                    user=actor, raw=file.read_bytes(), project=project, publish=not draft, overwrite_drafts=overwrite_drafts
                )
            except Refusal as refusal:
                failed += 1
                self._tell(self.stderr, f"{file}: {refusal.message}", refusal.problems)
            else:
                self._tell(self.stdout, f"{file}: {imported.done}", imported.problems)
                for proposed in imported.connections:
                    secrets = f", secrets {', '.join(proposed.secrets)}" if proposed.secrets else ""
                    config = json.dumps(dict(proposed.config), ensure_ascii=False)
                    self.stdout.write(f'  connection "{proposed.name}": kind {proposed.kind}, {config}{secrets}')
        if failed:
            raise CommandError(f"{failed} of {len(files)} files could not be imported")

    def _tell(self, output: OutputWrapper, line: str, problems: Sequence[Problem]) -> None:
        output.write(line)
        for problem in problems:
            output.write(f"  {problem.severity} {problem.code} {problem.pointer or '/'}: {problem.message}")


def files_of(path: Path) -> list[Path]:
    """The file itself, or the documents of the folder by name; CommandError where there is nothing."""
    if path.is_file():
        return [path]
    found = sorted(entry for entry in path.glob("*") if entry.suffix.lower() in SUFFIXES) if path.is_dir() else []
    if not found:
        raise CommandError(f"{path}: there is no JSON or YAML file")
    return found
