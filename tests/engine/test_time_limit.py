"""How long what a person wrote may take."""

from types import SimpleNamespace
from typing import Any

import pytest

from jobs.engine import user_code
from jobs.engine.user_code import time_limit
from tests.servers.waiting import wait_until


@pytest.mark.slow
def test_a_renewed_limit_counts_anew_and_cancels_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks, cancelled = [0.0], [0], list[str]()
    monkeypatch.setattr(user_code, "time", SimpleNamespace(monotonic=lambda: now[0]))
    spark: Any = SimpleNamespace(
        sparkContext=SimpleNamespace(_jsc=SimpleNamespace(sc=lambda: SimpleNamespace(cancelJobGroupAndFutureJobs=cancelled.append)))
    )

    def look() -> bool:
        looks[0] += 1
        return False

    def looked_twice() -> None:
        seen = looks[0]
        wait_until(lambda: looks[0] > seen + 2, seconds=30, what="two looks")

    with time_limit(spark, "preview-1", 10.0, look) as limit:
        limit.renew()
        now[0] = 9.0
        limit.renew()
        now[0] = 18.0
        looked_twice()
        assert not limit.passed
        assert not cancelled
        now[0] = 19.5
        wait_until(lambda: bool(cancelled), seconds=30, what="the cancellation")
        assert limit.passed
    assert cancelled == ["preview-1"]
