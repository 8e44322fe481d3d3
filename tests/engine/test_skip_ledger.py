"""What a query leaves out is left out once and counted once, wherever the process that does it ends."""

import json
import zlib
from functools import partial
from pathlib import Path

import pytest

from checkpoints.spark_folder import source_offsets
from checkpoints.verification import live_readable
from jobs.engine.offset_log import named_offsets
from jobs.engine.skip_ledger import SkipLedger
from tests.killing import killed_at

BEFORE, BEHIND = {"orders": {"0": 100, "1": 90}}, {"orders": {"0": 300, "1": 90}}
AHEAD, MESSAGES = {"orders": {"0": 250, "1": 90}}, 150
SETTINGS = '{"batchWatermarkMs":0,"conf":{"a":"b:c"}}'


def write(path: Path, text: str) -> None:
    """As Hadoop does: with a checksum beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    sums = zlib.crc32(text.encode()).to_bytes(4, "big")
    path.with_name(f".{path.name}.crc").write_bytes(b"crc\0" + (512).to_bytes(4, "big") + sums)


def entry(position: object) -> str:
    return "\n".join(["v2", SETTINGS, f"numbers:{json.dumps(position, separators=(',', ':'))}", 'others:{"next":7}', "late:-"])


@pytest.fixture
def ledger(tmp_path: Path) -> SkipLedger:
    """Of a query that committed batch 5 and planned batch 6."""
    folder = tmp_path / "live"
    write(folder / "metadata", '{"id":"1f0e"}')
    for batch, position in ((4, {"orders": {"0": 50, "1": 50}}), (5, BEFORE), (6, BEHIND)):
        write(folder / "offsets" / str(batch), entry(position))
    for batch in (4, 5):
        write(folder / "commits" / str(batch), 'v2\n{"nextBatchWatermarkMs":0}')
    return SkipLedger(tmp_path / "work" / "skipped-out.json", folder)


def leave_out(ledger: SkipLedger) -> None:
    ledger.skip(5, {"numbers": AHEAD}, MESSAGES)


def test_the_next_batch_begins_further_ahead_and_nothing_else_changes(ledger: SkipLedger) -> None:
    leave_out(ledger)
    assert (ledger.folder / "offsets/5").read_text() == entry(AHEAD)
    assert named_offsets(ledger.folder, 5) == source_offsets(ledger.folder, 5) == {"numbers": AHEAD, "others": {"next": 7}}
    assert not (ledger.folder / "offsets/6").exists()
    assert (live_readable(ledger.folder, expected_batch=5), ledger.total) == (None, MESSAGES)


def test_what_is_left_out_adds_up(ledger: SkipLedger) -> None:
    leave_out(ledger)
    ledger.skip(5, {"numbers": {"orders": {"0": 260, "1": 90}}}, 10)
    ledger.settle()
    assert (named_offsets(ledger.folder, 5)["numbers"], ledger.total) == ({"orders": {"0": 260, "1": 90}}, MESSAGES + 10)


def test_killed_at_any_file_operation_it_is_done_and_counted_once_or_not_at_all(ledger: SkipLedger) -> None:
    fresh = {path: path.read_bytes() for path in ledger.folder.rglob("*") if path.is_file()}
    seen = set()
    for operation in range(1, 100):
        for path in ledger.path.parent.glob("*"):
            path.unlink()
        for path, content in fresh.items():
            path.write_bytes(content)
        ended = killed_at(operation, partial(leave_out, ledger))
        assert live_readable(ledger.folder, expected_batch=5) is None, f"killed at operation {operation}"
        ledger.settle()
        done = named_offsets(ledger.folder, 5)["numbers"] == AHEAD
        assert (ledger.total, (ledger.folder / "offsets/6").exists()) == ((MESSAGES, False) if done else (0, True))
        seen.add((ended, done))
        if ended == 0:
            break
    assert seen == {(9, False), (9, True), (0, True)}


def test_killed_while_it_makes_up_for_it_that_is_begun_again(ledger: SkipLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(SkipLedger, "settle", lambda ledger: None)
        leave_out(ledger)
    for operation in range(1, 100):
        ended = killed_at(operation, ledger.settle)
        if ended == 0:
            break
    assert (named_offsets(ledger.folder, 5)["numbers"], ledger.total, operation > 3) == (AHEAD, MESSAGES, True)


def test_what_was_meant_for_another_batch_is_void(ledger: SkipLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(SkipLedger, "settle", lambda ledger: None)
        leave_out(ledger)
    write(ledger.folder / "commits" / "6", 'v2\n{"nextBatchWatermarkMs":0}')
    ledger.settle()
    assert (named_offsets(ledger.folder, 5)["numbers"], named_offsets(ledger.folder, 6)["numbers"]) == (BEFORE, BEHIND)
    assert ledger.total == 0
