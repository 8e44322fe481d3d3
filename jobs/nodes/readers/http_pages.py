"""Pages of an API as a Spark data source: one column `value`, a record's JSON text a row; the offset is a position of the walk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.page_requests import page_walk
from jobs.nodes.page_styles import Page, PageKey, Place
from jobs.nodes.page_walk import PageWalk, Position
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sources.http_api_config import HttpApiConfig
from jobs.nodes.worker_errors import carried_out

#: Pages stay for a batch that is run again; a restore to an older point asks the API anew.
_PAGES_KEPT = 1000


@dataclass
class PagePartition(InputPartition):
    key: PageKey
    now: str = ""


@dataclass(frozen=True)
class PageFiles:
    """Pages as they were when their batch was planned."""

    folder: Path

    def keep(self, page: Page) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{uuid4().hex}"
        part.write_text(json.dumps(vars(page) | {"key": page.key.page, "cursor": page.key.cursor}), encoding="utf-8")
        part.replace(self._file(page.key))

    def records(self, key: PageKey) -> list[str] | None:
        """None when they are gone, or belong to another cursor."""
        kept = self._kept(key)
        return None if kept is None else list(kept["records"])

    def following(self, key: PageKey) -> Place:
        """Where the page behind `key` is; None when that is not known here."""
        kept = self._kept(key)
        return None if kept is None else kept.get("following")

    def page(self, key: PageKey) -> Page | None:
        """A page as it was kept, None when it is gone."""
        kept = self._kept(key)
        return None if kept is None else Page(key, tuple(kept["records"]), kept["digest"], kept["following"], kept["total"])

    def _kept(self, key: PageKey) -> dict[str, Any] | None:
        try:
            kept: dict[str, Any] = json.loads(self._file(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return kept if kept["cursor"] == key.cursor else None

    def drop_before(self, page: int) -> None:
        for file in self.folder.glob("*.json"):
            if int(file.stem) < page:
                file.unlink(missing_ok=True)

    def _file(self, key: PageKey) -> Path:
        return self.folder / f"{key.page}.json"


class HttpPages(DataSource):
    @classmethod
    def name(cls) -> str:
        return "pipeline_http_pages"

    def schema(self) -> str:
        return "value string"

    def reader(self, schema: StructType) -> DataSourceReader:
        return HttpPagesReader(dict(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return HttpPagesStreamReader(dict(self.options))


class _Api:
    """What both readers share. Goes to workers as options; the walk, with its sockets, is made where it is used."""

    def __init__(self, options: dict[str, str]) -> None:
        settings = json.loads(options["settings"])
        self.config = HttpApiConfig.model_validate(settings["config"])
        self.connection = ConnectionSettings(**settings["connection"], secrets=json.loads(options["secret"]))
        self.limits = Limits(http_allowed_hosts=tuple(settings["http_allowed_hosts"]))
        self.node_id = str(settings["node_id"])
        self.files = PageFiles(Path(settings["pages"]))
        self._note = RetryNote(Path(settings["tried_again"]))

    def walk(self, *, whole: bool = False) -> PageWalk:
        """An API that is asked the same until nothing comes may hand out each record once: what came is kept at once, and used again."""
        once = self.files if self.config.paging == "until_empty" and not whole else None
        return page_walk(self.config, self.connection, self.limits, kept=once, note=self._note)


class HttpPagesReader(DataSourceReader):
    """All pages, one after the other, by one task."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition("all pages")]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        api = _Api(self._options)
        with carried_out(api.node_id), closing(api.walk(whole=True)) as walk:
            position = walk.start()
            while not position.done:
                pages, following = walk.batch(position, api.config.pages_per_batch)
                yield from (_rows(page.records) for page in pages if page.records)
                if following == position:
                    return
                position = following


class HttpPagesStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans by fetching: where the pages end is known only by asking. The next batch is fetched while this one is processed."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._api = _Api(options)
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._ahead: tuple[Position, Future[tuple[list[Page], Position]]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Spark sends the reader to its workers, which only read."""
        return {"_options": self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._options = state["_options"]
        self._api = _Api(self._options)

    @cached_property
    def _walk(self) -> PageWalk:
        """Made when first used: most workers only read what was kept."""
        return self._api.walk()

    def initialOffset(self) -> dict[str, Any]:
        return self._walk.start().as_offset()

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """The pages end by themselves."""

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        position = Position.of_offset(start)
        with carried_out(self._api.node_id):
            pages, following = self._fetched(position)
            if following == position:
                return start
            for page in pages:
                self._api.files.keep(page)
        if not following.done:
            self._ahead = (following, self._pool.submit(self._batch, following))
        return following.as_offset()

    def _fetched(self, position: Position) -> tuple[list[Page], Position]:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == position:
            return ahead[1].result()
        return self._batch(position)

    def _batch(self, position: Position) -> tuple[list[Page], Position]:
        return self._walk.batch(position, self._api.config.pages_per_batch)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Several batches may be replayed as one after a restart: the pages between are walked again from their kept copies."""
        first, last = Position.of_offset(start), Position.of_offset(end)
        keys = [key for key in last.batch if key.page >= first.page]
        if keys and keys[0].page > first.page:
            keys = self._keys_between(first, last)
        return [PagePartition(key, last.now) for key in keys]

    def _keys_between(self, first: Position, last: Position) -> list[PageKey]:
        if self._api.config.paging == "page":
            return [PageKey(page) for page in range(first.page, last.page)]
        keys: list[PageKey] = []
        key = PageKey(first.page, first.cursor)
        with carried_out(self._api.node_id):
            while key.page < last.page:
                keys.append(key)
                following = self._api.files.following(key)
                key = PageKey(key.page + 1, self._walk.read(key, last.now).following if following is None else following)
        return keys

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, PagePartition)
        records = self._api.files.records(partition.key)
        if records is None:
            with carried_out(self._api.node_id), closing(self._api.walk()) as walk:
                records = list(walk.read(partition.key, partition.now).records)
        if records:
            yield _rows(records)

    def commit(self, end: dict[str, Any]) -> None:
        self._api.files.drop_before(Position.of_offset(end).page - _PAGES_KEPT)

    def stop(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        if "_walk" in vars(self):
            self._walk.close()


def _rows(records: Sequence[str]) -> pa.RecordBatch:
    try:
        values = pa.array(records, pa.string())
    except UnicodeEncodeError:  # half a character, as where a program cut a text
        values = pa.array([record.encode("utf-8", "replace") for record in records], pa.binary()).cast(pa.string())
    return pa.RecordBatch.from_arrays([values], names=["value"])
