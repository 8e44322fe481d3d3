"""A connection that is corrected while its system is waited for is found; one that changes while all goes well is not."""

import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.dag.document import parse_document
from jobs.driver import corrections
from jobs.driver.corrections import Corrections
from jobs.engine.compiler import plan_compile
from jobs.engine.events import Waiting
from jobs.engine.plan import Locations, Plan, Settings
from jobs.models import Connection, Execution
from jobs.nodes.base import Limits
from jobs.services.connections import connections_open
from jobs.services.secrets import secret_encrypt
from tests.services.job_rows import job_row, operator

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Execution:
    monkeypatch.setattr(corrections, "_LOOK_SECONDS", 0.0)
    job = job_row()
    operator()
    for name, port in (("main", 5671), ("other", 5672)):
        config = {"host": "127.0.0.1", "port": port}
        secrets = secret_encrypt({"password": "one"})
        Connection.objects.create(project=job.project, name=name, kind="rabbitmq", config=config, secrets=secrets)
    return Execution(job=job, job_name=job.job_name)


def plan_of(execution: Execution) -> Plan:
    nodes = {
        "src": {
            "type": "source.rabbitmq",
            "type_version": 1,
            "name": "src",
            "config": {"connection": "main", "queue": "q", "format": "text"},
        },
        "out": {"type": "sink.print", "type_version": 1, "name": "out", "config": {}},
    }
    raw = {
        "schema_version": 1,
        "name": "j",
        "type": "STREAMING",
        "nodes": nodes,
        "edges": {"e": {"from": ["src", "out"], "to": ["out", "in"]}},
    }
    document, problems = parse_document(raw)
    assert document is not None, problems
    line = str(uuid.uuid4())
    places = Locations(live=Path("live"), work=Path("work"))
    plan = plan_compile(
        document,
        job_uid=line,
        generation=line,
        attempt=1,
        fresh=True,
        parameters={},
        settings=Settings(),
        connections={},
        locations=places,
        limits=Limits(),
    )
    return replace(plan, connections=connections_open(execution.job.project_id))


def test_a_correction_is_found_only_while_something_is_waited_for(running: Execution) -> None:
    found, plan = Corrections(running), plan_of(running)
    found.hear(Waiting("src", "rabbitmq main"))
    assert found.found(plan) == "", "nothing changed"
    Connection.objects.filter(name="other").update(config={"host": "127.0.0.1", "port": 1})
    assert found.found(plan) == "", "no node uses it"
    Connection.objects.filter(name="main").update(secrets=secret_encrypt({"password": "two"}))
    found.hear(Waiting("src", ""))
    assert found.found(plan) == "", "all goes well"
    found.hear(Waiting("src", "rabbitmq main"))
    assert found.found(plan) == "the connection main was changed"
