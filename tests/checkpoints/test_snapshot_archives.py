"""Archives of RocksDB snapshots: whatever byte of one is wrong, a sentence names it, never a traceback."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from checkpoints.verification import live_readable

SNAPSHOT = "state/0/0/1_5d0f6c3e-0000-4000-8000-000000000001.zip"
TABLE = b"a table of keys and values" * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A query's folder behind its first batch, with a snapshot and no checksum beside it."""
    written = {
        "metadata": json.dumps({"id": "5d0f6c3e-0000-4000-8000-000000000002"}),
        "offsets/0": 'v2\n{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}\nrows:{"at":1}',
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
    }
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    tables = tmp_path / "state/0/0/SSTs"
    tables.mkdir(parents=True)
    (tables / "000008-x.sst").write_bytes(TABLE)
    table = {"localSstFileName": "000008.sst", "dfsSstFileName": "000008-x.sst", "sizeBytes": len(TABLE)}
    with zipfile.ZipFile(tmp_path / SNAPSHOT, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("MANIFEST-000005", "a manifest of tables " * 60)
        archive.writestr("metadata", "v1\n" + json.dumps({"sstFiles": [table], "logFiles": [], "numKeys": 3}))
    return tmp_path


def test_a_sound_snapshot_is_readable(folder: Path) -> None:
    assert live_readable(folder, expected_batch=0) is None


@pytest.mark.parametrize("change", [0x01, 0x20, 0xFF])
def test_a_changed_byte_is_told_with_the_archive_or_changes_nothing_that_is_read(folder: Path, change: int) -> None:
    sound = (folder / SNAPSHOT).read_bytes()
    told = []
    for place in range(len(sound)):
        (folder / SNAPSHOT).write_bytes(sound[:place] + bytes([sound[place] ^ change]) + sound[place + 1 :])
        told.append(live_readable(folder, expected_batch=0))
    assert all("/0/0/" in one for one in told if one)
    assert sum(one is not None for one in told) > len(sound) / 2


@pytest.mark.slow
def test_a_directory_larger_than_a_snapshot_s_ever_is_is_told_before_it_is_read(folder: Path) -> None:
    with zipfile.ZipFile(folder / SNAPSHOT, "a") as archive:
        for number in range(40_000):
            archive.writestr(f"{number:06}", b"")
    with zipfile.ZipFile(folder / SNAPSHOT) as archive:
        assert len(archive.infolist()) == 40_002, "it is a sound archive"
    (told,) = re.findall(r"its directory has ([\d,]+) bytes", live_readable(folder, expected_batch=0) or "")
    assert int(told.replace(",", "")) > 1 << 20


def test_a_table_that_is_missing_or_cut_is_named(folder: Path) -> None:
    table = folder / "state/0/0/SSTs/000008-x.sst"
    table.write_bytes(TABLE[:-1])
    assert live_readable(folder, expected_batch=0) == f"state/0/0/SSTs/000008-x.sst has {len(TABLE) - 1} bytes instead of {len(TABLE)}"
    table.unlink()
    assert live_readable(folder, expected_batch=0) == "state/0/0/SSTs/000008-x.sst is missing"
