"""Messages posted to a running job's webhook, by a sender and by another job, while drivers are killed and stopped: each arrives once."""

import hmac
import json
import os
import signal
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.models import Connection, Execution, Job, Project
from jobs.nodes.spool import Spool, spool_path
from jobs.services.executions import execution_resume, execution_stop
from jobs.services.jobs import job_create
from jobs.services.secrets import secret_encrypt
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(400),
]

Start = Callable[..., Execution]
Written = Callable[..., list[int]]
SECRET = b"shared"


@pytest.fixture
def job(user: User, data: Path, settings: Any) -> Job:
    settings.DATA_DIR = data
    project = Project.objects.get(slug="default")
    Connection.objects.create(project=project, name="target", kind="sqlite", config={"path": str(data / "target.sqlite3")})
    Connection.objects.create(project=project, name="shop", kind="webhook", config={}, secrets=secret_encrypt({"secret": SECRET.decode()}))
    source = {"connection": "shop", "columns": [{"name": "id", "type": "long"}], "max_records_per_trigger": 50}
    document = {
        "schema_version": 1,
        "name": "hooked",
        "type": "STREAMING",
        "nodes": {
            "hook": {"type": "source.webhook", "type_version": 1, "name": "Shop", "config": source},
            "table": {"type": "sink.jdbc", "type_version": 1, "name": "Table", "config": {"connection": "target", "table": "numbers"}},
        },
        "edges": {"e1": {"from": ["hook", "out"], "to": ["table", "in"]}},
        "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "parallelism": 1, "checkpoint_interval": "2s"},
    }
    return job_create(user=user, document=document)


class Sender:
    """Sends numbered messages, each a second time as if the answer had been lost."""

    def __init__(self, job: Job) -> None:
        self._address = f"/hooks/{job.job_uid}/hook"
        self.sent = 0

    def send(self, count: int) -> None:
        for number in range(self.sent, self.sent + count):
            body = json.dumps({"id": number}).encode()
            headers = {"X-Hub-Signature-256": hmac.new(SECRET, body, sha256).hexdigest(), "Idempotency-Key": str(number)}
            for _ in range(2):
                assert Client().post(self._address, body, content_type="application/json", headers=headers).status_code == 202
        self.sent += count


def test_each_message_arrives_once_over_kills_and_stops_and_the_spool_is_trimmed(
    worker: Worker, job: Job, start: Start, written: Written, user: User, data: Path
) -> None:
    def all_written() -> None:
        wait_until(lambda: len(written()) == sender.sent, seconds=150, what=f"{sender.sent} rows")

    sender = Sender(job)
    sender.send(60)
    execution = start(job)
    all_written()
    os.kill(worker.drivers()[0], signal.SIGKILL)
    sender.send(60)
    all_written()
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    stopped = status_reached(execution, "PAUSED")
    sender.send(60)
    execution_resume(execution=stopped, user=user)
    all_written()
    assert written() == list(range(180))
    spool = Spool(spool_path(data, str(job.job_uid), "hook"))
    wait_until(lambda: spool.oldest() > 1, seconds=60, what="the spool without what no checkpoint needs")
    assert spool.newest() == 180


POSTED = 600


def posting_job(user: User, address: str) -> Job:
    receiver = {"url": address}
    project, secret = Project.objects.get(slug="default"), secret_encrypt({"secret": SECRET.decode()})
    Connection.objects.create(project=project, name="next-door", kind="webhook_receiver", config=receiver, secrets=secret)
    numbers = {"total_rows": POSTED, "rows_per_second": 150, "rows_per_batch": 75}
    post = {"connection": "next-door", "keys": ["id"], "rows_per_request": 20}
    document = {
        "schema_version": 1,
        "name": "posting",
        "type": "STREAMING",
        "nodes": {
            "numbers": {"type": "source.generator", "type_version": 1, "name": "Numbers", "config": numbers},
            "post": {"type": "sink.webhook", "type_version": 1, "name": "Post", "config": post},
        },
        "edges": {"e1": {"from": ["numbers", "out"], "to": ["post", "in"]}},
        "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "parallelism": 1},
    }
    return job_create(user=user, document=document)


@pytest.mark.faults
def test_what_one_job_posts_another_receives_once_over_a_kill_of_their_driver(
    live_server: Any, database_url: str, job: Job, start: Start, written: Written, user: User, data: Path
) -> None:
    address = urlsplit(live_server.url)
    with Worker(database_url=database_url, data=data, HTTP_ALLOWED_HOSTS=f"{address.hostname}:{address.port}") as worker:
        start(job)
        posting = start(posting_job(user, f"{live_server.url}/hooks/{job.job_uid}/hook"))
        wait_until(lambda: len(written()) > 50, seconds=150, what="rows")
        os.kill(worker.drivers()[0], signal.SIGKILL)
        assert len(written()) < POSTED, "killed in the middle"
        wait_until(lambda: len(written()) >= POSTED, seconds=150, what=f"{POSTED} rows")
        posting.refresh_from_db()
    assert written() == list(range(POSTED))
    assert posting.attempt > 1
