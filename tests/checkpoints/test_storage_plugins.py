"""Stores of checkpoints that other packages bring; one that is broken takes nothing else away."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from django.conf import settings
from redis import Redis

from checkpoints.cleaning import checkpoints_clean
from checkpoints.deletion import checkpoint_delete
from checkpoints.fall_back import newest_readable
from checkpoints.files import Stores
from checkpoints.retention import Scope
from checkpoints.storages import key_of, storage_chosen, storage_named
from checkpoints.stores import plugins
from checkpoints.stores.local import LocalStorage
from jobs.models import Execution
from tests.checkpoints.kept import execution_row, kept, stored
from tests.checkpoints.test_checkpoint_api import ended
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin"


class Raising(LocalStorage):
    """Somebody's store with a fault in it."""

    is_local = False

    def __init__(self, name: str) -> None:
        super().__init__(Path("/nowhere"))
        self.name = name

    def delete(self, key: str) -> int:
        raise RuntimeError("boom")


POINTS = (
    EntryPoint("redis", "pipeline_web_redis.storage:RedisStorage", plugins.STORAGE_GROUP),
    EntryPoint("gone", "no_such_module:Store", plugins.STORAGE_GROUP),
    EntryPoint("function", "os:getcwd", plugins.STORAGE_GROUP),
    EntryPoint("exits", "broken_exits:Store", plugins.STORAGE_GROUP),
    EntryPoint("local", "pipeline_web_redis.storage:RedisStorage", plugins.STORAGE_GROUP),
    EntryPoint("raising", f"{__name__}:Raising", plugins.STORAGE_GROUP),
)


@pytest.fixture(autouse=True)
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if packages with these entry points were installed."""
    (tmp_path / "broken_exits.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.setattr(plugins, "_points", lambda: POINTS)
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    monkeypatch.setattr(settings, "CHECKPOINT_STORAGE_OPTIONS", {"redis": {"url": settings.REDIS_URL}})
    yield
    sys.modules.pop("broken_exits", None)


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row())


def test_the_examples_store_takes_and_gives_checkpoints(execution: Execution, tmp_path: Path) -> None:
    row = stored(execution, "redis")
    storage = storage_named("redis")
    try:
        assert (row.storage, row.storage_path) == ("redis", f"redis:{key_of(row)}")
        assert newest_readable(generation=execution.generation).checkpoint == row
        assert storage.size(key_of(row)) == row.exclusive_bytes
        with Redis.from_url(settings.REDIS_URL) as client:
            client.hset(f"pipeline-web:checkpoint:{key_of(row)}", "out/offsets/1", "x")
        assert storage.verify(key_of(row), tmp_path / "scratch") == ["out/offsets/1 is damaged: its checksum does not fit"]
        assert [one.key for one in storage.list_stored()] == [key_of(row)]
    finally:
        ended(execution)
        assert checkpoint_delete(checkpoint=row, deleted_by="olga", reason="a test") > 0
    assert list(storage.list_stored()) == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("function", "os:getcwd is no CheckpointStorage"),
        ("exits", "SystemExit: 3"),
        ("nobody", 'no store "nobody" is set up here'),
    ],
)
def test_one_that_cannot_be_used_says_why_and_the_local_disk_is_taken(name: str, reason: str) -> None:
    chosen = storage_chosen(name, stateful=False)
    assert chosen.storage.is_local
    assert reason in chosen.warning


def test_options_that_a_store_does_not_know_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CHECKPOINT_STORAGE_OPTIONS", {"redis": {"adress": "redis://localhost"}})
    assert "unexpected keyword argument 'adress'" in storage_chosen("redis", stateful=False).warning


def test_ours_cannot_be_replaced() -> None:
    assert type(storage_named("local")) is LocalStorage


def test_what_somebodys_store_raises_holds_up_nothing(execution: Execution) -> None:
    row = kept(execution)
    row.storage = "raising"
    row.save(update_fields=["storage"])
    ended(execution)
    assert Stores().delete("raising", key_of(row)) == 0
    assert checkpoint_delete(checkpoint=row, deleted_by="olga", reason="a test") == 0
    assert [one.storage for one in checkpoints_clean(scope=Scope(), dry_run=False, deleted_by="olga") if one.action == "delete"] == []
