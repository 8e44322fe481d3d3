"""Documents, users and rows that tests of the doors begin with."""

import json
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.test import Client

from checkpoints.models import Checkpoint, CheckpointOrigin, CheckpointStatus, CheckpointType
from jobs.models import Event, Execution, ExecutionStatus, Job, MetricSample, Project, ProjectMember, RejectedRow, Role
from jobs.services.jobs import job_create


def member(project: Project, name: str, role: Role) -> User:
    user = User.objects.create_user(name, password="correct horse battery")
    ProjectMember.objects.create(project=project, user=user, role=role)
    return user


def chain(name: str = "numbers", *, rows: int = 100, job_type: str = "STREAMING", **extra: Any) -> dict[str, Any]:
    """A generator into a print sink: the shortest document that can run."""
    return {
        "schema_version": 1,
        "name": name,
        "type": job_type,
        "nodes": {
            "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": rows}},
            "out": {"type": "sink.print", "name": "Out", "config": {}},
        },
        "edges": {"e1": {"from": ["numbers", "out"], "to": ["out", "in"]}},
        **extra,
    }


def job(user: User, name: str = "numbers", **given: Any) -> Job:
    return job_create(user=user, document=chain(name), **given)


def execution(of: Job, status: str = ExecutionStatus.COMPLETED, **given: Any) -> Execution:
    values = {"job_name": of.job_name, "job_type": of.job_type, "version": of.version or 1, "generation": uuid4(), "triggered_by": "MANUAL"}
    return Execution.objects.create(job=of, status=status, **{**values, **given})


def history(of: Execution) -> None:
    """An event, a sample, a rejected row and a checkpoint."""
    from django.utils import timezone

    Event.objects.create(execution=of, seq=1, time=timezone.now(), kind="triggered")
    Execution.objects.filter(pk=of.pk).update(seq=1)
    MetricSample.objects.create(execution=of, resolution=1, time=timezone.now(), rows_in=5)
    RejectedRow.objects.create(
        execution=of, node_id="numbers", generation=of.generation, query="out", batch_id=0, ordinal=0, reason="bad", row="{}"
    )
    checkpoint(of)


def checkpoint(of: Execution, number: int = 1, status: str = CheckpointStatus.COMPLETED) -> Checkpoint:
    return Checkpoint.objects.create(
        execution=of,
        generation=of.generation,
        checkpoint_id=number,
        checkpoint_type=CheckpointType.STREAMING,
        origin=CheckpointOrigin.INTERVAL,
        status=status,
    )


def send(client: Client, method: str, path: str, body: Any = None, **headers: str) -> Any:
    """The answer to a JSON request."""
    data = json.dumps(body) if body is not None else ""
    return client.generic(method, path, data, content_type="application/json", headers=headers or None)


def codes(answer: Any) -> Iterable[str]:
    return [problem["code"] for problem in answer.json()["error"]["problems"]]
