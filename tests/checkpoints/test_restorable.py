"""Which checkpoints hold back the files that a source would put away."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from checkpoints.models import Checkpoint
from checkpoints.restorable import folders_restorable
from checkpoints.storages import folder_of
from jobs.models import Execution, Job, Role
from jobs.selectors.graph_comparisons import reaches
from tests.checkpoints.kept import execution_row, kept
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.services.job_rows import document_with, job_row, version_add

pytestmark = pytest.mark.django_db
READ = {"numbers": {"next": 20}, "files": {"logOffset": 0}}


def with_files(job: Job) -> Job:
    """The next version: files go to the sink beside the numbers, and to one of their own."""
    document = document_with(name=job.job_name)
    document["nodes"]["files"] = {"type": "source.file", "name": "Files", "config": {"path": "in", "format": "csv"}}
    document["nodes"]["own"] = document["nodes"]["out"] | {"name": "Own"}
    document["nodes"]["other"] = document["nodes"]["out"] | {"name": "Other"}
    document["edges"] |= {
        "e2": {"from": ["files", "out"], "to": ["out", "in"]},
        "e3": {"from": ["files", "out"], "to": ["own", "in"]},
        "e4": {"from": ["numbers", "out"], "to": ["other", "in"]},
    }
    return version_add(job, document)


@pytest.fixture
def execution() -> Execution:
    return execution_row(with_files(job_row()), version=2)


def taken(execution: Execution, sources: dict[str, Any], **batches: int) -> Checkpoint:
    """A checkpoint with these positions, each query named as its sink."""
    row = kept(execution)
    queries = {sink: {"batch_id": batch, "sinks": [sink]} for sink, batch in ({"out": 1} | batches).items()}
    Checkpoint.objects.filter(pk=row.pk).update(state_data={"sources": sources}, queries=queries)
    return row


def asked(job: Job) -> list[Path]:
    with ExitStack() as stack:
        return folders_restorable(job_uid=str(job.job_uid), node_id="files", until=stack, reaches=reaches)


def test_a_checkpoint_from_before_the_first_file_holds_every_file(execution: Execution) -> None:
    taken(execution, {"numbers": {"next": 10}})
    taken(execution, READ)
    assert asked(execution.job) == []


@pytest.mark.parametrize(("behind", "holds"), [("own", True), ("other", False)])
def test_so_does_a_query_that_has_committed_nothing_and_reads_them(execution: Execution, behind: str, holds: bool) -> None:
    row = taken(execution, READ, **{behind: -1})
    assert asked(execution.job) == ([] if holds else [folder_of(row)])


def test_one_of_a_version_without_the_source_holds_none(execution: Execution) -> None:
    row = taken(execution, READ)
    ended(execution)
    taken(execution_row(execution.job, version=1), {"numbers": {"next": 10}})
    assert asked(execution.job) == [folder_of(row)]


def test_one_of_a_version_that_is_gone_holds_all(execution: Execution) -> None:
    taken(execution, READ)
    ended(execution)
    taken(execution_row(execution.job, version=9), {"numbers": {"next": 10}})
    assert asked(execution.job) == []


def test_one_that_was_copied_from_another_job_counts(execution: Execution) -> None:
    editor, other = member("edda", Role.EDITOR), job_row("other")
    origin = taken(execution, READ)
    ended(execution)
    copied = send(editor, "POST", f"/api/jobs/{other.job_name}/checkpoints/import", {"checkpoint": origin.pk}, expected=201)
    Checkpoint.objects.filter(pk=copied["id"]).update(state_data={"sources": READ})
    row = Checkpoint.objects.select_related("execution__job").get(pk=copied["id"])
    assert asked(other) == [folder_of(row)]
    Checkpoint.objects.filter(pk=copied["id"]).update(state_data={"sources": {"numbers": {"next": 10}}})
    assert asked(other) == []
