"""Rows that a print sink shows: what stands of them in the log of an execution, and what is told to who watches."""

import logging

import pytest
from pyspark.sql import SparkSession

from jobs import broadcast
from jobs.engine.events import RowsPrinted
from jobs.nodes.base import Batch, NodeContext
from jobs.nodes.sinks.print import PrintConfig, PrintSink
from jobs.reporting import Reporter, Writer
from jobs.reporting.reporter import PRINTED_LENGTH, PRINTED_MOST
from jobs.services.executions import execution_claim, execution_start
from tests.services.job_rows import driver_row, job_row, operator


def test_who_watches_gets_no_more_of_a_batch_than_a_page_shows(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(broadcast, "execution_message", lambda _, message, project: told.append(message))
    execution_start(job=job_row(), user=operator(), triggered_by="API")
    execution = execution_claim(driver=driver_row())
    assert execution is not None
    writer = Writer()
    reporter = Reporter(execution, writer, project="default", trigger_seconds=1.0, log=logging.getLogger("test"))
    reporter(RowsPrinted("out", 7, ("x" * 1_000_000,) + ("y",) * 999))
    writer.close()
    (message,) = [one for one in told if isinstance(one, broadcast.PrintedMessage)]
    assert len(message.rows) == PRINTED_MOST
    assert [len(row) for row in message.rows[:2]] == [PRINTED_LENGTH, 1]


@pytest.mark.spark
def test_a_printed_row_stands_in_the_log_once_and_cut_short(
    spark: SparkSession, transactional_db: None, caplog: pytest.LogCaptureFixture
) -> None:
    execution_start(job=job_row(), user=operator(), triggered_by="API")
    execution = execution_claim(driver=driver_row())
    assert execution is not None
    log = logging.getLogger("test")
    caplog.set_level(logging.INFO, logger="test")
    context = NodeContext("out", "Out", PrintConfig(), log=log.info)
    frame = spark.sql("SELECT id, repeat('x', IF(id = 0, 1, 1000000)) AS text FROM range(0, 2, 1, 1)")
    shown = PrintSink().write(frame, Batch(7, "out", rows=2), context).printed
    writer = Writer()
    Reporter(execution, writer, project="default", trigger_seconds=1.0, log=log)(RowsPrinted("out", 7, shown))
    writer.close()
    assert [len(row) for row in shown] == [19, 1_000_018]
    first, second = caplog.messages
    assert first == 'batch 7: {"id":0,"text":"x"}'
    assert second.startswith('batch 7: {"id":1,"text":"xxx')
    assert second.endswith("x … and 990,018 characters more")
