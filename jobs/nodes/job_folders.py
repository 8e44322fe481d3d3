"""What this host keeps for jobs, in a folder for each."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from uuid import UUID


def folders_by_job(above: Path) -> dict[str, Path]:
    """Uid of a job → its folder in `above`; what is called otherwise is left aside."""
    found: dict[str, Path] = {}
    for folder in above.glob("*/"):
        with suppress(ValueError):
            found[str(UUID(folder.name))] = folder
    return found
