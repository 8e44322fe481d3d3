"""Spark folders that queries have left, made once: read them, copy them, never change them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from pyspark.sql import SparkSession

from tests.checkpoints.streams import MEMORY, ROCKSDB, Shape, Stream, plain, windows

FILES = 12
_HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before others choose by markers."""
    for item in items:
        if _HERE in item.path.parents and item.get_closest_marker("django_db"):
            item.add_marker("disk")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where checkpoints are kept on the local disk; beside it is a store."""
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    monkeypatch.setattr(settings, "CHECKPOINT_STORAGE_URLS", [f"file://{tmp_path}/store"])
    return tmp_path / "root"


@pytest.fixture(scope="session")
def left_behind(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stream]:
    """A query that read twelve files, one a batch, and ended: "plain", "rocksdb" or "memory"."""
    made: dict[str, Stream] = {}
    kinds: dict[str, tuple[Shape, str]] = {"plain": (plain, ROCKSDB), "rocksdb": (windows, ROCKSDB), "memory": (windows, MEMORY)}

    def made_once(kind: str) -> Stream:
        if kind not in made:
            shape, provider = kinds[kind]
            stream = Stream(spark, tmp_path_factory.mktemp(kind), shape, provider)
            stream.feed(FILES)
            made[kind] = stream.drained()
        return made[kind]

    return made_once


@pytest.fixture(params=["plain", "rocksdb", "memory"])
def folder(request: pytest.FixtureRequest, left_behind: Callable[[str], Stream], tmp_path: Path) -> Path:
    """A copy of such a folder, of each kind in turn, to do with as one likes."""
    return copy_of(left_behind(request.param), tmp_path)


@pytest.fixture
def rocksdb_folder(left_behind: Callable[[str], Stream], tmp_path: Path) -> Path:
    return copy_of(left_behind("rocksdb"), tmp_path)


def copy_of(stream: Stream, tmp_path: Path) -> Path:
    """Without what Spark's maintenance is uploading in this moment."""
    return Path(shutil.copytree(stream.live, tmp_path / "live", ignore=shutil.ignore_patterns("*.tmp", ".*.tmp.crc")))
