"""Folders that others change while they are looked through."""

import shutil
from pathlib import Path, PurePosixPath

import pytest

from jobs.nodes.file_walk import files_below, is_hidden, size_of, stats_below


def test_what_vanishes_meanwhile_is_left_out(tmp_path: Path) -> None:
    for name in ("first.csv", "kept/second.csv", "gone/third.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    walk = files_below(tmp_path)
    assert next(walk).name == "first.csv"
    shutil.rmtree(tmp_path / "gone")
    assert [file.name for file in walk] == ["second.csv"]


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert list(files_below(tmp_path / "none")) == []
    assert size_of(tmp_path / "none") == 0


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("part.csv", False),
        ("day=1/part.csv", False),
        ("_day=1/part.csv", False),
        ("_SUCCESS", True),
        ("_run/part.csv", True),
        (".part.csv", True),
        (".day=1/part.csv", True),
    ],
)
def test_names_are_hidden_as_spark_hides_them(name: str, hidden: bool) -> None:
    assert is_hidden(PurePosixPath(name)) == hidden


def test_what_vanishes_between_its_name_and_its_size_is_left_out(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name)
    found = stats_below(tmp_path)
    first, _ = next(found)
    gone = next(file for file in tmp_path.iterdir() if file != first)
    gone.unlink()
    assert len(list(found)) == 1
