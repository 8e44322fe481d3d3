"""A watched folder of this installation: the order in which its files are read, and what becomes of them then."""

import errno
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import Limits, NodeError
from jobs.nodes.registry import REGISTRY
from jobs.nodes.stores.local import LocalStore
from tests.nodes.conftest import Build, Built
from tests.nodes.streams import Drained

pytestmark = pytest.mark.spark

ID = [{"name": "id", "type": "long"}]
Put = Callable[..., None]


@pytest.fixture
def put(root: Path) -> Put:
    """`put(number, seconds)`: a file of one row, last changed so many seconds after 1 January 2020."""

    def written(number: int, seconds: int = 0, name: str = "") -> None:
        file = root / "in" / (name or f"{number}.csv")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"id\n{number}\n")
        os.utime(file, (1_577_836_800 + seconds,) * 2)

    return written


def source_of(build: Build, tmp_path: Path, **config: Any) -> Built:
    return build("source.file", {"path": "in", "columns": ID, "max_files_per_trigger": 1} | config, live_dir=tmp_path / "live")


def drained(spark: SparkSession, source: Built, folder: Path) -> list[int]:
    context = replace(source.context, mode="stream")
    source.node.begin(context)
    source.node.receive(context, threading.Event())
    rows = Drained()
    rows.run(source.node.read(spark, context), folder)
    return rows.everything


def checkpoint_of(tmp_path: Path, entry: int) -> Path:
    """The part of a checkpoint that tells which files were read: the log up to an entry."""
    folder = tmp_path / f"checkpoint-{entry}" / "q" / "sources" / "node"
    folder.mkdir(parents=True)
    for number in range(entry + 1):
        shutil.copy(tmp_path / "live" / "q" / "sources" / "node" / str(number), folder)
    return folder.parents[2]


def names(root: Path) -> list[str]:
    return sorted(str(file.relative_to(root)) for file in root.rglob("*.csv"))


@pytest.mark.parametrize(("order", "expected"), [("time", [2, 0, 1, 3]), ("name", [0, 1, 2, 3])])
def test_files_are_read_in_the_chosen_order(spark: SparkSession, build: Build, put: Put, tmp_path: Path, order: str, expected: list[int]):
    for seconds, number in enumerate((2, 0, 1, 3)):
        put(number, seconds)
    assert drained(spark, source_of(build, tmp_path, order=order), tmp_path / "live" / "q") == expected
    put(5)
    put(4, 9)
    later = drained(spark, source_of(build, tmp_path, order=order), tmp_path / "live" / "q")
    assert later == ([5, 4] if order == "time" else [4, 5])


@pytest.mark.parametrize("afterwards", ["archive", "delete"])
def test_what_every_checkpoint_has_read_goes_and_nothing_else(
    spark: SparkSession, build: Build, put: Put, root: Path, tmp_path: Path, afterwards: str
):
    for number in range(4):
        put(number, number)
    source = source_of(build, tmp_path, afterwards=afterwards, archive="done")
    drained(spark, source, tmp_path / "live" / "q")
    streaming = replace(source.context, bounded=False)
    source.node.put_away(list, streaming)
    source.node.put_away(lambda: [tmp_path / "nothing"], streaming)
    assert len(names(root)) == 4, "where there is no checkpoint, or one cannot tell, nothing goes"
    put(77, 77, name="0.csv")  # replaced after it was read
    cuts = [checkpoint_of(tmp_path, entry) for entry in (2, 1)]
    source.node.put_away(lambda: cuts, streaming)
    archived = ["done/1.csv"] if afterwards == "archive" else []
    assert names(root) == [*archived, "in/0.csv", "in/2.csv", "in/3.csv"]


@pytest.mark.parametrize("order", ["time", "name"])
def test_the_archive_loses_nothing_and_takes_nothing_unread(
    spark: SparkSession, build: Build, put: Put, root: Path, tmp_path: Path, order: str
):
    for number in range(3):
        put(number, number)
    source = source_of(build, tmp_path, afterwards="archive", archive="done", order=order)
    drained(spark, source, tmp_path / "live" / "q")
    (root / "done").mkdir()
    (root / "done" / "1.csv").write_text("id\n4711\n")
    put(77, 77, name="2.csv")  # replaced after it was read
    source.node.put_away(lambda: [checkpoint_of(tmp_path, 2)], replace(source.context, bounded=False))
    assert names(root) == ["done/0.csv", "done/1-20200101T000001Z.csv", "done/1.csv", "in/2.csv"]
    assert "4711" in (root / "done" / "1.csv").read_text()


def test_a_move_into_the_archive_that_was_broken_off_is_ended(spark: SparkSession, build: Build, put: Put, root: Path, tmp_path: Path):
    put(1)
    source = source_of(build, tmp_path, afterwards="archive", archive="done")
    drained(spark, source, tmp_path / "live" / "q")
    (root / "done").mkdir()
    shutil.copy(root / "in" / "1.csv", root / "done")
    source.node.put_away(lambda: [checkpoint_of(tmp_path, 0)], replace(source.context, bounded=False))
    assert names(root) == ["done/1.csv"]


def test_what_is_delivered_anew_with_the_same_content_is_archived_beside_the_first(
    spark: SparkSession, build: Build, put: Put, root: Path, tmp_path: Path
):
    put(1)
    (root / "done").mkdir()
    shutil.copy2(root / "in" / "1.csv", root / "done")
    put(1, 60)
    source = source_of(build, tmp_path, afterwards="archive", archive="done")
    drained(spark, source, tmp_path / "live" / "q")
    source.node.put_away(lambda: [checkpoint_of(tmp_path, 0)], replace(source.context, bounded=False))
    assert names(root) == ["done/1-20200101T000100Z.csv", "done/1.csv"]


def elsewhere(source: Any, target: Any) -> None:
    raise OSError(errno.EXDEV, "Invalid cross-device link")


def test_onto_another_disk_a_file_comes_whole(root: Path, tmp_path: Path):
    (root / "1.csv").write_text("id\n1\n")
    store = LocalStore(root, Limits(file_roots=(root,), data_dir=tmp_path))

    def broken_off(source: Path, target: Path) -> None:
        target.write_text("i")
        raise OSError(errno.EIO, "Input/output error")

    with patch("os.rename", elsewhere):
        with patch("shutil.copyfile", broken_off), pytest.raises(NodeError, match="Input/output error"):
            store.move("1.csv", "done/1.csv")
        assert names(root) == ["1.csv"]
        store.move("1.csv", "done/1.csv")
        store.move("gone.csv", "done/gone.csv")
    assert ([file.name for file in (root / "done").iterdir()], names(root)) == (["1.csv"], ["done/1.csv"])
    assert (root / "done" / "1.csv").read_text() == "id\n1\n"


def test_onto_a_disk_that_keeps_no_times_a_file_comes_all_the_same(root: Path, tmp_path: Path):
    (root / "1.csv").write_text("id\n1\n")
    store = LocalStore(root, Limits(file_roots=(root,), data_dir=tmp_path))
    with patch("os.rename", elsewhere), patch("shutil.copystat", side_effect=PermissionError(errno.EPERM, "Operation not permitted")):
        store.move("1.csv", "done/1.csv")
    assert (names(root), (root / "done" / "1.csv").read_text()) == (["done/1.csv"], "id\n1\n")


def test_an_import_leaves_its_files(spark: SparkSession, build: Build, put: Put, root: Path, tmp_path: Path):
    put(1)
    source = source_of(build, tmp_path, afterwards="delete")
    drained(spark, source, tmp_path / "live" / "q")
    source.node.put_away(lambda: [checkpoint_of(tmp_path, 0)], source.context)
    assert names(root) == ["in/1.csv"]


def test_a_link_that_leads_outside_is_not_copied(spark: SparkSession, build: Build, put: Put, root: Path, tmp_path: Path):
    put(1)
    source = source_of(build, tmp_path, order="name")
    source.node.begin(source.context)
    (tmp_path / "secret.csv").write_text("id\n4711\n")
    (root / "in" / "2.csv").symlink_to(tmp_path / "secret.csv")
    source.node.receive(source.context, threading.Event())
    copies = tmp_path / "mirrors" / source.context.job_uid / "node" / "files"
    assert [file.name for file in copies.iterdir()] == ["1.csv"]


@pytest.mark.parametrize("archive", ["../outside", "/etc", "link"])
def test_an_archive_outside_the_allowed_folders_or_within_what_is_read_is_refused(
    spark: SparkSession, build: Build, put: Put, root: Path, tmp_path: Path, archive: str
):
    put(1)
    (root / "link").symlink_to(root / "in")
    source = source_of(build, tmp_path, afterwards="archive", archive=archive)
    with pytest.raises(NodeError, match=r"is not allowed|nor below it") as refused:
        source.node.read(spark, source.context)
    assert refused.value.field == "archive"


@pytest.mark.parametrize(
    ("config", "pointer", "words"),
    [
        ({"afterwards": "archive"}, "/archive", "name a folder to archive to"),
        ({"afterwards": "archive", "archive": "in/read"}, "/archive", "nor below it"),
        ({"afterwards": "archive", "archive": "./in"}, "/archive", "nor below it"),
        ({"afterwards": "archive", "archive": "x", "path": "."}, "/archive", "nor below it"),
        ({"afterwards": "delete", "order": "name"}, "/afterwards", "archived, but not deleted"),
    ],
)
def test_what_cannot_be_is_a_problem_on_its_field(config: dict[str, str], pointer: str, words: str):
    (problem,) = REGISTRY.catalogue()["source.file"].config_problems({"path": "in"} | config)
    assert problem.pointer == pointer
    assert words in problem.message
