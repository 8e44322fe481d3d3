"""Going back to a checkpoint whose messages are not kept any more: nothing is taken away that could not come again."""

import json
import shutil
import uuid
from dataclasses import replace
from typing import Any

import pytest

from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan, RollBackPlan
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.spool import Message, Spool, spool_path
from tests.engine.graphs import Bench, document

pytestmark = pytest.mark.spark

NODES: dict[str, Any] = {
    "hook": ("source.webhook", {"connection": "sender", "columns": [{"name": "id", "type": "long"}]}),
    "lake": ("sink.file", {"path": "lake", "format": "json"}),
}


def planned(bench: Bench, generation: str, attempt: int) -> Plan:
    read = document(NODES, "hook>lake", type="STREAMING")
    return replace(bench.plan(read, generation=generation, attempt=attempt), until_drained=True)


def written(bench: Bench) -> list[int]:
    lines = (line for file in (bench.files / "lake").glob("*.json") for line in file.read_text().splitlines())
    return sorted(json.loads(line)["id"] for line in lines)


@pytest.fixture
def spool(bench: Bench) -> Spool:
    return Spool(spool_path(bench.root, planned(bench, "", 1).job_uid, "hook"))


def ran(bench: Bench, spool: Spool, plan: Plan, *received: int) -> None:
    spool.take([Message(json.dumps({"id": number}).encode()) for number in received], Backpressure())
    run, _ = bench.run(plan)
    assert run.wait(90) == "completed"


def test_sinks_are_rolled_back_only_where_what_was_taken_away_comes_again(bench: Bench, spool: Spool) -> None:
    first = str(uuid.uuid4())
    ran(bench, spool, planned(bench, first, 1), 1, 2, 3)
    kept = shutil.copytree(planned(bench, first, 1).locations.live, bench.root / "kept")
    ran(bench, spool, planned(bench, first, 2), 4, 5, 6)

    def back(attempt: int, *later: str) -> Plan:
        again = planned(bench, str(uuid.uuid4()), attempt)
        shutil.copytree(kept, again.locations.live)
        return replace(again, fresh=False, roll_back=RollBackPlan(first, {"lake": 0}, later))

    restored = back(3)
    ran(bench, spool, restored)
    assert written(bench) == [1, 2, 3, 4, 5, 6], "removed, and read again"

    spool.trim(6)
    run, _ = bench.run(back(4, restored.generation))
    with pytest.raises(ExecutionFailure, match=r"messages 4 to 5 are not kept any more: .* go back to a newer checkpoint") as refused:
        run.wait(90)
    assert (refused.value.node_id, refused.value.kind, refused.value.permanent) == ("hook", "user", True)
    assert written(bench) == [1, 2, 3, 4, 5, 6], "nothing was removed"

    run, _ = bench.run(replace(back(5), roll_back=None))
    with pytest.raises(ExecutionFailure, match="messages 4 to 5 are not kept any more") as failed:
        run.wait(90)
    assert (failed.value.node_id, failed.value.permanent) == ("hook", True)
