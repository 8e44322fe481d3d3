"""Savepoints that leave one installation's disk as archives and go on in jobs on another, in real drivers."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from checkpoints.models import Checkpoint
from jobs.models import Connection, Execution, Job, Project
from jobs.services.executions import checkpoint_request, execution_cancel, execution_restore
from jobs.services.jobs import job_create
from tests.checkpoints.archives import exported, imported
from tests.checkpoints.test_checkpoint_api import send, signed_in
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.spark, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(600)]

Start = Callable[..., Execution]


def made(user: User, name: str, target: Path, *, stateful: bool) -> Job:
    """Numbers from 0 into a table; or how many there were of each key, and the largest of them."""
    Connection.objects.get_or_create(
        project=Project.objects.get(slug="default"), name=target.parent.name, defaults={"kind": "sqlite", "config": {"path": str(target)}}
    )
    source = {"total_rows": None, "rows_per_second": 100, "rows_per_batch": 50}
    out: dict[str, Any] = {"connection": target.parent.name, "table": name.replace("-", "_")}
    nodes: dict[str, Any] = {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": source},
        "out": {"type": "sink.jdbc", "name": "Out", "config": out | ({"mode": "upsert", "keys": ["key"]} if stateful else {})},
    }
    edges: dict[str, Any] = {"e1": {"from": ["numbers", "out"], "to": ["out", "in"]}}
    if stateful:
        aggregates = [{"name": "n", "function": "count"}, {"name": "newest", "function": "max", "column": "id"}]
        nodes["per"] = {"type": "flow.aggregate", "name": "Per key", "config": {"group_by": ["key"], "aggregates": aggregates}}
        edges = {"e1": {"from": ["numbers", "out"], "to": ["per", "in"]}, "e2": {"from": ["per", "out"], "to": ["out", "in"]}}
    settings = {"trigger_interval": "200ms", "parallelism": 1, "checkpoint_interval": "0s"}
    document = {"schema_version": 1, "name": name, "type": "STREAMING", "nodes": nodes, "edges": edges, "settings": settings}
    return job_create(user=user, document=document)


def rows(target: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(target, timeout=20) as opened:
        try:
            return opened.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []


def counted(target: Path, table: str) -> tuple[int, int]:
    """How many numbers the table has heard of, and which is the newest; one row a key."""
    found = rows(target, f"SELECT coalesce(sum(n), 0), coalesce(max(newest), -1) FROM {table}")
    return found[0] if found else (0, -1)


def next_number(checkpoint: Checkpoint) -> int:
    return int(checkpoint.state_data["sources"]["numbers"]["next"])


def installed(settings: Any, folder: Path) -> Path:
    """This process looks at that installation's disk from now on."""
    folder.mkdir()
    settings.DATA_DIR, settings.CHECKPOINT_ROOT = folder, folder / "checkpoints"
    return folder / "target.sqlite3"


@pytest.mark.faults
def test_jobs_with_and_without_state_go_on_elsewhere_without_a_row_lost_or_doubled(
    database_url: str, user: User, start: Start, tmp_path: Path, settings: Any
) -> None:
    client: Client = signed_in(user)
    here = installed(settings, tmp_path / "here")
    with Worker(database_url=database_url, data=tmp_path / "here"):
        executions = [start(made(user, name, here, stateful=name == "sums")) for name in ("lines", "sums")]
        wait_until(lambda: len(rows(here, "SELECT id FROM lines")) > 100 and counted(here, "sums")[0] > 100, seconds=150, what="rows")
        for execution in executions:
            checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user, savepoint=True)
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").count() == 2, seconds=60, what="two savepoints")
        for execution in executions:
            execution_cancel(execution=execution, user=user)
            status_reached(execution, "CANCELLED")
    taken = {name: Checkpoint.objects.get(execution__job_name=name, is_savepoint=True) for name in ("lines", "sums")}
    archives = {name: exported(client, checkpoint.pk) for name, checkpoint in taken.items()}

    there = installed(settings, tmp_path / "there")
    for name in ("lines", "sums"):
        made(user, f"{name}-there", there, stateful=name == "sums")
    brought = {name: imported(client, f"{name}-there", archive) for name, archive in archives.items()}
    with Worker(database_url=database_url, data=tmp_path / "there", name="w2"):
        for one in brought.values():
            found = client.get(f"/api/checkpoints/{one['id']}/precheck").json()
            assert found["ok"], found["checks"]
            execution_restore(checkpoint=Checkpoint.objects.get(pk=one["id"]), user=user)
        begun = {name: next_number(checkpoint) for name, checkpoint in taken.items()}
        wait_until(lambda: len(rows(there, "SELECT id FROM lines_there")) > 100, seconds=150, what="rows of the stateless job")
        wait_until(lambda: counted(there, "sums_there")[1] > begun["sums"] + 100, seconds=150, what="rows of the stateful job")
        for execution in Execution.objects.filter(triggered_by="RESTORE"):
            execution_cancel(execution=status_reached(execution, "RUNNING"), user=user)
            status_reached(execution, "CANCELLED")
    found_there = [row[0] for row in rows(there, "SELECT id FROM lines_there ORDER BY id")]
    assert found_there == list(range(begun["lines"], begun["lines"] + len(found_there)))
    total, newest = counted(there, "sums_there")
    assert total == newest + 1, "what the state held when it left is part of every sum"


@pytest.mark.faults
def test_a_source_of_ours_goes_on_from_the_position_that_was_set(
    database_url: str, user: User, start: Start, tmp_path: Path, settings: Any
) -> None:
    client: Client = signed_in(user)
    here = installed(settings, tmp_path / "here")

    def lines() -> list[int]:
        return [row[0] for row in rows(here, "SELECT id FROM lines ORDER BY id")]

    with Worker(database_url=database_url, data=tmp_path / "here"):
        execution = start(made(user, "lines", here, stateful=False))
        wait_until(lambda: len(lines()) > 100, seconds=150, what="rows")
        checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user, savepoint=True)
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").exists(), seconds=60, what="a savepoint")
        execution_cancel(execution=execution, user=user)
        status_reached(execution, "CANCELLED")
        before = lines()
        checkpoint = Checkpoint.objects.get(is_savepoint=True)
        body = {"sources": {"numbers": {"to": "values", "values": {"next": 40}}}, "dry_run": False}
        edited = send(client, "POST", f"/api/checkpoints/{checkpoint.pk}/positions", body)["checkpoint"]
        again = execution_restore(checkpoint=Checkpoint.objects.get(pk=edited["id"]), user=user)
        wait_until(lambda: len(lines()) > len(before) + 100, seconds=150, what="rows read again")
        execution_cancel(execution=status_reached(again, "RUNNING"), user=user)
        status_reached(again, "CANCELLED")
    added = len(lines()) - len(before)
    assert lines() == sorted([*before, *range(40, 40 + added)])
