"""A schema registry, asked over HTTP in Confluent's way: which schemas the messages of a subject were written with."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from jobs.nodes.avro import AvroSchemas, avro_check
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.http_client import HttpApi

_MOST_VERSIONS = 200
_ATTEMPTS, _SECONDS = 3, 10.0


def registry_schemas(connection: ConnectionSettings, limits: Limits, subject: str, kept: Path | None = None) -> AvroSchemas:
    """All versions of `subject` by id, read as the newest. NodeError on `registry_connection` or `subject`.

    `kept` is the file in which a stream keeps what it reads them as, so that a restart reads the same columns.
    """
    writers: dict[int, str] = {}
    try:
        with HttpApi(connection, limits, attempts=_ATTEMPTS, timeout_seconds=_SECONDS) as api:
            path = f"subjects/{quote(subject, safe='')}/versions"
            for version in api.get_json(path, {})[-_MOST_VERSIONS:]:
                told = api.get_json(f"{path}/{int(version)}", {})
                writers[int(told["id"])] = _avro_text(told, subject)
    except NodeError as error:
        raise NodeError(
            f'asking registry "{connection.name}" for {subject}: {error.message}',
            permanent=error.permanent,
            kind=error.kind,
            field="registry_connection",
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise NodeError(f'registry "{connection.name}" tells of {subject} what is no schema ({error})', field="subject") from error
    if not writers:
        raise NodeError(f'registry "{connection.name}" knows no version of {subject}', kind="user", field="subject")
    return AvroSchemas(_kept(list(writers.values())[-1], kept), writers)


def _avro_text(told: dict[str, object], subject: str) -> str:
    if told.get("schemaType", "AVRO") != "AVRO":
        raise NodeError(f"{subject} is of type {told['schemaType']}, not AVRO; choose another format", kind="user", field="format")
    if told.get("references"):
        raise NodeError(f"{subject} refers to other subjects, which cannot be read yet; give the whole schema instead", kind="user")
    text = str(told["schema"])
    avro_check(text)
    return text


def _kept(newest: str, kept: Path | None) -> str:
    if kept is None:
        return newest
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(newest, encoding="utf-8")
    return kept.read_text(encoding="utf-8")
