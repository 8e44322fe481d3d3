"""A watched folder, or a file in it, that vanishes under a running stream: told in one sentence, and nothing lost or repeated."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from jobs.engine.events import BatchCommitted
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan
from tests.engine.graphs import Bench, document
from tests.engine.nodes import VanishingFiles

pytestmark = pytest.mark.spark

TABLE: tuple[str, dict[str, Any]] = ("sink.file", {"path": "out", "format": "parquet"})


@pytest.fixture
def incoming(bench: Bench) -> Path:
    folder = bench.files / "incoming"
    folder.mkdir()
    return folder


def put(folder: Path, *numbers: int) -> None:
    for number in numbers:
        unfinished = folder / f".{number}"
        unfinished.write_text(f"id\n{number}\n")
        unfinished.rename(folder / f"file {number}.csv")


def plan_of(bench: Bench, *, kind: str = "source.file", attempt: int = 1, job_type: str = "STREAMING", **more: Any) -> Plan:
    config = {"path": "incoming", "columns": [{"name": "id", "type": "long"}], "max_files_per_trigger": 1, **more}
    return bench.plan(document({"csv": (kind, config), "out": TABLE}, "csv>out", type=job_type), generation="g", attempt=attempt)


def failure_of(run: Any) -> ExecutionFailure:
    with pytest.raises(ExecutionFailure) as caught:
        run.wait(60)
    assert (caught.value.node_id, caught.value.kind, caught.value.permanent) == ("csv", "external", False)
    assert "\n" not in caught.value.message
    return caught.value


def rows(bench: Bench) -> list[int]:
    return sorted(row.id for row in bench.parquet("out"))


def test_a_watched_folder_that_vanishes_is_told_and_the_stream_goes_on_when_it_is_back(bench: Bench, incoming: Path) -> None:
    put(incoming, 0, 1, 2)
    run, heard = bench.run(plan_of(bench))
    heard.wait_for(BatchCommitted, 3)
    shutil.rmtree(incoming)
    sentence = f'"Csv": reading files: the watched folder "{incoming}" is gone; put it back: the job goes on where it was'
    assert failure_of(run).message == sentence

    incoming.mkdir()
    put(incoming, 3, 4)
    bench.drained(plan_of(bench, attempt=2), rows=2)
    assert rows(bench) == [0, 1, 2, 3, 4]


def test_files_that_vanish_before_they_are_read_are_told_and_read_when_they_are_back(bench: Bench, incoming: Path) -> None:
    put(incoming, *range(12))
    run, heard = bench.run(plan_of(bench))
    heard.wait_for(BatchCommitted, 1)
    away = bench.root / "away"
    away.mkdir()
    moved = [file.rename(away / file.name) for file in sorted(incoming.iterdir())]
    # What a batch is at when they go decides whether it misses one before it reads, or while it does.
    assert f"{incoming}/file " in failure_of(run).message
    failed = failure_of(bench.run(plan_of(bench, attempt=2))[0])
    assert failed.message.startswith(f'"Csv": reading files: "{incoming}/file ')
    assert failed.message.endswith("is gone, found but not read yet; put back the same, or an empty file of that name")

    for file in moved:
        file.rename(incoming / file.name)
    heard = bench.drained(plan_of(bench, attempt=3), rows=12 - len(rows(bench)))
    assert rows(bench) == list(range(12))


@pytest.mark.parametrize("looked_through", [False, True], ids=["line by line", "looked through first"])
def test_a_file_that_vanishes_while_it_is_read_is_told_too(
    bench: Bench, incoming: Path, looked_through: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.engine.runner._CHECK_SECONDS", 3600)  # the file shall go at the check of its batch
    put(incoming, 0)
    VanishingFiles.folder = incoming
    run, _ = bench.run(plan_of(bench, kind="source.vanishing", job_type="BATCH_ROLLER", multi_line=looked_through))
    failed = failure_of(run)
    assert failed.message.startswith('"Csv": the file or folder ')
    assert failed.message.endswith(" is no longer there; put it back, then start again: it goes on where it was")


def test_an_empty_file_of_the_same_name_lets_the_stream_go_on_without_it(bench: Bench, incoming: Path) -> None:
    put(incoming, *range(6))
    run, heard = bench.run(plan_of(bench))
    heard.wait_for(BatchCommitted, 1)
    gone = sorted(incoming.iterdir())
    for file in gone:
        file.unlink()
    failure_of(run)
    before = rows(bench)
    for file in gone:
        file.write_text("id\n")
    put(incoming, 99)
    bench.drained(plan_of(bench, attempt=2), rows=1)
    assert rows(bench) == [*before, 99]
