"""Rows that readers put together: by number where they are short, by size where they are long."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import REJECTED
from jobs.nodes.gathering import fetched, fetched_ahead, fetched_first, gathered, row_size
from jobs.nodes.readers.spool_rows import Positions, SpoolReader
from jobs.nodes.readers.table_rows import TableRows
from jobs.nodes.sources.jdbc import read_dialect, reader_options
from jobs.nodes.spool import Message, Spool
from tests.nodes.conftest import Build, Database

MEGABYTE = 1024 * 1024


class Server:
    """It hands over as many rows as it is asked for."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.left = list(rows)
        self.asked: list[int] = []

    def fetch(self, wanted: int) -> list[tuple[Any, ...]]:
        self.asked.append(wanted)
        given, self.left = self.left[:wanted], self.left[wanted:]
        return given


def test_short_rows_go_together_by_their_number():
    rows = [(number, "short") for number in range(12_000)]
    assert [len(together) for together in gathered(rows, row_size)] == [5_000, 5_000, 2_000]


def test_long_rows_go_together_by_their_size():
    rows = [(b"x" * MEGABYTE, None)] * 40
    assert [len(together) for together in gathered(rows, row_size)] == [16, 16, 8]


def test_a_server_is_asked_for_fewer_rows_where_they_are_long():
    long = [("x" * MEGABYTE,)] * 100
    server = Server(long)
    assert list(fetched(server.fetch)) == long
    assert server.asked == [50, 16, 16, 16, 16, 16]


def test_a_server_is_asked_for_more_rows_where_they_are_short():
    short = [(number,) for number in range(2_000)]
    server = Server(short)
    assert list(fetched(server.fetch)) == short
    assert server.asked == [50, 200, 800, 1_000, 1_000]


def test_a_client_that_fetches_by_itself_is_told_how_many_rows_to_fetch():
    asked: list[int] = []
    rows = [(number,) for number in range(100)] + [("x" * MEGABYTE,)] * 250
    assert list(fetched_ahead(rows, asked.append, 50)) == rows
    assert asked == [200, *[16] * 7]


@pytest.mark.parametrize(("longest", "rows"), [(0, 1_000), (16_000, 1_000), (MEGABYTE // 10, 160), (MEGABYTE, 50), (2**40, 50)])
def test_a_client_fetches_few_rows_at_first_only_where_they_may_be_long(longest: int, rows: int):
    assert fetched_first(longest) == rows


def test_long_messages_of_a_spool_are_several_record_batches(tmp_path: Path):
    spool = Spool(tmp_path / "hook.sqlite3")
    spool.take([Message(b"x" * 10 * MEGABYTE) for _ in range(5)], Backpressure())
    reader = SpoolReader(spool, Positions(0, 5), 1)
    (partition,) = reader.partitions()
    assert [batch.num_rows for batch in reader.read(partition)] == [2, 2, 1]


def test_long_rows_of_a_table_are_several_record_batches(build: Build, database: Database, monkeypatch: pytest.MonkeyPatch):
    database.run("CREATE TABLE long_rows (id integer PRIMARY KEY, name text)")
    rows = ", ".join(f"({number}, '{'x' * 1000}')" for number in range(5))
    database.run(f"INSERT INTO long_rows VALUES {rows}")
    monkeypatch.setattr("jobs.nodes.gathering._BYTES", 2_000)
    built = build("source.jdbc", {"connection": "db", "table": "long_rows"}, connections=database.connections)
    options = reader_options(read_dialect(built.context), built.context)
    names = {"id": IntegerType(), "name": StringType(), REJECTED: StringType()}
    reader = TableRows(options).reader(StructType([StructField(name, type_) for name, type_ in names.items()]))
    (partition,) = reader.partitions()
    assert [cast(pa.RecordBatch, batch).num_rows for batch in reader.read(partition)] == [2, 2, 1]
