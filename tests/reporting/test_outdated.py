"""A table beside a stream that could not be read again is told with the figures of its node, for as long as that is so."""

import logging

import pytest

from jobs import broadcast
from jobs.engine.events import OUTDATED, BatchWritten, NodeCounts, Noticed
from jobs.models import MetricSample
from jobs.reporting import Reporter, Writer
from jobs.services.executions import execution_claim, execution_start
from tests.services.job_rows import driver_row, job_row, operator

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_node_says_since_when_its_table_is_old_until_it_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def heard(execution_id: str, message: object, *, project: str) -> None:
        if isinstance(message, broadcast.MetricsMessage):
            sent.append(message.nodes["look"].outdated_since)

    monkeypatch.setattr(broadcast, "execution_message", heard)
    execution_start(job=job_row(), user=operator(), triggered_by="API")
    execution = execution_claim(driver=driver_row())
    assert execution is not None
    writer = Writer()
    ear = Reporter(execution, writer, project="default", trigger_seconds=1.0, log=logging.getLogger("test"))
    ear(BatchWritten("out", 0, rows_in=1, rows_out=1, rejected=0, nodes={"look": NodeCounts(1, 1)}))
    ear(Noticed("its table is old", "look", "warning", {OUTDATED: "2026-01-02T03:04:05+00:00"}))
    ear.tick(None)
    ear(Noticed("its table is up to date again", "look", detail={OUTDATED: ""}))
    ear.tick(None)
    ear.close()
    writer.close()
    assert list(dict.fromkeys(sent)) == ["2026-01-02T03:04:05+00:00", ""]
    assert MetricSample.objects.latest("time").detail["nodes"]["look"]["outdated_since"] == ""
