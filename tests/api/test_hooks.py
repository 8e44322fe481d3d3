"""Messages posted to a webhook: proven, kept once, or refused with the reason."""

import hmac
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.models import Connection, Job, Project
from jobs.nodes.spool import Spool, spool_path
from jobs.services.jobs import job_create
from jobs.services.secrets import secret_encrypt
from tests.api.rows import execution

pytestmark = pytest.mark.django_db

SECRET = "canary-4711"


@pytest.fixture
def hooked(editor: User, settings: Any, tmp_path: Path) -> Job:
    settings.DATA_DIR = tmp_path
    project = Project.objects.get(slug="default")
    Connection.objects.create(project=project, name="shop", kind="webhook", config={}, secrets=secret_encrypt({"secret": SECRET}))
    columns = [{"name": "id", "type": "long"}]
    document = {
        "schema_version": 1,
        "name": "hooked",
        "type": "STREAMING",
        "nodes": {
            "hook": {"type": "source.webhook", "config": {"connection": "shop", "columns": columns, "buffer_size": 3}},
            "out": {"type": "sink.print", "config": {}},
        },
        "edges": {"e1": {"from": ["hook", "out"], "to": ["out", "in"]}},
    }
    return job_create(user=editor, document=document)


def post(
    job: Job, body: bytes, *, secret: str = SECRET, node: str = "hook", content_type: str = "application/json", **headers: str
) -> tuple[int, Any]:
    signature = "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()
    given = {"X-Hub-Signature-256": signature, **{name.replace("_", "-"): value for name, value in headers.items()}}
    answer = Client(enforce_csrf_checks=True).post(f"/hooks/{job.job_uid}/{node}", body, content_type=content_type, headers=given)
    assert SECRET not in answer.content.decode()
    return answer.status_code, json.loads(answer.content)


def kept(job: Job, folder: Path) -> list[bytes | None]:
    spool = Spool(spool_path(folder, str(job.job_uid), "hook"))
    return [message.value for message in spool.read(0, spool.newest())]


def test_a_proven_message_is_kept_once_and_its_proof_is_not(hooked: Job, tmp_path: Path):
    assert post(hooked, b'{"id": 1}', Idempotency_Key="a") == (202, {"accepted": 1, "repeated": False})
    assert post(hooked, b'{"id": 1}', Idempotency_Key="a") == (202, {"accepted": 0, "repeated": True})
    assert post(hooked, b'{"id": 2}')[0] == 202
    assert kept(hooked, tmp_path) == [b'{"id": 1}', b'{"id": 2}']
    (first, _) = Spool(spool_path(tmp_path, str(hooked.job_uid), "hook")).read(0, 2)
    assert first.headers["idempotency-key"] == "a"
    assert "x-hub-signature-256" not in first.headers


def test_long_ids_are_told_apart_by_their_ends(hooked: Job, tmp_path: Path):
    for end in "ab":
        assert post(hooked, b'{"id": 1}', Idempotency_Key="x" * 500 + end) == (202, {"accepted": 1, "repeated": False})
        assert post(hooked, b'{"id": 1}', Idempotency_Key="x" * 500 + end) == (202, {"accepted": 0, "repeated": True})
    assert len(kept(hooked, tmp_path)) == 2


def test_json_lines_are_a_message_each_and_what_had_no_room_comes_again(hooked: Job, tmp_path: Path):
    lines = b'{"id": 1}\n\n{"id": 2}\n{"id": 3}\n{"id": 4}\n'
    assert post(hooked, lines, content_type="application/x-ndjson", Idempotency_Key="a")[0] == 503
    assert kept(hooked, tmp_path) == [b'{"id": 1}', b'{"id": 2}', b'{"id": 3}']
    Spool(spool_path(tmp_path, str(hooked.job_uid), "hook")).plan(3, 3)
    answered = post(hooked, lines, content_type="application/x-ndjson", Idempotency_Key="a")
    assert answered == (202, {"accepted": 1, "repeated": False})
    assert kept(hooked, tmp_path)[3:] == [b'{"id": 4}']
    assert post(hooked, lines, content_type="application/x-ndjson", Idempotency_Key="a")[1] == {"accepted": 0, "repeated": True}


def test_a_message_without_proof_is_refused(hooked: Job, tmp_path: Path):
    status, answer = post(hooked, b'{"id": 1}', secret="guessed")
    assert status == 401
    assert "X-Hub-Signature-256 does not prove" in answer["error"]["message"]
    assert Client().post(f"/hooks/{hooked.job_uid}/hook", b"{}", content_type="application/json").status_code == 401
    assert not spool_path(tmp_path, str(hooked.job_uid), "hook").exists()


def test_a_token_may_be_the_proof(hooked: Job):
    Connection.objects.update(config={"proof": "token", "proof_header": "Authorization"})
    assert post(hooked, b"{}", Authorization=f"Bearer {SECRET}")[0] == 202
    assert post(hooked, b"{}", Authorization="Bearer other")[0] == 401


def test_a_sender_comes_again_later_where_too_many_wait(hooked: Job, tmp_path: Path):
    for number in range(3):
        assert post(hooked, str(number).encode())[0] == 202
    status, answer = post(hooked, b"3")
    assert (status, "come again later" in answer["error"]["message"]) == (503, True)
    assert len(kept(hooked, tmp_path)) == 3


@pytest.mark.parametrize(("strategy", "expected"), [("DROP", [b"0", b"1", b"2"]), ("LATEST", [b"1", b"2", b"3"])])
def test_what_does_not_fit_is_dropped_where_the_job_says_so(hooked: Job, tmp_path: Path, strategy: str, expected: list[bytes]):
    document = json.loads(hooked.dag_definition)
    document["nodes"]["hook"]["config"]["backpressure"] = strategy
    Job.objects.update(dag_definition=json.dumps(document))
    answers = [post(hooked, str(number).encode()) for number in range(4)]
    last = {"accepted": 0, "repeated": False, "dropped": True} if strategy == "DROP" else {"accepted": 1, "repeated": False}
    assert answers[3] == (202, last)
    assert kept(hooked, tmp_path) == expected
    assert Spool(spool_path(tmp_path, str(hooked.job_uid), "hook")).standing().dropped == 1


def test_lines_that_find_no_room_come_again_and_none_of_them_twice(hooked: Job, tmp_path: Path):
    def lines(count: int) -> tuple[int, Any]:
        return post(hooked, b"\n".join(b"%d" % number for number in range(count)), content_type="application/x-ndjson")

    assert lines(2)[0] == 202
    assert lines(2)[0] == 503
    assert len(kept(hooked, tmp_path)) == 2
    status, told = lines(4)
    assert (status, "send fewer at once" in told["error"]["message"]) == (413, True)


def test_after_an_overrun_senders_are_told_that_the_job_failed(hooked: Job):
    document = json.loads(hooked.dag_definition)
    document["nodes"]["hook"]["config"]["backpressure"] = "ERROR"
    Job.objects.update(dag_definition=json.dumps(document))
    assert [post(hooked, str(number).encode())[0] for number in range(4)] == [202, 202, 202, 503]
    assert "the job has failed" in post(hooked, b"5")[1]["error"]["message"]


@pytest.mark.parametrize("change", ["node", "job", "type", "deleted"])
def test_there_is_nothing_where_no_webhook_is_published(hooked: Job, change: str):
    if change == "deleted":
        from django.utils import timezone

        Job.objects.update(deleted_at=timezone.now())
    if change == "job":
        hooked.job_uid = "00000000-0000-4000-8000-000000000000"
    node = {"node": "other", "type": "out"}.get(change, "hook")
    assert post(hooked, b"{}", node=node)[0] == 404


def test_a_message_that_is_too_large_is_refused(hooked: Job, settings: Any):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert post(hooked, b"x" * 101)[0] == 413


@pytest.mark.parametrize(
    "address", ["nobody/hook", "4b825dc6-42cb-4e6d-9a05-3c1d6a0f8b7e/hook", "4b825dc6-42cb-4e6d-9a05-3c1d6a0f8b7e/a/b"]
)
def test_an_address_of_no_webhook_is_answered_as_others_are(client: Client, address: str) -> None:
    answer = client.post(f"/hooks/{address}", b"{}", content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, "no webhook is published at this address")


def test_a_webhook_whose_settings_are_parameters_takes_messages_with_the_values_of_its_newest_execution(hooked: Job, editor: User):
    document = json.loads(hooked.dag_definition)
    document["parameters"] = {"sender": {"type": "string", "default": "shop"}, "most": {"type": "integer", "default": 1}}
    document["nodes"]["hook"]["config"] |= {"connection": "${sender}", "buffer_size": "${most}"}
    Job.objects.filter(pk=hooked.pk).update(dag_definition=json.dumps(document))
    assert [post(hooked, b'{"id": 1}')[0] for _ in range(2)] == [202, 503], "the default: one waits"
    execution(hooked, parameters={"most": "2"})
    assert [post(hooked, b'{"id": 1}')[0] for _ in range(2)] == [202, 503]
