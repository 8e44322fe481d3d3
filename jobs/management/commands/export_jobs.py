"""Writes every job into a folder, one file a job."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand

from jobs.models import Job
from jobs.services.jobs import job_document


class Command(BaseCommand):
    help = "Export the current version (or the draft) of every job as JSON or YAML, one file a job."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="the folder; made where it does not exist")
        parser.add_argument("--format", choices=("json", "yaml"), default="json")
        parser.add_argument("--project", default="", help="only jobs of this project")

    def handle(self, *args: Any, path: Path, format: str, project: str, **options: Any) -> None:
        path.mkdir(parents=True, exist_ok=True)
        jobs = Job.objects.filter(deleted_at=None).order_by("job_name")
        for job in jobs.filter(project__slug=project) if project else jobs:
            file = path / f"{job.job_name}.{format}"
            file.write_text(document_text(job_document(job), format), encoding="utf-8")
            self.stdout.write(str(file))


def document_text(document: dict[str, Any], chosen: str) -> str:
    """`document` as the text of a JSON or YAML file."""
    if chosen == "yaml":
        return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
