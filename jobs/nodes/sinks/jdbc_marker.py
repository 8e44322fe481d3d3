"""The marker row in the target: which batch is in, and which attempt may write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jobs.nodes.base import SinkFenced
from jobs.nodes.sinks.jdbc_dialect import CLOSED, Dialect, TableName

MARKER_TABLE = "pipeline_sink_marker"


@dataclass(frozen=True)
class Marker:
    """The marker of one node's generation in one target. Every call runs inside the caller's transaction."""

    dialect: Dialect
    job_uid: str
    node: str
    generation: str

    def create_table(self, cursor: Any) -> None:
        """Not even asked for where it is there: the user's rights may not go so far."""
        if self.dialect.columns(cursor, TableName("", MARKER_TABLE)):
            return
        types = self.dialect.marker_types
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS {MARKER_TABLE} (job_uid {types['text']} NOT NULL, node {types['text']} NOT NULL, "
            f"generation {types['text']} NOT NULL, attempt {types['integer']} NOT NULL, batch_id {types['bigint']} NOT NULL, "
            f"PRIMARY KEY (job_uid, node, generation)){self.dialect.table_options}"
        )

    def raise_fence(self, cursor: Any, attempt: int) -> bool:
        """Insert or raise this generation's marker and close all others of the job; SinkFenced if a newer attempt holds one.

        Whether the generation has written batches already.
        """
        newer = self._one(
            cursor, "SELECT max(attempt) FROM {table} WHERE job_uid = ? AND attempt > ? AND attempt < ?", self.job_uid, attempt, CLOSED
        )
        if newer is not None and newer[0] is not None:
            raise SinkFenced(f"attempt {newer[0]} of this job took over the target; this one, {attempt}, stops")
        mine = self._row(cursor)
        if mine is not None and mine[0] == CLOSED:
            raise SinkFenced("this line of processing was superseded by a newer start or restore; it stops")
        self._run(cursor, "UPDATE {table} SET attempt = ? WHERE job_uid = ? AND generation <> ?", CLOSED, self.job_uid, self.generation)
        if mine is None:
            self._run(
                cursor, "INSERT INTO {table} (attempt, batch_id, job_uid, node, generation) VALUES (?, -1, ?, ?, ?)", attempt, *self._key
            )
        else:
            self._run(cursor, "UPDATE {table} SET attempt = ? WHERE job_uid = ? AND node = ? AND generation = ?", attempt, *self._key)
        return mine is not None and mine[1] >= 0

    def state(self, cursor: Any, attempt: int, batch_id: int) -> Literal["new", "written"]:
        """Whether the batch is in already; SinkFenced if this attempt may not write. Takes no lock."""
        row = self._row(cursor)
        if row is None or row[0] != attempt:
            raise SinkFenced(f"another attempt of this job took over the target; this one, {attempt}, stops")
        return "written" if row[1] >= batch_id else "new"

    def hold(self, cursor: Any, attempt: int) -> None:
        """Until the end of this transaction no other attempt takes over; SinkFenced if one has."""
        self._run(
            cursor,
            "UPDATE {table} SET attempt = ? WHERE job_uid = ? AND node = ? AND generation = ? AND attempt = ?",
            attempt,
            *self._key,
            attempt,
        )
        self.state(cursor, attempt, 0)

    def advance(self, cursor: Any, attempt: int, batch_id: int) -> bool:
        """Claim the batch in this transaction; False when it is in already. Holds the marker's row until the end of it."""
        changed = self._run(
            cursor,
            "UPDATE {table} SET batch_id = ? WHERE job_uid = ? AND node = ? AND generation = ? AND attempt = ? AND batch_id < ?",
            batch_id,
            *self._key,
            attempt,
            batch_id,
        )
        if changed == 0:
            self.state(cursor, attempt, batch_id)
        return changed == 1

    @property
    def _key(self) -> tuple[str, str, str]:
        return (self.job_uid, self.node, self.generation)

    def _row(self, cursor: Any) -> Any:
        return self._one(cursor, "SELECT attempt, batch_id FROM {table} WHERE job_uid = ? AND node = ? AND generation = ?", *self._key)

    def _one(self, cursor: Any, statement: str, *values: Any) -> Any:
        self._run(cursor, statement, *values)
        return cursor.fetchone()

    def _run(self, cursor: Any, statement: str, *values: Any) -> int:
        cursor.execute(statement.format(table=MARKER_TABLE).replace("?", self.dialect.placeholder), values)
        return int(cursor.rowcount)
