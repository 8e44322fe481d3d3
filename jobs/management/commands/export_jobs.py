"""Writes every job into a folder, one file a job."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Literal

from django.core.management.base import BaseCommand, CommandError

from jobs.dag.writing import document_text
from jobs.models import Job, Project
from jobs.services.jobs import job_documents


class Command(BaseCommand):
    help = "Export the current version (or the draft) of every job and how it is drawn as JSON or YAML, one file a job."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="the folder; made where it does not exist")
        parser.add_argument("--format", choices=("json", "yaml"), default="json")
        parser.add_argument("--project", default="", help="only jobs of this project")

    def handle(self, *args: Any, path: Path, format: Literal["json", "yaml"], project: str, **options: Any) -> None:
        if project and not Project.objects.filter(slug=project).exists():
            raise CommandError(f'there is no project "{project}"')
        path.mkdir(parents=True, exist_ok=True)
        jobs = Job.objects.filter(deleted_at=None).order_by("job_name")
        chosen = list(jobs.filter(project__slug=project) if project else jobs)
        for job, document in zip(chosen, job_documents(chosen), strict=True):
            file = path / f"{job.job_name}.{format}"
            file.write_text(document_text(document, format), encoding="utf-8")
            self.stdout.write(str(file))
