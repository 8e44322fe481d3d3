"""What every store of checkpoints does: on the local disk, in a store of objects, in the database."""

import shutil
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from checkpoints.cut import CutDamaged
from checkpoints.database_storage import DatabaseStorage
from checkpoints.manifest import ManifestDamaged
from checkpoints.storages import folder_of, key_of
from checkpoints.stores.addresses import Access, storage_at
from checkpoints.stores.base import CheckpointStorage, StorageFailed, StorageUnfit
from checkpoints.stores.local import LocalStorage
from checkpoints.verification import checkpoint_verify
from tests.checkpoints.kept import execution_row, kept
from tests.servers.s3 import KEY_ID, SECRET_KEY, S3Server
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    return tmp_path / "root"


def in_s3(server: S3Server) -> CheckpointStorage:
    """In a bucket of its own."""
    bucket = f"safe-{uuid.uuid4().hex[:12]}"
    server.bucket_create(bucket)
    return storage_at(f"s3://{bucket}/checkpoints", Access(KEY_ID, SECRET_KEY, server.address))


@pytest.fixture(params=["local", "file", "database", pytest.param("s3", marks=pytest.mark.server)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> CheckpointStorage:
    made: dict[str, Callable[[], CheckpointStorage]] = {
        "local": lambda: LocalStorage(tmp_path / "store"),
        "file": lambda: storage_at(f"file://{tmp_path}/store", Access()),
        "database": lambda: DatabaseStorage(1 << 20),
        "s3": lambda: in_s3(request.getfixturevalue("s3_server")),
    }
    return made[request.param]()


@pytest.fixture
def cuts() -> list[tuple[Path, str]]:
    """Folder and key of three checkpoints of one execution, each a batch further."""
    execution = execution_row(job_row())
    rows = [kept(execution, batches) for batches in (2, 3, 4)]
    return [(folder_of(row), key_of(row)) for row in rows]


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_checkpoint_is_put_listed_opened_verified_and_deleted(
    storage: CheckpointStorage, cuts: list[tuple[Path, str]], tmp_path: Path
) -> None:
    for folder, key in cuts:
        placed = storage.put(folder, key)
        assert placed.place == storage.place(key)
        assert placed.bytes > 0
    assert sorted(one.key for one in storage.list_stored()) == sorted(key for _, key in cuts)
    folder, key = cuts[1]
    assert storage.size(key) == sum(map(len, content(folder).values()))
    assert storage.verify(key, tmp_path / "scratch") == []
    with storage.open(key, tmp_path / "scratch") as opened:
        assert content(opened) == content(folder)
        assert checkpoint_verify(opened) == []
    assert not (tmp_path / "scratch").exists()
    assert storage.delete(key) > 0
    assert storage.delete(key) == 0
    assert storage.size(key) == 0
    assert sorted(one.key for one in storage.list_stored()) == sorted([cuts[0][1], cuts[2][1]])
    assert [storage.verify(other, tmp_path / "scratch") for other in (cuts[0][1], cuts[2][1])] == [[], []]


def test_what_is_not_there_is_said(storage: CheckpointStorage, cuts: list[tuple[Path, str]], tmp_path: Path) -> None:
    assert len(storage.verify(cuts[0][1], tmp_path / "scratch")) == 1


# ── a store of objects ──────────────────────────────────────────────────────


@pytest.fixture
def objects(tmp_path: Path) -> CheckpointStorage:
    return storage_at(f"file://{tmp_path}/store", Access())


def sent(tmp_path: Path) -> dict[str, int]:
    """Each object of the store → when it was written."""
    store = tmp_path / "store"
    return {str(path.relative_to(store)): path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file()}


def test_what_an_earlier_checkpoint_holds_is_not_sent_again_and_outlives_it(
    objects: CheckpointStorage, cuts: list[tuple[Path, str]], tmp_path: Path
) -> None:
    (first, old), (second, new), _ = cuts
    objects.put(first, old)
    before = sent(tmp_path)
    alone = objects.put(second, new, base=old).bytes
    assert alone < objects.size(new)
    shared = {content(first)[name] for name in content(first)} & {content(second)[name] for name in content(second)}
    assert shared, "the two have a file in common"
    assert {name: time for name, time in sent(tmp_path).items() if name in before} == before
    assert objects.delete(old) > 0
    assert objects.verify(new, tmp_path / "scratch") == []
    assert [one.key for one in objects.list_stored()] == [new], "what is shared is no left-over"
    objects.delete(new)
    assert sent(tmp_path) == {}


def test_a_savepoint_shares_nothing(objects: CheckpointStorage, cuts: list[tuple[Path, str]], tmp_path: Path) -> None:
    (first, old), (second, new), _ = cuts
    objects.put(first, old)
    objects.put(second, new, base=old)
    alone = objects.put(second, new).bytes
    assert alone > 0
    shutil.rmtree(tmp_path / "store" / old)
    assert objects.verify(new, tmp_path / "scratch") == []


def test_an_upload_that_broke_off_is_no_checkpoint_and_the_next_one_goes_on_with_it(
    objects: CheckpointStorage, cuts: list[tuple[Path, str]], tmp_path: Path
) -> None:
    (_, first), (folder, broken), (later, key) = cuts
    objects.put(cuts[0][0], first)
    objects.put(folder, broken, base=first)
    (tmp_path / "store" / broken / "contents.json").unlink()  # what comes last never came
    with pytest.raises(ManifestDamaged), objects.open(broken, tmp_path / "scratch"):
        pass
    assert objects.size(broken) == 0
    before = sent(tmp_path)
    objects.put(folder, key, base=first)
    new = {name for name in sent(tmp_path) if name not in before}
    assert new == {f"{key}/contents.json"}, "nothing that was there was sent again"
    objects.delete(broken)
    assert objects.verify(key, tmp_path / "scratch") == []
    assert content(later) != content(folder)


def test_a_half_object_is_sent_again(objects: CheckpointStorage, cuts: list[tuple[Path, str]], tmp_path: Path) -> None:
    folder, key = cuts[0]
    objects.put(folder, key)
    (tmp_path / "store" / key / "contents.json").unlink()
    half = max((tmp_path / "store" / key).iterdir(), key=lambda path: path.stat().st_size)
    half.write_bytes(half.read_bytes()[:10])
    objects.put(folder, key)
    assert objects.verify(key, tmp_path / "scratch") == []


def test_a_damaged_object_is_named_by_its_file(objects: CheckpointStorage, cuts: list[tuple[Path, str]], tmp_path: Path) -> None:
    folder, key = cuts[0]
    objects.put(folder, key)
    offsets = content(folder)["out/offsets/1"]
    damaged = next(path for path in (tmp_path / "store" / key).iterdir() if path.read_bytes() == offsets)
    damaged.write_bytes(offsets[:-1] + b"!")
    assert objects.verify(key, tmp_path / "scratch") == ["out/offsets/1 is damaged: its checksum does not fit"]
    with pytest.raises(CutDamaged), objects.open(key, tmp_path / "scratch"):
        pass
    assert not (tmp_path / "scratch").exists()


def test_contents_that_are_damaged_keep_what_others_may_share_until_they_are_gone(
    objects: CheckpointStorage, cuts: list[tuple[Path, str]], tmp_path: Path
) -> None:
    (first, old), (second, new), _ = cuts
    objects.put(first, old)
    objects.put(second, new, base=old)
    (tmp_path / "store" / new / "contents.json").write_text("{")
    assert sorted(one.key for one in objects.list_stored()) == sorted([old, new])
    with pytest.raises(StorageFailed, match="shares cannot be told"):
        objects.delete(old)
    assert objects.delete(new) > 0
    objects.delete(old)
    assert sent(tmp_path) == {}


def test_patience_ends_an_upload(objects: CheckpointStorage, cuts: list[tuple[Path, str]]) -> None:
    class Over(Exception):
        pass

    calls: list[int] = []

    def pulse() -> None:
        calls.append(1)
        if len(calls) > 1:
            raise Over

    with pytest.raises(Over):
        objects.put(*cuts[0], pulse=pulse)
    assert objects.size(cuts[0][1]) == 0


def test_what_is_listed_says_when_it_changed(objects: CheckpointStorage, cuts: list[tuple[Path, str]]) -> None:
    objects.put(*cuts[0])
    (found,) = objects.list_stored()
    assert abs(datetime.now(UTC) - found.changed) < timedelta(minutes=5)
    assert (found.execution_id, found.number) == (cuts[0][1].split("/")[2], 1)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nowhere://bucket/x", "no library for nowhere:// is installed"),
        ("sftp://olga:secret@host/x", "holds a password"),
        ("s3://", "is none like s3://bucket/folder"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_before_anything_is_asked(address: str, words: str) -> None:
    with pytest.raises(StorageUnfit, match=words) as refused:
        storage_at(address, Access())
    assert "secret" not in str(refused.value)


def test_a_store_that_cannot_be_opened_says_so_in_one_sentence() -> None:
    storage = storage_at("hdfs://127.0.0.1:1/checkpoints", Access(options={"user": "pipeline"}))
    assert (storage.name, storage.place("x/1")) == ("hdfs", "hdfs://127.0.0.1:1/checkpoints/x/1")
    with pytest.raises(StorageFailed, match=r"^hdfs: ") as failed:
        storage.size("5d0f6c3e-0000-4000-8000-000000000001/checkpoints/e/1")
    assert "\n" not in str(failed.value)


# ── the database ────────────────────────────────────────────────────────────


def test_the_database_takes_no_state_and_nothing_large(cuts: list[tuple[Path, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, key = cuts[0]
    with pytest.raises(StorageFailed, match="at most 100 go into the database"):
        DatabaseStorage(100).put(folder, key)

    def with_state(_: Path) -> dict[str, dict[str, Any]]:
        return {"out/state/0/1/1.delta": {"bytes": 1, "sha256": ""}}

    monkeypatch.setattr("checkpoints.database_storage.checkpoint_files", with_state)
    with pytest.raises(StorageFailed, match="keeps state"):
        DatabaseStorage(1 << 20).put(folder, key)
