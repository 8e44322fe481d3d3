"""Folders of sockets that drivers leave in the folder for temporary files."""

import os
import tempfile
from pathlib import Path

import pytest

from jobs.engine.readers_folder import readers_folder_make, readers_folders_remove


def test_what_a_killed_driver_left_goes_and_that_of_others_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = {}
    for pid in (12, 123):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        folders[pid] = Path(readers_folder_make())
        (folders[pid] / "readers").touch()
    readers_folders_remove(12)
    assert list(tmp_path.iterdir()) == [folders[123]]
