"""The writer of counts: one execution whose counts no database takes keeps no other waiting, and nothing of the others is lost."""

from collections.abc import Callable, Iterator, Sequence

import pytest
from django import db

from jobs.reporting import writer as writing
from jobs.reporting.writer import Writer
from jobs.services.metrics import Reported
from tests.servers.waiting import wait_until

Write = Callable[..., dict[str, int]]


class Counting:
    """Has one report, until it is written."""

    def __init__(self, execution_id: str) -> None:
        self.execution_id = execution_id
        self.waiting: list[Reported] = [Reported(execution_id, 1, "g")]

    def take(self) -> Reported | None:
        return self.waiting.pop() if self.waiting else None

    def put_back(self, reported: Reported) -> None:
        self.waiting.append(reported)

    def tick(self, seq: int | None) -> None: ...


@pytest.fixture
def writer() -> Iterator[Writer]:
    made = Writer()
    yield made
    made.close()


def test_what_no_database_takes_is_left_out_and_the_rest_comes_again_until_it_is_taken(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = {"busy": 2}
    written: list[str] = []

    def write(*, batch: Sequence[Reported]) -> dict[str, int]:
        names = [one.execution_id for one in batch]
        if "wide" in names:
            raise db.DataError("value too long for type character varying(200)")
        for name in names:
            if refusals.get(name, 0) > 0:
                refusals[name] -= 1
                raise db.OperationalError("the database is locked")
        written.extend(names)
        return dict.fromkeys(names, 1)

    monkeypatch.setattr(writing, "reported_write", write)
    for name in ("good", "wide", "busy"):
        writer.add(Counting(name))
    assert writer.flush(20)
    wait_until(lambda: sorted(written) == ["busy", "good"], seconds=20, what="what can be written")
