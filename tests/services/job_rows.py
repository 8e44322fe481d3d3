"""Jobs, users and drivers as rows, for tests of what runs them."""

import json
from typing import Any

from django.contrib.auth.models import User

from jobs.dag.document import canonical_json, logic_hash, parse_document
from jobs.models import Driver, DriverKind, DriverStatus, Job, JobVersion, Project


def operator(name: str = "olga") -> User:
    return User.objects.filter(username=name).first() or User.objects.create_superuser(name, password="x" * 12)


def document_with(*, name: str, job_type: str = "STREAMING", rows: int = 100, **settings: Any) -> dict[str, Any]:
    """A generator into a print sink."""
    return {
        "schema_version": 1,
        "name": name,
        "type": job_type,
        "parameters": {"floor": {"type": "integer", "default": 0}},
        "nodes": {
            "numbers": {"type": "source.generator", "type_version": 1, "name": "Numbers", "config": {"total_rows": rows}},
            "out": {"type": "sink.print", "type_version": 1, "name": "Out", "config": {}},
        },
        "edges": {"e1": {"from": ["numbers", "out"], "to": ["out", "in"]}},
        "settings": settings,
    }


def job_row(name: str = "numbers", job_type: str = "STREAMING", **settings: Any) -> Job:
    """A job with version 1."""
    project, _ = Project.objects.get_or_create(slug="default", defaults={"title": "Default"})
    job = Job.objects.create(project=project, job_name=name, job_type=job_type)
    return version_add(job, document_with(name=name, job_type=job_type, **settings))


def version_add(job: Job, raw: dict[str, Any]) -> Job:
    document, problems = parse_document(json.dumps(raw))
    assert document is not None, problems
    number = (job.version or 0) + 1
    JobVersion.objects.create(job=job, version=number, dag_definition=canonical_json(document), logic_hash=logic_hash(document))
    job.version = number
    job.save()
    return job


def driver_row(host: str = "here", pid: int = 1, kind: str = DriverKind.SHARED) -> Driver:
    return Driver.objects.create(kind=kind, status=DriverStatus.READY, worker="w", host=host, pid=pid, slots=30)
