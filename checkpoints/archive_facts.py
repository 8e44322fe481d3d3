"""What a checkpoint that travels says about itself: `archive.json`, the first file of its archive.

archive.json             what is written here
manifest.json            of the whole checkpoint, as it lies on disk
<query>/manifest.json    of one query's cut, and then each of its files
"""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

ARCHIVE = "archive.json"
#: What is read as one text: lists and Spark's small files. State and the logs of file sources may be larger.
LARGEST_TEXT = 64 << 20
_MOST = 2**31 - 1
_Count = Annotated[int, Field(ge=0, le=_MOST)]


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TakenCheckpoint(_Facts):
    """The checkpoint: when and why it was taken, and what its row says about the position."""

    number: int = Field(ge=1, le=_MOST)
    origin: str = Field(max_length=20, pattern=r"^[A-Z_]+$")
    label: str = Field(max_length=200)
    requested_by: str = Field(max_length=200)
    attempt: _Count
    create_time: datetime
    state_data: dict[str, Any]
    operators: list[dict[str, Any]]
    phases: dict[str, _Count]

    @field_validator("state_data")
    @classmethod
    def _has_positions(cls, state_data: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(state_data.get("sources", {}), dict):
            raise ValueError("its sources are no positions by node")
        return state_data


class TakenRun(_Facts):
    """The execution it was taken of. `read_earlier`: source nodes of all versions in its line of positions, this one's too."""

    execution_id: str = Field(min_length=1, max_length=36)
    version: int = Field(ge=1, le=_MOST)
    job_type: Literal["STREAMING", "BATCH_ROLLER", "SQL_TASK"]
    parameters: dict[str, Any]
    resolved: dict[str, Any]
    read_earlier: list[str]


class TakenJob(_Facts):
    job_uid: str = Field(min_length=1, max_length=36)
    job_name: str = Field(min_length=1, max_length=200)
    project: str = Field(max_length=200)


class Taken(_Facts):
    """All that a restore elsewhere has to know. `document`: of the version that ran."""

    checkpoint: TakenCheckpoint
    run: TakenRun
    job: TakenJob
    document: dict[str, Any]


class KeptQuery(BaseModel):
    """What the manifest of a checkpoint says of a query, which its row will say too."""

    model_config = ConfigDict(strict=True, frozen=True)

    folder: str
    batch_id: int
    sinks: list[str]


class FileFacts(_Facts):
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class ArchiveFacts(Taken):
    """`files`: every other file of the archive by its path. `versions`: of Spark and the product that wrote it."""

    format: Literal[1] = 1
    versions: dict[str, str]
    files: dict[str, FileFacts]

    @field_validator("files")
    @classmethod
    def _lie_inside(cls, files: dict[str, FileFacts]) -> dict[str, FileFacts]:
        for name, facts in files.items():
            if not is_inside(name) or name == ARCHIVE:
                raise ValueError(f"{name[:100]!r} is no path below the folder it is unpacked to")
            if facts.bytes > LARGEST_TEXT and not {"state", "sources"} & set(name.split("/")[1:-1]):
                raise ValueError(f"{name[:100]} says that it has {facts.bytes:,} bytes")
        return files


def is_inside(name: str) -> bool:
    """Whether `name` is a plain relative path: no root, no step back, nothing that another system reads as one."""
    parts = name.split("/")
    plain = not {"", ".", ".."} & set(parts) and not set(name) & set("\\\0:")
    return plain and name.isprintable() and str(PurePosixPath(name)) == name
