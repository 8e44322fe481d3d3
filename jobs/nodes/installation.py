"""What an installation hands to its nodes: connections with their secrets, and where they may read and write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ConnectionSettings:
    """A connection with its secrets open. Its text never shows them. `problem`: why they could not be opened, "" if they were."""

    name: str
    kind: str
    config: Mapping[str, Any]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    problem: str = ""


@dataclass(frozen=True)
class Limits:
    """What an installation allows its nodes: folders for files, hosts for HTTP, drivers for JDBC. An executor gets these by value."""

    file_roots: tuple[Path, ...] = ()
    http_allowed_hosts: tuple[str, ...] = ()
    data_dir: Path = Path("data")
    #: The file that lists the JDBC drivers; None where there are none.
    jdbc_drivers: Path | None = None
    #: The file that lists the kinds of file stores besides S3; None where there are none.
    file_stores: Path | None = None
