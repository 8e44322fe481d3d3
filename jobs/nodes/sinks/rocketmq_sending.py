"""What one task of Spark does with its rows: makes messages of them, sends them and tells how many the broker took."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from jobs.nodes.base import ConnectionSettings
from jobs.nodes.rejected_rows import RejectedRows
from jobs.nodes.rocketmq.client import RocketMq
from jobs.nodes.rocketmq.sending import Outgoing, TopicWriter
from jobs.nodes.sinks.messages import MESSAGE_ID
from jobs.nodes.sinks.rocketmq import RocketmqSinkConfig
from jobs.nodes.sinks.task_tally import SAMPLE_ROWS, TaskTally, task_tally
from jobs.nodes.worker_errors import carried_out


class _Enough(Exception):
    """A row was rejected, and the job ends with the first."""


@dataclass(frozen=True)
class _Tally:
    counted: TaskTally
    stops: bool

    def settled(self, messages: Sequence[Outgoing], reason: str) -> None:
        for message in messages if reason else ():
            self.reject(reason, _row(message.row, message.value))
        if not reason:
            self.counted.sent += len(messages)

    def reject(self, reason: str, row: str) -> None:
        self.counted.add([row], reason)
        if self.stops:
            raise _Enough


@dataclass(frozen=True)
class Sending:
    """Goes to the tasks by value."""

    config: RocketmqSinkConfig
    connection: ConnectionSettings
    node_id: str
    stops_at_rejected: bool
    rejections: RejectedRows | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """`batches` have the columns value, row, keys, tag, due and message_id; what comes out has those of RESULT."""
        with (
            carried_out(self.node_id),
            task_tally(SAMPLE_ROWS, self.rejections) as counted,
            RocketMq(self.connection) as client,
            suppress(_Enough),
        ):
            self._send(batches, client, _Tally(counted, self.stops_at_rejected))
        yield counted.as_batch()

    def _send(self, batches: Iterable[pa.RecordBatch], client: RocketMq, tally: _Tally) -> None:
        config = self.config
        together = config.delay == "none"
        writer: TopicWriter | None = None
        for batch in batches:
            for row in _rows(batch):
                # A task without rows asks nobody.
                in_order = together and bool(config.key_columns)
                writer = writer or TopicWriter(client, config.topic, tally.settled, in_order=in_order, together=together)
                try:
                    message = self._message(row)
                except ValueError as error:
                    tally.reject(str(error), _row(row["row"], row["value"] or b""))
                else:
                    writer.add(message, message.properties.get("KEYS", ""))
        if writer is not None:
            writer.finish()

    def _message(self, row: dict[str, Any]) -> Outgoing:
        """ValueError where the row cannot be a message."""
        config = self.config
        message_id = row["message_id"]
        unique = hashlib.md5(message_id.encode(), usedforsecurity=False).hexdigest() if message_id else os.urandom(16).hex()
        properties = {"UNIQ_KEY": unique.upper()}
        if keys := " ".join(filter(None, row["keys"] or ())):
            properties["KEYS"] = keys
        if tag := (row["tag"] or config.tag).strip():
            properties["TAGS"] = tag
        if message_id:
            properties[MESSAGE_ID] = message_id
        if config.delay == "level":
            properties["DELAY"] = str(config.delay_level)
        elif config.delay == "seconds":
            properties["TIMER_DELAY_SEC"] = str(config.delay_seconds)
        elif config.delay == "column" and row["due"] is not None:
            properties["TIMER_DELIVER_MS"] = str(row["due"])
        return Outgoing(row["value"] or b"", properties, row["row"] or "")


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    for values in zip(*(batch.column(name).to_pylist() for name in names), strict=True):
        yield dict(zip(names, values, strict=True))


def _row(row: str | None, value: bytes) -> str:
    """The row as JSON: the value itself, where that is the whole row."""
    return row or value.decode("utf-8", "replace")
