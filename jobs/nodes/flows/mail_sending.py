"""What the task of Spark does with rows that are mailed for: the mails, and then the same rows with the reason of those refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.nodes.base import REJECTED, ConnectionSettings
from jobs.nodes.columns import column, rejected_schema
from jobs.nodes.connections.smtp_client import SmtpSettings
from jobs.nodes.flows.for_each_calls import batch_number
from jobs.nodes.flows.for_each_mail import ForEachMailConfig
from jobs.nodes.flows.mail_line import MailLine
from jobs.nodes.flows.mail_messages import MailRow, MailRows, Mails, Unsendable
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sinks.http_sending import values_used
from jobs.nodes.user_python.calls import with_reasons
from jobs.nodes.user_python.workers import in_workers_shared
from jobs.nodes.worker_errors import carried_out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jobs.nodes.base import NodeContext


@dataclass(frozen=True)
class Mailing:
    """Goes to the task by value. `identity`: job, node and generation; the batch is known in the task alone."""

    config: ForEachMailConfig
    connection: ConnectionSettings
    identity: str
    node_id: str
    stops_at_rejected: bool
    note: RetryNote

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """`batches` have the row's own columns, then `columns_used`; what comes out, the own ones and REJECTED."""
        sender = SmtpSettings.model_validate(self.connection.config).sender
        mails = Mails(self.config, sender, f"{self.identity}/{batch_number()}")
        gone = 0
        with carried_out(self.node_id), self._line() as line:
            for batch in batches:
                told = self._told(line, mails, self._rows(batch, gone))
                gone += batch.num_rows
                places = sorted(told)
                own = batch if len(places) == batch.num_rows else batch.take(pa.array(places, pa.int64()))
                yield with_reasons(own.columns[:-1], batch.schema.names[:-1], [told[place] or None for place in places])
                if self.stops_at_rejected and any(told.values()):
                    return
            line.rest()

    def _line(self) -> MailLine:
        return MailLine(
            self.connection,
            attempts=self.config.attempts,
            timeout_seconds=self.config.timeout_seconds,
            mails_per_minute=self.config.mails_per_minute,
            note=self.note,
        )

    def _rows(self, batch: pa.RecordBatch, gone: int) -> list[MailRow]:
        """Numbered by their place: the same whenever the batch is made of the same rows in the same order."""
        names = tuple(self.config.columns_used())
        used = (dict(zip(names, (value[len('{"v":') : -1] for value in texts), strict=True)) for texts in batch["columns_used"].to_pylist())
        return [MailRow(number, str(gone + number), columns) for number, columns in enumerate(used)]

    def _told(self, line: MailLine, mails: Mails, rows: Sequence[MailRow]) -> dict[int, str]:
        """Row → why it is rejected, or ""; without those behind the first mail that is refused, where the job ends with it."""
        told: dict[int, str] = {}
        for mail in mails.gathered(rows):
            reason = mail.reason or _sent(line, mails, mail)
            told |= dict.fromkeys((row.number for row in mail.rows), reason)
            if reason and self.stops_at_rejected:
                break
        return told


def _sent(line: MailLine, mails: Mails, mail: MailRows) -> str:
    try:
        message = mails.message(mail)
    except Unsendable as unsendable:
        return str(unsendable)
    return line.send(mail.recipients, message)


def rows_mailed(frame: DataFrame, context: NodeContext[ForEachMailConfig], connection: ConnectionSettings) -> DataFrame:
    """One task sends for all rows, since tasks know nothing of each other's pace. `frame` with the column REJECTED."""
    mailing = Mailing(
        config=context.config,
        connection=connection,
        identity=f"{context.job_uid}/{context.node_id}/{context.generation}",
        node_id=context.node_id,
        stops_at_rejected=context.fails_at_rejected,
        note=RetryNote.of(context.work_dir),
    )
    own = [column(name).alias(f"c{place}") for place, name in enumerate(frame.columns)]
    given = frame.select(*own, values_used(frame, context.config.columns_used())).coalesce(1)
    made = rejected_schema(frame.select(*own).schema)
    return in_workers_shared(lambda: given.mapInArrow(lambda batches: mailing.run(batches), made)).toDF(*frame.columns, REJECTED)
