"""What a restore would meet, over REST: node by node, how much is done again, and what is refused."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from checkpoints.models import Checkpoint
from jobs.models import Execution, ExecutionStatus, Job, MetricSample, Role
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.sources.webhook import WebhookSource
from jobs.nodes.spool import Message, Spool, spool_path
from tests.checkpoints.kept import execution_row, kept, live_of, spark_folder
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.services.job_rows import document_with, job_row, version_add

pytestmark = pytest.mark.django_db


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row())


@pytest.fixture
def operator(execution: Execution) -> Client:
    return member("olga", Role.OPERATOR)


def version(job: Job, **nodes: Any) -> Job:
    """The next version: numbers into a print sink, with these nodes changed, or put in between where they are flows."""
    document = document_with(name=job.job_name)
    document["nodes"] |= nodes
    before = "numbers"
    for number, node_id in enumerate(one for one, node in nodes.items() if node["type"].startswith("flow.")):
        document["edges"][f"f{number}"] = {"from": [before, "out"], "to": [node_id, "in"]}
        before = node_id
    document["edges"]["e1"] = {"from": [before, "out"], "to": ["out", "in"]}
    return version_add(job, document)


SUMMED = {"type": "flow.aggregate", "name": "Per value", "config": {"group_by": ["value"]}}
SOME = {"type": "flow.filter_rows", "name": "Some", "config": {"condition": "id > 1"}}


@pytest.fixture
def checkpoint(execution: Execution) -> Checkpoint:
    found = kept(execution)
    ended(execution)
    return found


def precheck(client: Client, checkpoint: Checkpoint, wanted: str = "") -> Any:
    return send(client, "GET", f"/api/checkpoints/{checkpoint.pk}/precheck" + (f"?version={wanted}" if wanted else ""))


def test_its_own_version_goes_on_as_it_is(checkpoint: Checkpoint, operator: Client) -> None:
    found = precheck(operator, checkpoint)
    assert (found["ok"], found["version"], found["own_version"], found["current_version"]) == (True, 1, 1, 1)
    assert [(change["node_id"], change["type"], change["verdict"]) for change in found["changes"]] == [
        ("numbers", "source.generator", "same"),
        ("out", "sink.print", "same"),
    ]


def test_another_version_is_told_node_by_node(checkpoint: Checkpoint, operator: Client) -> None:
    version(checkpoint.execution.job, some=SOME)
    found = precheck(operator, checkpoint, "current")
    assert (found["ok"], found["version"], found["own_version"]) == (True, 2, 1)
    assert [(change["node_id"], change["verdict"]) for change in found["changes"]] == [
        ("numbers", "same"),
        ("some", "compatible_with_warning"),
        ("out", "compatible_with_warning"),
    ]
    assert "It starts version 2; it was taken of version 1" in [check["message"] for check in found["checks"]]
    assert precheck(operator, checkpoint)["version"] == 1


def test_a_new_sink_repeats_no_rows(checkpoint: Checkpoint, operator: Client) -> None:
    job = checkpoint.execution.job
    document = document_with(name=job.job_name)
    document["nodes"]["too"] = document["nodes"]["out"] | {"name": "Too"}
    document["edges"]["e2"] = {"from": ["numbers", "out"], "to": ["too", "in"]}
    version_add(job, document)
    names = [check["name"] for check in precheck(operator, checkpoint, "2")["checks"]]
    assert ("sink.out" in names, "sink.too" in names) == (True, False)


@pytest.mark.parametrize(
    ("config", "ends_with"),
    [
        ({"mode": "upsert", "keys": ["id"]}, "rows since this checkpoint come again and replace those with the same keys"),
        ({"mode": "append"}, "are written again (within one generation the sink writes exactly once)"),
        ({"mode": "${mode}"}, "are written again (within one generation the sink writes exactly once)"),
    ],
    ids=["upsert", "append", "a parameter without a value"],
)
def test_a_table_says_whether_rows_that_come_again_replace_others(
    checkpoint: Checkpoint, operator: Client, config: dict[str, Any], ends_with: str
) -> None:
    version(checkpoint.execution.job, out={"type": "sink.jdbc", "name": "Out", "config": {"connection": "db", "table": "t"} | config})
    (told,) = [check for check in precheck(operator, checkpoint, "2")["checks"] if check["name"] == "sink.out"]
    assert told["message"].endswith(ends_with)
    assert told["severity"] == ("info" if "replace" in ends_with else "warning")


def test_what_needs_a_fresh_start_is_refused_before_and_at_the_restore(checkpoint: Checkpoint, operator: Client) -> None:
    version(checkpoint.execution.job, per=SUMMED)
    found = precheck(operator, checkpoint, "2")
    assert not found["ok"]
    (refused,) = [check for check in found["checks"] if not check["ok"]]
    assert (refused["name"], refused["message"].startswith('"Per value": It keeps state and is new')) == ("graph", True)
    error = send(operator, "POST", f"/api/checkpoints/{checkpoint.pk}/restore", {"version": 2}, expected=422)["error"]
    assert error["code"] == "restore.changed"
    assert [(problem["node_id"], problem["code"]) for problem in error["problems"]] == [("per", "graph.state.added")]
    assert refused["message"] in error["problems"][0]["message"]


def test_a_restore_into_another_version_starts_that(checkpoint: Checkpoint, operator: Client) -> None:
    version(checkpoint.execution.job, some=SOME)
    started = send(operator, "POST", f"/api/checkpoints/{checkpoint.pk}/restore", {"version": 2}, expected=202)
    assert Execution.objects.get(execution_id=started["execution_id"]).version == 2


def test_the_nearest_good_one_is_offered_in_place_of_one_without_files(execution: Execution, operator: Client) -> None:
    before, failed, after = (kept(execution, batches) for batches in (2, 3, 4))
    ended(execution)
    Checkpoint.objects.filter(pk=before.pk).update(create_time=failed.create_time - timedelta(hours=1))
    Checkpoint.objects.filter(pk=failed.pk).update(status="FAILED")
    answer = operator.post(f"/api/checkpoints/{failed.pk}/restore", {}, content_type="application/json")
    assert answer.status_code == 422, answer.content
    error = answer.json()["error"]
    assert error["code"] == "checkpoint.not_restorable"
    assert error["message"].endswith(f"the nearest good one is checkpoint {after.checkpoint_id} of execution {execution.execution_id}")
    nearest = {"id": after.pk, "checkpoint_id": after.checkpoint_id, "execution_id": execution.execution_id}
    assert error["nearest"] == nearest


def test_a_start_from_a_checkpoint_takes_the_version_too(checkpoint: Checkpoint, operator: Client) -> None:
    version(checkpoint.execution.job, per=SUMMED)
    path = "/api/jobs/numbers/start"
    error = send(operator, "POST", path, {"from": checkpoint.pk, "version": 2}, expected=422)["error"]
    assert error["problems"][0]["node_id"] == "per"
    error = send(operator, "POST", path, {"from": "continue"}, expected=409)["error"]
    assert (error["code"], error["problems"][0]["node_id"]) == ("start.changed", "per")
    started = send(operator, "POST", path, {"from": checkpoint.pk}, expected=202)
    assert Execution.objects.get(execution_id=started["execution_id"]).version == 1


def test_state_that_is_left_behind_needs_consent(operator: Client) -> None:
    job = version(job_row("kinds"), per=SUMMED)
    document = json.loads(job.versions.get(version=2).dag_definition)
    document["nodes"]["too"] = {"type": "sink.print", "name": "Too", "config": {}}
    document["edges"]["e9"] = {"from": ["numbers", "out"], "to": ["too", "in"]}
    version_add(job, document)
    execution = execution_row(job)
    Execution.objects.filter(pk=execution.pk).update(version=3)
    checkpoint = kept(Execution.objects.get(pk=execution.pk))
    ended(execution)
    plain = document_with(name="kinds")
    plain["nodes"]["too"] = plain["nodes"].pop("out") | {"name": "Too"}
    plain["edges"]["e1"]["to"] = ["too", "in"]
    version_add(job, plain)
    found = precheck(operator, checkpoint, "4")
    assert (found["ok"], found["drops_state"]) == (True, True)
    refused = send(operator, "POST", "/api/jobs/kinds/start", {"from": "continue"}, expected=409)["error"]
    assert refused["offers"] == ["beginning", checkpoint.pk]
    words = f"; restore checkpoint {checkpoint.checkpoint_id} into version 4, which leaves that behind, or start from the beginning"
    assert refused["message"].endswith(words)
    path = f"/api/checkpoints/{checkpoint.pk}/restore"
    assert "allow_non_restored_state" in send(operator, "POST", path, {"version": 4}, expected=422)["error"]["message"]
    send(operator, "POST", path, {"version": 4, "allow_non_restored_state": True}, expected=202)


@pytest.mark.parametrize("wanted", ["7", "newest", "-1"])
def test_a_version_that_there_is_not_is_not_found(checkpoint: Checkpoint, operator: Client, wanted: str) -> None:
    send(operator, "GET", f"/api/checkpoints/{checkpoint.pk}/precheck?version={wanted}", expected=404)


def test_rows_and_time_behind_the_checkpoint_are_those_of_the_live_folder(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution, 2)
    live = spark_folder(live_of(execution) / "out", 5)
    later = (live / "commits" / "1").stat().st_mtime + 90
    os.utime(live / "commits" / "4", (later, later))
    replay = precheck(operator, checkpoint)["replay"]
    assert (replay["rows"], replay["is_about"]) == (30, False)
    assert replay["sources"] == [{"node_id": "numbers", "rows": 30, "files": None, "bytes": None}]
    assert replay["seconds"] == pytest.approx(90, abs=0.01)


def offsets_set(checkpoint: Checkpoint, execution: Execution, start: Any, end: Any) -> None:
    """A source's position in the checkpoint, and in the live folder behind it."""
    checkpoint.state_data = {"sources": {"numbers": start}}
    checkpoint.save()
    live = spark_folder(live_of(execution) / "out", 4)
    (live / "offsets" / "3").write_text('v2\n{"batchWatermarkMs":0}\nnumbers:' + json.dumps(end))


@pytest.mark.parametrize(
    ("start", "end", "rows"),
    [
        ({"orders": {"0": 5, "1": 7}}, {"orders": {"0": 15, "1": 8}}, 11),
        ({"broker-a/0": 3}, {"broker-a/0": 10}, 7),
        ({"position": 4}, {"position": 9}, 5),
        ({"orders": {"0": 5}}, {"orders": {"0": 15, "1": 8}}, None),
        ({"page": 3, "cursor": "x"}, {"page": 9, "cursor": "y"}, None),
    ],
    ids=["kafka", "rocketmq", "spool", "a partition that came since", "pages without rows"],
)
def test_rows_are_told_where_the_position_counts_them(
    execution: Execution, operator: Client, start: Any, end: Any, rows: int | None
) -> None:
    checkpoint = kept(execution)
    offsets_set(checkpoint, execution, start, end)
    assert precheck(operator, checkpoint)["replay"]["rows"] == rows


def test_files_are_counted_in_the_log_of_their_source(execution: Execution, operator: Client, tmp_path: Path) -> None:
    checkpoint = kept(execution)
    offsets_set(checkpoint, execution, {"logOffset": 1}, {"logOffset": 3})
    log = live_of(execution) / "out" / "sources" / "numbers"
    log.mkdir(parents=True)
    entries = {"2.compact": [0, 1, 2, 2], "3": [3]}
    for name, batches in entries.items():
        lines = [
            json.dumps({"path": (tmp_path / f"{batch} {index}.csv").as_uri(), "timestamp": 1, "batchId": batch})
            for index, batch in enumerate(batches)
        ]
        (log / name).write_text("\n".join(["v1", *lines]))
    (source,) = precheck(operator, checkpoint)["replay"]["sources"]
    assert (source["files"], source["rows"], source["bytes"]) == (3, None, None), "the files are gone"
    for name in ("2 2", "2 3", "3 0"):
        (tmp_path / f"{name}.csv").write_text("12345")
    (source,) = precheck(operator, checkpoint)["replay"]["sources"]
    assert (source["files"], source["bytes"]) == (3, 15)


@pytest.mark.parametrize(
    "damaged", [b'v1\n{"path":"file:/a', b"v1\n\xff\xfe", b"v1\n{}", b"v1\n[1]"], ids=["cut off", "no text", "no path", "no file"]
)
def test_a_damaged_log_of_the_live_folder_leaves_the_files_unknown(
    checkpoint: Checkpoint, execution: Execution, operator: Client, damaged: bytes
) -> None:
    offsets_set(checkpoint, execution, {"logOffset": 1}, {"logOffset": 3})
    log = live_of(execution) / "out" / "sources" / "numbers"
    log.mkdir(parents=True)
    (log / "2").write_bytes(damaged)
    found = precheck(operator, checkpoint)
    assert found["ok"]
    assert [(source["files"], source["rows"]) for source in found["replay"]["sources"]] == [(None, None)]


def test_behind_the_newest_batch_nothing_is_read_again(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution, 4)
    offsets_set(checkpoint, execution, {"page": 1}, {"page": 1})
    MetricSample.objects.create(execution=execution, resolution=1, time=checkpoint.create_time + timedelta(seconds=1), rows_in=9)
    replay = precheck(operator, checkpoint)["replay"]
    assert (replay["rows"], replay["is_about"], replay["seconds"]) == (0, False, 0)


def test_samples_tell_about_how_many_rows_where_positions_do_not(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    offsets_set(checkpoint, execution, {"page": 1}, {"page": 2})
    for seconds, rows in ((-10, 100), (10, 160), (20, 250)):
        time = checkpoint.create_time + timedelta(seconds=seconds)
        MetricSample.objects.create(execution=execution, resolution=1, time=time, rows_in=rows)
    replay = precheck(operator, checkpoint)["replay"]
    assert (replay["rows"], replay["is_about"]) == (150, True)


def test_nothing_is_said_that_is_not_known(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    other = execution_row(job_row("letters"), status=ExecutionStatus.CANCELLED, end_time=timezone.now())
    Checkpoint.objects.filter(pk=checkpoint.pk).update(generation=other.generation)
    replay = precheck(operator, checkpoint)["replay"]
    assert (replay["rows"], replay["seconds"], replay["last_batch_time"]) == (None, None, None)


def received(checkpoint: Checkpoint, folder: Path, position: int) -> Spool:
    """The job reads a webhook now, and the checkpoint stands at `position` of the ten messages that came."""
    job = checkpoint.execution.job
    columns = [{"name": "id", "type": "long"}]
    version(job, numbers={"type": "source.webhook", "name": "Orders", "config": {"connection": "shop", "columns": columns}})
    Execution.objects.filter(pk=checkpoint.execution.pk).update(version=2)
    Checkpoint.objects.filter(pk=checkpoint.pk).update(state_data={"sources": {"numbers": {"position": position}}})
    spool = Spool(spool_path(folder, str(job.job_uid), "numbers"))
    spool.take([Message(b"{}")] * 10, Backpressure())
    return spool


def test_input_that_is_not_kept_any_more_is_told_before_the_restore(
    checkpoint: Checkpoint, operator: Client, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    spool = received(checkpoint, tmp_path, 2)
    assert precheck(operator, checkpoint)["ok"]
    spool.trim(6)
    found = precheck(operator, checkpoint)
    (refused,) = [check for check in found["checks"] if not check["ok"]]
    assert (found["ok"], refused["name"], refused["severity"]) == (False, "source.numbers", "error")
    assert refused["message"].startswith('"Orders": messages 3 to 5 are not kept any more: of messages that were read, as many stay')
    Execution.objects.filter(pk=checkpoint.execution.pk).update(storage_host="another")
    settings.CHECKPOINT_ROOT_SHARED = True
    assert precheck(operator, checkpoint)["ok"], "what another host received is not here"


def test_a_source_that_cannot_be_asked_is_told_and_stands_in_nobodys_way(
    checkpoint: Checkpoint, operator: Client, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    received(checkpoint, tmp_path, 2)
    Checkpoint.objects.filter(pk=checkpoint.pk).update(state_data={"sources": {"numbers": {"next": 2}}})
    found = precheck(operator, checkpoint)
    (told,) = [check for check in found["checks"] if check["name"] == "source.numbers"]
    words = '"Orders": whether it still has what comes behind this checkpoint cannot be asked now'
    assert (found["ok"], told["severity"], told["message"]) == (True, "warning", words)


def test_sources_are_asked_with_what_they_remember_of_the_generation_of_the_checkpoint(
    checkpoint: Checkpoint, operator: Client, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    received(checkpoint, tmp_path, 2)
    asked: list[Path] = []
    monkeypatch.setattr(WebhookSource, "check_input", lambda self, position, context: asked.append(context.work_dir))
    precheck(operator, checkpoint)
    job_uid = str(checkpoint.execution.job.job_uid)
    assert asked == [tmp_path / "work" / job_uid / str(checkpoint.generation) / "numbers"]
