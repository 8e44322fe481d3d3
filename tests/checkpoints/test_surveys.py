"""What was found out over all checkpoints is kept until a person changes something."""

from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client, override_settings

from checkpoints.models import Checkpoint
from jobs.models import Role
from jobs.selectors import surveys
from tests.checkpoints.kept import execution_row, kept
from tests.checkpoints.test_checkpoint_api import member, send
from tests.services.job_rows import job_row

RULE = "/api/checkpoints/retention"


@pytest.fixture
def operator(db: None, redis_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    cache.clear()
    execution = execution_row(job_row())
    for _ in range(3):
        kept(execution)
    return member("olga", Role.OPERATOR)


def counted(client: Client) -> dict[str, int]:
    return {one["kind"]: one["count"] for one in send(client, "GET", RULE)["reasons"]}


@pytest.mark.django_db(transaction=True)
def test_pages_of_one_list_fit_together_until_a_person_changes_something(operator: Client) -> None:
    assert counted(operator) == {"NEWEST": 3}
    first, *_ = Checkpoint.objects.order_by("pk")
    Checkpoint.objects.filter(pk=first.pk).update(pinned=True)
    assert counted(operator) == {"NEWEST": 3}, "as it was found out a moment ago"
    send(operator, "PATCH", f"/api/checkpoints/{first.pk}", {"label": "kept"})
    assert counted(operator) == {"NEWEST": 2, "PINNED": 1}
    send(operator, "POST", "/api/checkpoints/delete", {"ids": [first.pk], "reason": "a test"})
    assert counted(operator) == {"NEWEST": 2}
    send(operator, "PUT", "/api/jobs/numbers/config", {"config_key": "checkpoint.retention", "config_value": 1})
    assert counted(operator) == {"NEWEST": 1, "COUNT": 1}


@pytest.mark.django_db(transaction=True)
def test_one_user_never_gets_what_was_found_out_for_another(operator: Client) -> None:
    assert counted(operator) == {"NEWEST": 3}
    assert counted(member("sam", Role.ADMIN, "elsewhere")) == {}


def test_without_redis_it_is_found_out_each_time() -> None:
    away = settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}
    found = iter([1, 2])
    with override_settings(CACHES={"default": away}):
        assert [surveys.surveyed("numbers", lambda: next(found)) for _ in range(2)] == [1, 2]
