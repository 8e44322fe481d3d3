"""Which batches of a Delta sink count, kept in the table's own log: a batch appears once, and only by the newest attempt.

Delta keeps a number for each name of an application and refuses a commit that raises none, or that met another commit of the same
name on its way. Ours is named `job_uid/node/generation`; its number holds the attempt above the batch. So a batch is written once, an
attempt that was overtaken can write nothing more, and one that is just committing when it is overtaken fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs.nodes.base import NodeContext, SinkFenced
from jobs.nodes.delta import DeltaTable, delta_object

_BATCH_BITS = 40
_NO_BATCH = -1
#: Of a generation that was superseded.
_CLOSED = 2**63 - 1


@dataclass(frozen=True)
class Standing:
    """What the table knows of a generation: the attempt that may write and the last batch written, -1 for none."""

    attempt: int
    batch_id: int

    @classmethod
    def of(cls, number: int) -> Standing:
        return cls(number >> _BATCH_BITS, (number & (2**_BATCH_BITS - 1)) - 1)

    @property
    def number(self) -> int:
        return (self.attempt << _BATCH_BITS) + self.batch_id + 1


@dataclass(frozen=True)
class DeltaMarker:
    """The marker of one sink in one generation. Every question is about the table as it was opened."""

    job_uid: str
    node_id: str
    generation: str
    attempt: int

    @classmethod
    def of(cls, context: NodeContext[Any]) -> DeltaMarker:
        return cls(context.job_uid, context.node_id, context.generation, context.attempt)

    @property
    def application(self) -> str:
        return f"{self.job_uid}/{self.node_id}/{self.generation}"

    def options(self, batch_id: int) -> dict[str, str]:
        """What a write of this batch tells Delta."""
        return {"txnAppId": self.application, "txnVersion": str(Standing(self.attempt, batch_id).number)}

    def raise_fence(self, table: DeltaTable) -> bool:
        """In one commit, let this attempt alone write and close all other generations; SinkFenced if a newer attempt did so.

        Whether the generation has written batches already.
        """
        transaction = table.log.startTransaction()
        numbers = _numbers(transaction.snapshot())
        mine = numbers.get(self.application)
        others = [name for name, number in numbers.items() if self._is_superseded(name) and number != _CLOSED]
        newest = max((Standing.of(number).attempt for name, number in numbers.items() if name in (self.application, *others)), default=0)
        if mine == _CLOSED:
            raise SinkFenced("writing delta: this line of processing was superseded by a newer start or restore; it stops")
        if newest > self.attempt:
            raise SinkFenced(f"writing delta: attempt {newest} of this job took over the table; this one, {self.attempt}, stops")
        batch_id = _NO_BATCH if mine is None else Standing.of(mine).batch_id
        raised = {self.application: Standing(self.attempt, batch_id).number} | dict.fromkeys(others, _CLOSED)
        if any(numbers.get(name) != number for name, number in raised.items()):
            _commit(table, transaction, raised)
        return batch_id != _NO_BATCH

    def holds(self, table: DeltaTable, batch_id: int) -> bool:
        """Whether the batch is in already; SinkFenced if this attempt may not write."""
        number = _numbers(table.snapshot).get(self.application)
        if number is None or Standing.of(number).attempt != self.attempt:
            raise SinkFenced(f"writing delta: another attempt of this job took over the table; this one, {self.attempt}, stops")
        return Standing.of(number).batch_id >= batch_id

    def _is_superseded(self, application: str) -> bool:
        return application.startswith(f"{self.job_uid}/{self.node_id}/") and application != self.application


def _numbers(snapshot: Any) -> dict[str, int]:
    pairs = snapshot.transactions().toSeq()
    found = (pairs.apply(index) for index in range(pairs.size()))
    return {str(pair._1()): int(pair._2()) for pair in found}


def _commit(table: DeltaTable, transaction: Any, numbers: dict[str, int]) -> None:
    """Changes no row. Delta raises where another commit has changed one of `numbers` since the transaction began."""
    jvm: Any = table.spark._jvm
    actions = jvm.java.util.ArrayList()
    for application, number in numbers.items():
        transaction.txnVersion(application)  # having been asked for, it must not change until the commit
        actions.add(jvm.org.apache.spark.sql.delta.actions.SetTransaction(application, number, jvm.scala.Option.empty()))
    sequence = jvm.scala.jdk.javaapi.CollectionConverters.asScala(actions).toSeq()
    transaction.commit(sequence, delta_object(table.spark, "DeltaOperations$ManualUpdate"))
