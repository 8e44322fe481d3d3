"""Whether a query can go on from its live folder: damage is found and named before Spark starts, and never taken for a fresh start."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from checkpoints.spark_folder import files_needed, root_name
from checkpoints.verification import live_readable
from tests.checkpoints.streams import Stream
from tests.checkpoints.test_cut import flip, truncate

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


def test_a_folder_that_a_query_left_is_readable(folder: Path) -> None:
    assert live_readable(folder, expected_batch=11, deep=True) is None


def test_a_batch_that_was_planned_and_not_committed_is_no_damage(folder: Path) -> None:
    (folder / "commits/12").unlink(missing_ok=True)
    (folder / "offsets/12").unlink(missing_ok=True)
    (folder / "commits/11").unlink()
    assert live_readable(folder, expected_batch=10, planned_batch=11) is None


@pytest.mark.parametrize("damage", [truncate, flip, Path.unlink], ids=["truncated", "flipped", "removed"])
def test_damage_to_any_file_that_a_restart_needs_is_found(folder: Path, damage: Callable[[Path], None]) -> None:
    newest = max(int(path.name) for path in (folder / "commits").iterdir() if path.name.isdigit())
    needed = {name for name in files_needed(folder, newest) if name.rsplit("/", 1)[-1] == root_name(name.rsplit("/", 1)[-1])}
    written_anew = {name for name in needed if "/_metadata/" in name}
    for name in sorted(needed):
        path = folder / name
        before = path.read_bytes()
        if damage is Path.unlink and (name in written_anew or _covered(path)):
            continue
        damage(path)
        assert live_readable(folder, expected_batch=newest), f"{name} was damaged, and nobody saw it"
        path.write_bytes(before)
    assert live_readable(folder, expected_batch=newest) is None


def _covered(path: Path) -> bool:
    """A step beside the snapshot of its own version, or a snapshot that all the steps up to its version can replace."""
    version, _, kind = path.name.partition(".")
    steps = {int(step.name.split(".")[0].split("_")[0]) for step in path.parent.glob("*.*") if step.suffix in (".changelog", ".delta")}
    if kind in ("changelog", "delta"):
        return (path.parent / f"{version}.{ {'changelog': 'zip', 'delta': 'snapshot'}[kind] }").exists()
    return kind in ("zip", "snapshot") and steps >= set(range(1, int(version.split("_")[0]) + 1))


def test_a_vanished_folder_is_never_a_fresh_start(left_behind: Callable[[str], Stream], tmp_path: Path) -> None:
    assert live_readable(tmp_path / "live", expected_batch=-1) is None
    assert live_readable(tmp_path / "live", expected_batch=3) == "its folder is gone"
    assert live_readable(tmp_path / "live", planned_batch=0) == "its folder is gone"
    (tmp_path / "live").mkdir()
    assert live_readable(tmp_path / "live", planned_batch=0) == "it knows nothing of batch 0, which was written"
    assert live_readable(tmp_path / "live", expected_batch=3) == "it ends at batch -1, but batch 3 was committed"


def test_a_folder_that_went_back_is_found_by_the_batch_that_was_committed(folder: Path) -> None:
    for log in ("offsets", "commits"):
        for number in range(8, 14):
            (folder / log / str(number)).unlink(missing_ok=True)
    assert live_readable(folder, expected_batch=11) == "it ends at batch 7, but batch 11 was committed"


def test_an_emptied_log_is_damage(folder: Path) -> None:
    shutil.rmtree(folder / "offsets")
    assert "offsets" in (live_readable(folder, expected_batch=11) or "")
