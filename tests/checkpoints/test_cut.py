"""Cuts of folders that Spark wrote: what is in them, what is not, and that an interruption never leaves one that looks whole."""

import errno
import json
import os
import random
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from checkpoints import cut as cut_module
from checkpoints.checksums import Digests, spark_file_digest
from checkpoints.cut import CutDamaged, CutFailed, cut_files, cut_restore, query_cut
from checkpoints.manifest import MANIFEST, manifest_read
from checkpoints.spark_folder import FolderDamaged, files_needed, last_committed, query_id
from checkpoints.verification import cut_verify
from tests.checkpoints.streams import Stream
from tests.killing import killed_at

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_cut_holds_two_batches_of_the_logs_and_nothing_newer(folder: Path, tmp_path: Path) -> None:
    query_cut(folder, 7, tmp_path / "cut", real_copy=False)
    for log in ("offsets", "commits"):
        assert {name for name in names(tmp_path / "cut" / log) if not name.startswith(".")} == {"6", "7"}
    assert last_committed(tmp_path / "cut") == 7


def test_the_first_batch_can_be_cut(folder: Path, tmp_path: Path) -> None:
    assert query_cut(folder, 0, tmp_path / "cut", real_copy=False).sources == {"orders": {"logOffset": 0}}
    assert cut_verify(tmp_path / "cut") == []


def test_the_log_of_a_file_source_ends_at_the_offset_of_the_batch(folder: Path, tmp_path: Path) -> None:
    query_cut(folder, 10, tmp_path / "cut", real_copy=False)
    found = {name for name in names(tmp_path / "cut" / "sources" / "orders") if not name.startswith(".")}
    assert found == {"9.compact", "10"}
    query_cut(folder, 8, tmp_path / "before", real_copy=False)
    found = {name for name in names(tmp_path / "before" / "sources" / "orders") if not name.startswith(".")}
    assert found == {str(number) for number in range(9)}


@pytest.mark.parametrize("offset", ["-", "7", "7.0", '{"logOffset":7.0}', '{"logOffset":7,"logOffset":9}', '{"other":7}'])
def test_no_log_of_a_file_source_goes_along_whose_end_the_batch_does_not_name(folder: Path, tmp_path: Path, offset: str) -> None:
    """Spark would take the files in it for planned. What another source keeps goes along."""
    planned = folder / "offsets" / "7"
    planned.write_text(re.sub(r"^orders:.*$", f"orders:{offset}", planned.read_text(), flags=re.MULTILINE))
    (folder / "sources" / "kafka").mkdir()
    (folder / "sources" / "kafka" / "0").write_text('v1\n{"path":{"0":12}}')
    (folder / "offsets" / ".7.crc").unlink(missing_ok=True)
    query_cut(folder, 7, tmp_path / "cut", real_copy=False)
    assert {name for name in names(tmp_path / "cut" / "sources") if not Path(name).name.startswith(".")} == {"kafka/0"}


def test_state_is_kept_up_to_the_version_that_the_batch_made(rocksdb_folder: Path, tmp_path: Path) -> None:
    query_cut(rocksdb_folder, 7, tmp_path / "cut", real_copy=False)
    versions = {int(name.split("_")[0]) for name in names(tmp_path / "cut/state/0/0") if name[0].isdigit()}
    assert max(versions) == 8


def test_the_manifest_names_every_file_with_size_and_checksum(folder: Path, tmp_path: Path) -> None:
    found = query_cut(folder, 7, tmp_path / "cut", real_copy=False, facts={"query": "out", "generation": "g"})
    manifest = manifest_read(tmp_path / "cut")
    assert set(manifest["files"]) == names(tmp_path / "cut") - {MANIFEST}
    assert found.files == len(manifest["files"])
    assert found.bytes_logical == sum(entry["bytes"] for entry in manifest["files"].values())
    assert (manifest["query"], manifest["generation"], manifest["batch_id"]) == ("out", "g", 7)
    assert manifest["versions"]["spark"].startswith("4.")
    assert manifest["sources"] == {"orders": {"logOffset": 7}}


def test_links_take_no_space_but_for_the_query_s_id_and_a_real_copy_shares_nothing(folder: Path, tmp_path: Path) -> None:
    linked = query_cut(folder, 7, tmp_path / "linked", real_copy=False)
    copied = query_cut(folder, 7, tmp_path / "copied", real_copy=True)
    own = {"metadata", ".metadata.crc"}
    assert {name for name in names(tmp_path / "linked") if (tmp_path / "linked" / name).stat().st_nlink == 1} == own | {MANIFEST}
    assert linked.bytes_exclusive == sum((tmp_path / "linked" / name).stat().st_size for name in own)
    assert copied.bytes_exclusive == copied.bytes_logical == linked.bytes_logical
    assert all((tmp_path / "copied" / name).stat().st_nlink == 1 for name in names(tmp_path / "copied"))


def test_across_disks_files_are_copied(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Any, target: Any) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    found = query_cut(folder, 7, tmp_path / "cut", real_copy=False)
    assert found.bytes_exclusive == found.bytes_logical
    assert cut_verify(tmp_path / "cut") == []


def test_files_of_an_earlier_cut_are_not_read_again(rocksdb_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests: Digests = {}
    query_cut(rocksdb_folder, 7, tmp_path / "first", real_copy=False, digests=digests)
    read: list[str] = []

    def noted(path: Path, pulse: Any) -> str:
        read.append(path.name)
        return spark_file_digest(path, pulse)

    monkeypatch.setattr(cut_module, "spark_file_digest", noted)
    query_cut(rocksdb_folder, 8, tmp_path / "second", real_copy=False, digests=digests)
    assert read
    assert not {name for name in read if "8" not in name and "9" not in name}
    assert cut_verify(tmp_path / "second") == []


def test_a_cut_that_runs_out_of_time_leaves_nothing_but_what_it_learnt(rocksdb_folder: Path, tmp_path: Path) -> None:
    digests: Digests = {}

    def patient_once(step: str) -> None:
        if digests:
            raise TimeoutError(step)

    with pytest.raises(TimeoutError):
        query_cut(rocksdb_folder, 7, tmp_path / "cut", real_copy=True, digests=digests, on_step=patient_once)
    assert not list(tmp_path.glob("*cut*"))
    known = dict(digests)
    query_cut(rocksdb_folder, 7, tmp_path / "cut", real_copy=False, digests=digests)
    assert known
    assert known.items() <= digests.items()
    assert cut_verify(tmp_path / "cut") == []


def test_a_file_that_vanishes_while_copying_is_looked_for_again(
    rocksdb_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, hidden = os.link, tmp_path / "hidden"
    tries: list[str] = []

    def link_once_gone(source: Path, target: Path) -> None:
        if source.name == "7" and source.parent.name == "commits" and not tries:
            tries.append("gone")
            shutil.move(source, hidden)
            try:
                link(source, target)
            finally:
                shutil.move(hidden, source)
        link(source, target)

    monkeypatch.setattr(os, "link", link_once_gone)
    query_cut(rocksdb_folder, 7, tmp_path / "cut", real_copy=False)
    assert tries
    assert cut_verify(tmp_path / "cut") == []


def test_a_batch_whose_predecessor_was_pruned_cannot_be_cut(folder: Path, tmp_path: Path) -> None:
    (folder / "offsets" / "6").unlink()
    with pytest.raises(CutFailed, match="offsets/6 is missing"):
        query_cut(folder, 7, tmp_path / "cut", real_copy=False)
    assert not (tmp_path / "cut").exists()
    assert not list(tmp_path.glob(".cut*"))


def test_state_that_was_pruned_is_named(rocksdb_folder: Path, tmp_path: Path) -> None:
    for path in (rocksdb_folder / "state/0/1").glob("8_*"):
        path.unlink()
    with pytest.raises(CutFailed, match=r"state/0/1 lacks the state of version 8"):
        query_cut(rocksdb_folder, 7, tmp_path / "cut", real_copy=False)


def test_state_of_an_attempt_that_was_never_committed_is_not_taken_for_it(rocksdb_folder: Path, tmp_path: Path) -> None:
    for path in list((rocksdb_folder / "state/0/1").glob("8_*.changelog")):
        path.rename(path.with_name("8_00000000-0000-4000-8000-000000000000.changelog"))
    with pytest.raises(CutFailed, match="lacks the state that was committed as version 8"):
        query_cut(rocksdb_folder, 7, tmp_path / "cut", real_copy=False)


def test_what_is_damaged_already_is_not_blessed(rocksdb_folder: Path, tmp_path: Path) -> None:
    """Hadoop's checksum beside the file tells that it is no longer what Spark wrote."""
    path = next((rocksdb_folder / "state/0/0").glob("8_*.changelog"))
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(CutFailed, match=f"{path.name} is not what Spark wrote"):
        query_cut(rocksdb_folder, 7, tmp_path / "cut", real_copy=False)


def test_a_full_disk_leaves_nothing_behind(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path, facts: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cut_module, "manifest_write", full)
    with pytest.raises(OSError, match="No space left"):
        query_cut(folder, 7, tmp_path / "cut", real_copy=True)
    assert not (tmp_path / "cut").exists()
    assert not list(tmp_path.glob(".cut*"))


def test_killed_at_any_file_operation_no_half_cut_looks_whole(rocksdb_folder: Path, tmp_path: Path) -> None:
    ends = set()
    for operation in [1, 2, 3, 5, 8, *random.Random(7).sample(range(9, 500), 12), 10_000]:
        target = tmp_path / f"cut{operation}"
        ends.add(killed_at(operation, partial(query_cut, rocksdb_folder, 7, target, real_copy=False)))
        assert not target.exists() or cut_verify(target) == [], f"killed at operation {operation}"
    assert ends == {0, 9}
    query_cut(rocksdb_folder, 7, tmp_path / "cut1", real_copy=False)
    assert cut_verify(tmp_path / "cut1") == []


def test_killed_at_any_file_operation_no_half_restore_looks_whole(rocksdb_folder: Path, tmp_path: Path) -> None:
    folder = rocksdb_folder
    query_cut(folder, 7, tmp_path / "cut", real_copy=False)
    needed = len(cut_files(tmp_path / "cut"))
    for operation in [1, 2, 3, 5, *random.Random(7).sample(range(6, 4 * needed), 6), 10_000]:
        live = tmp_path / f"again{operation}"
        killed_at(operation, partial(cut_restore, tmp_path / "cut", live))
        assert not live.exists() or files_needed(live, 7)
        if not live.exists():
            cut_restore(tmp_path / "cut", live)
        assert query_id(live) != query_id(folder)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1 << (len(raw) % 8)
    path.write_bytes(raw)


@pytest.mark.parametrize("damage", [truncate, flip, Path.unlink], ids=["truncated", "flipped", "removed"])
def test_damage_to_any_file_is_named(folder: Path, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    query_cut(folder, 10, tmp_path / "cut", real_copy=True)
    for number, name in enumerate([MANIFEST, *cut_files(tmp_path / "cut")]):
        path = tmp_path / "cut" / name
        before = path.read_bytes()
        if not before:
            continue
        damage(path)
        problems = cut_verify(tmp_path / "cut")
        assert len(problems) == 1, name
        assert name in problems[0]
        if number % 20 == 0:  # a restore writes all files through: one in twenty will do
            with pytest.raises(CutDamaged, match=name.rsplit("/", 1)[-1].replace(".", r"\.")):
                cut_restore(tmp_path / "cut", tmp_path / "never")
            assert not (tmp_path / "never").exists()
        path.write_bytes(before)
    assert cut_verify(tmp_path / "cut") == []


def test_a_linked_cut_tells_when_damage_to_the_live_file_reaches_it(rocksdb_folder: Path, tmp_path: Path) -> None:
    query_cut(rocksdb_folder, 7, tmp_path / "linked", real_copy=False)
    query_cut(rocksdb_folder, 7, tmp_path / "copied", real_copy=True)
    with (rocksdb_folder / "commits/7").open("r+b") as file:
        file.write(b"X")
    assert cut_verify(tmp_path / "linked") == ["commits/7 is damaged: its checksum does not fit"]
    assert cut_verify(tmp_path / "copied") == []


def test_a_savepoint_is_refused_when_a_live_file_changed_since_an_earlier_cut(left_behind: Callable[[str], Stream], tmp_path: Path) -> None:
    live = Path(shutil.copytree(left_behind("plain").live, tmp_path / "live"))
    (live / "sources/orders/.9.compact.crc").unlink()
    digests: Digests = {}
    query_cut(live, 10, tmp_path / "first", real_copy=False, digests=digests)
    path = live / "sources/orders/9.compact"
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    with path.open("r+b") as file:
        file.write(raw)
    os.utime(path, ns=times)
    with pytest.raises(CutFailed, match=r"9\.compact changed since an earlier checkpoint"):
        query_cut(live, 10, tmp_path / "second", real_copy=True, digests=digests)


def test_a_restored_folder_has_an_id_of_its_own_and_no_stale_checksum(folder: Path, tmp_path: Path) -> None:
    query_cut(folder, 7, tmp_path / "cut", real_copy=False)
    fresh = cut_restore(tmp_path / "cut", tmp_path / "again")
    assert json.loads((tmp_path / "again/metadata").read_text()) == {"id": fresh}
    assert fresh != query_id(folder)
    assert not (tmp_path / "again/.metadata.crc").exists()
    assert not (tmp_path / "again" / MANIFEST).exists()
    assert query_id(tmp_path / "cut") == query_id(folder)


def test_a_folder_that_is_no_query_says_so(tmp_path: Path) -> None:
    with pytest.raises(FolderDamaged, match="offsets/0 is missing"):
        files_needed(tmp_path, 0)
    with pytest.raises(CutFailed, match="offsets/0 is missing"):
        query_cut(tmp_path / "nowhere", 0, tmp_path / "cut", real_copy=False)
