"""Analyses, previews and tests that somebody asked under a name, and cancels."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs import queue
from tests.api.rows import chain, codes, job

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def taken() -> dict[str, Any]:
    with queue.redis_client() as client:
        request = queue.interactive_take(client, timeout=10)
    assert request is not None
    return request


def is_cancelled(request: dict[str, Any]) -> bool:
    with queue.redis_client() as client:
        return queue.interactive_is_cancelled(client, request["id"])


def test_who_asked_is_answered_at_once_and_the_driver_is_told(browser: Client, editor: User, stranger: User, client_of: Any) -> None:
    question = str(uuid4())
    with ThreadPoolExecutor(1) as asking:
        answer = asking.submit(queue.interactive_call, "preview", {}, 60.0, question=f"{editor.pk}:{question}")
        request = taken()
        assert request["cancellable"]
        assert not is_cancelled(request)
        assert client_of(stranger).delete(f"/api/questions/{question}").status_code == 204
        assert not is_cancelled(request), "nobody cancels what others ask"
        assert browser.delete(f"/api/questions/{question}").status_code == 204
        with pytest.raises(queue.InteractiveFailed, match="it was cancelled"):
            answer.result(timeout=30)
    assert is_cancelled(request)


def test_what_a_driver_is_asked_goes_by_the_name_in_its_header(browser: Client, editor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    job(editor)
    heard: list[str] = []

    def answered(kind: str, payload: dict[str, Any], timeout: float, *, question: str) -> dict[str, Any]:
        heard.append(question)
        return {}

    monkeypatch.setattr("jobs.api.analysis.interactive_call", answered)
    monkeypatch.setattr("jobs.api.documents.interactive_call", answered)
    monkeypatch.setattr("jobs.api.pipeline_tests.interactive_call", answered)
    question = uuid4()
    body = {"document": chain(), "node_id": "out"}
    for sent in ({"X-Question-Id": str(question)}, {}):
        for path, content in (("/api/jobs/validate", chain()), ("/api/jobs/preview", body), ("/api/jobs/numbers/tests", {})):
            assert browser.post(path, content, content_type="application/json", headers=sent).status_code == 200
    assert heard == [f"{editor.pk}:{question}"] * 3 + [""] * 3
    wrong = browser.post("/api/jobs/preview", body, content_type="application/json", headers={"X-Question-Id": "mine"})
    assert codes(wrong) == ["request.header"]
    assert browser.delete("/api/questions/mine").status_code == 404
