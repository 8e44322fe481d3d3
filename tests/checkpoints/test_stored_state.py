"""Of checkpoints in another store: what nodes remember is read, and so are the lists of a source's files."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from checkpoints.job_cut import JobCut, JobQuery, Phases, RunFacts
from checkpoints.ledger import Ticket
from checkpoints.models import Checkpoint
from checkpoints.placing import Placing
from checkpoints.restorable import folders_restorable
from checkpoints.services import checkpoint_begin, checkpoint_complete
from checkpoints.spark_folder import last_committed
from checkpoints.storages import folder_of, key_of, opened, storage_named
from checkpoints.verification import checkpoint_verify
from jobs.driver.checkpoint_state import state_answer
from jobs.models import Execution
from jobs.selectors.graph_comparisons import reaches
from tests.checkpoints.kept import execution_row, live_of, spark_folder, stored
from tests.services.job_rows import job_row

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("root")]


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row())


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def with_state(execution: Execution, rocksdb_folder: Path) -> Checkpoint:
    """A checkpoint of a real query that keeps state."""
    begun = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="MANUAL", storage="file")
    facts = RunFacts(execution.execution_id, str(execution.job.job_uid), "numbers", "STREAMING", 1, str(execution.generation), 1)
    ticket = Ticket(begun.checkpoint_id, folder_of(begun), begun.pk, key_of(begun))
    queries, batches = {"out": JobQuery(rocksdb_folder, ("out",))}, {"out": last_committed(rocksdb_folder)}
    cut = JobCut(facts).take(ticket, queries, batches, Phases(60), savepoint=False)
    return checkpoint_complete(row=begun.pk, result=Placing(storage_named("file")).put(ticket, cut, Phases(60), savepoint=False))


def asked(spark: SparkSession, checkpoint: Checkpoint, seconds: float = 60, **more: Any) -> dict[str, Any]:
    return state_answer(spark, {"checkpoint": checkpoint.pk, **more}, deadline=time.monotonic() + seconds)


@pytest.mark.spark
@pytest.mark.one_database
def test_the_state_in_it_is_browsed(spark: SparkSession, with_state: Checkpoint, root: Path, tmp_path: Path) -> None:
    with opened(with_state) as folder:
        assert checkpoint_verify(folder) == []
    (operator,) = asked(spark, with_state)["operators"]
    wanted = {"query": "out", "operator": operator["operator"], "part": operator["parts"][0], "search": "", "offset": 0, "rows": 10}
    found = asked(spark, with_state, **wanted)
    assert found["rows"], found
    assert files_below(root) == [], "what was fetched for it is gone"
    storage_named("file").delete(key_of(with_state))
    assert asked(spark, with_state)["refused"].startswith("the checkpoint cannot be read: ")
    assert files_below(tmp_path / "store") == []


def test_only_the_lists_of_the_source_are_fetched_to_put_its_files_away(execution: Execution, root: Path) -> None:
    live = spark_folder(live_of(execution) / "out", 2)
    for node_id in ("numbers", "others"):
        (live / "sources" / node_id).mkdir(parents=True)
        (live / "sources" / node_id / "0").write_text('v1\n{"kept":"by the source"}')
    rows = [stored(execution, name, batches) for name, batches in (("file", 2), ("database", 3), ("local", 4))]
    with ExitStack() as stack:
        folders = folders_restorable(job_uid=str(execution.job.job_uid), node_id="numbers", until=stack, reaches=reaches)
        assert len(folders) == len(rows)
        assert all((folder / "out/sources/numbers/0").is_file() for folder in folders)
        fetched = [folder for folder in folders if folder != folder_of(rows[2])]
        assert all([path.name for path in files_below(folder)] == ["0"] for folder in fetched)
    assert not any(folder.exists() for folder in fetched)
