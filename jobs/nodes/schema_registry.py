"""A schema registry, asked over HTTP in Confluent's way: which schemas the messages of a subject were written with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from jobs.nodes.avro import AvroSchemas, avro_check
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.durable_text import text_place
from jobs.nodes.http_answers import NotThere
from jobs.nodes.http_client import HttpApi
from jobs.nodes.json_schema import json_schema_columns
from jobs.nodes.node_error import reworded

_MOST_VERSIONS = 200
_ATTEMPTS, _SECONDS = 3, 10.0
_Told = dict[str, Any]
_Found = TypeVar("_Found")


def registry_schemas(connection: ConnectionSettings, limits: Limits, subject: str, kept: Path | None = None) -> AvroSchemas:
    """All versions of `subject` by id, read as the newest. NodeError on `registry_connection` or `subject`.

    `kept` is the file in which a stream keeps what it reads them as, so that a restart reads the same columns.
    """

    told_at = time.time()

    def asked(version: Callable[[str], _Told], versions: list[int]) -> AvroSchemas:
        told = [version(str(number)) for number in versions[-_MOST_VERSIONS:]]
        writers = {int(one["id"]): _text(one, subject, "AVRO", avro_check) for one in told}
        return AvroSchemas(list(writers.values())[-1], writers, told_at)

    found = _asked(connection, limits, subject, asked)
    return replace(found, reader=_kept(found.reader, kept))


def registry_json_schema(connection: ConnectionSettings, limits: Limits, subject: str, kept: Path | None = None) -> str:
    """The newest JSON schema of `subject`, or the one that `kept` holds from the first start. NodeError as above."""

    def asked(version: Callable[[str], _Told], versions: list[int]) -> str:
        return _text(version("latest"), subject, "JSON", json_schema_columns)

    if kept is not None and kept.is_file():
        return kept.read_text(encoding="utf-8")
    return _kept(_asked(connection, limits, subject, asked), kept)


def _asked(
    connection: ConnectionSettings, limits: Limits, subject: str, ask: Callable[[Callable[[str], _Told], list[int]], _Found]
) -> _Found:
    """`ask` is given what tells a version, and the numbers of the versions there are."""
    with _told_in_words(connection, subject), HttpApi(connection, limits, attempts=_ATTEMPTS, timeout_seconds=_SECONDS) as api:
        path = f"subjects/{quote(subject, safe='')}/versions"
        try:
            versions = [int(number) for number in api.get_json(path, {})]
        except NotThere as error:
            message = 'it has no such subject; name another in "Subject", or correct the address of the registry'
            raise reworded(error, message, "subject") from error
        if not versions:
            raise NodeError(f"it knows no version of {subject}", kind="user", field="subject")
        return ask(lambda number: dict(api.get_json(f"{path}/{number}", {})), versions)


@contextmanager
def _told_in_words(connection: ConnectionSettings, subject: str) -> Iterator[None]:
    try:
        yield
    except NodeError as error:
        field = error.field if error.field in ("subject", "format") else "registry_connection"
        message = f'asking registry "{connection.name}" for {subject}: {error.message}'
        raise reworded(error, message, field) from error
    except (KeyError, TypeError, ValueError) as error:
        message = f'registry "{connection.name}" answers for {subject} with what is no schema: check its address'
        raise NodeError(message, field="registry_connection") from error


def _text(told: _Told, subject: str, kind: str, check: Callable[[str], object]) -> str:
    if (given := told.get("schemaType", "AVRO")) != kind:
        raise NodeError(f"{subject} is of type {given}, not {kind}; choose another format", kind="user", field="format")
    if told.get("references"):
        raise NodeError(f"{subject} refers to other subjects, which cannot be read yet; give the whole schema instead", kind="user")
    text = str(told["schema"])
    check(text)
    return text


def _kept(newest: str, kept: Path | None) -> str:
    if kept is None:
        return newest
    if not kept.is_file():
        text_place(kept, newest)
    return kept.read_text(encoding="utf-8")
