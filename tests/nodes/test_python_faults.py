"""What a person's Python makes that nothing can take as it is: its row is rejected, and the rows beside it go on."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.sql.types import LongType, StructField, StructType

from jobs.nodes.base import AS_IT_CAME, REJECTED
from jobs.nodes.user_python.batches import BatchByBatch
from jobs.nodes.user_python.calls import Calls
from jobs.nodes.user_python.kept import Declared, Store, StoreFailed
from jobs.nodes.user_python.keyed import KeyByKey, KeyedCode
from jobs.nodes.user_python.keyed_batch import KeyedRows
from jobs.nodes.user_python.loaded import UserCode
from jobs.nodes.user_python.plain_values import plain_text, plain_value
from jobs.nodes.user_python.rejecting import Rejecting
from jobs.nodes.user_python.rows import RowByRow

NUMBERS = pa.schema([("id", pa.int64())])
#: A half of a pair of surrogates, which no UTF-8 holds, as JSON from elsewhere may have it.
HALF = "\ud83d"


def batch(**columns: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values) if isinstance(values, list) else values for values in columns.values()], [*columns])


def by_row(code: str, given: pa.RecordBatch, schema: pa.Schema = NUMBERS) -> list[dict[str, Any]]:
    made = RowByRow(UserCode("Mine", code), Rejecting(schema, came=True), tuple(given.schema.names)).run([given])
    return [row for part in made for row in part.to_pylist()]


def by_key(code: str, given: pa.RecordBatch, schema: pa.Schema) -> list[dict[str, Any]]:
    keyed = KeyedCode("node", UserCode("Mine", code), tuple(given.schema.names), ("id",), Rejecting(schema, came=True), ())
    return [row for part in KeyedRows(keyed).run([given]) for row in part.to_pylist()]


def by_batch(code: str, given: pa.RecordBatch, shape: Any) -> list[int]:
    made = BatchByBatch(UserCode("Mine", code), NUMBERS, shape, tuple(given.schema.names)).run([given])
    return [row["id"] for part in made for row in part.to_pylist()]


@pytest.mark.parametrize(
    ("shape", "code"),
    [
        ("pandas", "def process(df):\n    for id, part in df.groupby('id'):\n        yield part if id != 2 else None\n"),
        ("arrow", "def process(batch):\n    for at in range(3):\n        yield None if at == 1 else batch.slice(at, 1)\n"),
        ("arrow", "def process(batch):\n    return [None, batch.slice(0, 1), None, batch.slice(2)]\n"),
    ],
)
def test_none_among_batches_is_left_out_and_those_behind_it_go_on(shape: str, code: str) -> None:
    assert by_batch(code, batch(id=[1, 2, 3]), shape) == [1, 3]


RAISES_AT_2 = "def process(row):\n    if row['id'] == 2:\n        raise ValueError('no')\n    return {'id': row['id']}\n"


@pytest.mark.parametrize(
    ("keys", "kind", "told"),
    [
        ([date(2026, 1, 1), date(2026, 1, 2)], pa.date32(), "2026-01-02"),
        ([Decimal("1.5"), Decimal("2.5")], pa.decimal128(9, 1), "2.5"),
        ([b"a", b"b"], pa.binary(), "b'b'"),
        ([datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)], pa.timestamp("us", tz="UTC"), "2026-01-02 00:00:00+00:00"),
    ],
)
def test_a_row_with_a_map_by_other_keys_than_texts_is_rejected(keys: list[Any], kind: pa.DataType, told: str) -> None:
    maps = pa.array([[(key, 1)] for key in keys], pa.map_(kind, pa.int32()))
    good, bad = by_row(RAISES_AT_2, batch(id=[1, 2], m=maps))
    assert good == {"id": 1, REJECTED: None}
    assert json.loads(bad[REJECTED].partition(AS_IT_CAME)[2]) == {"id": 2, "m": {told: 1}}


@pytest.mark.parametrize("number", [Decimal(10) ** 30, Decimal("1e30"), Decimal("NaN"), float("inf"), float("nan")])
def test_a_number_beyond_a_column_of_whole_ones_is_rejected(number: Any) -> None:
    begin = "from decimal import Decimal\ninf, nan = float('inf'), float('nan')\n"
    code = f"{begin}def process(row):\n    return {{'id': row['id'] or {number!r}}}\n"
    good, bad = by_row(code, batch(id=[1, None]))
    assert good == {"id": 1, REJECTED: None}
    assert "is no bigint" in bad[REJECTED]


@pytest.mark.parametrize(
    "raised", [f"ValueError({HALF!r})", f"KeyError({HALF!r})", f"type('Odd', (Exception,), {{'__str__': lambda self: {HALF!r}}})"]
)
def test_half_a_pair_of_surrogates_in_what_is_raised_rejects_the_row(raised: str) -> None:
    good, bad = by_row(RAISES_AT_2.replace("ValueError('no')", raised), batch(id=[1, 2]))
    assert good == {"id": 1, REJECTED: None}
    assert bad["id"] == 2
    assert bad[REJECTED]


def test_half_a_pair_of_surrogates_in_a_columns_name_rejects_the_row() -> None:
    code = f"def process(row):\n    return row if row['id'] == 1 else {{**row, {HALF!r}: 1}}\n"
    good, bad = by_row(code, batch(id=[1, 2]))
    assert good == {"id": 1, REJECTED: None}
    assert bad[REJECTED].startswith("the columns do not list ?: ")


@pytest.mark.parametrize("act", [f"yield {{'s': {HALF!r}}}", f"raise ValueError({HALF!r})", f"yield {{{HALF!r}: 1}}"])
def test_so_it_does_with_the_rows_of_a_key(act: str) -> None:
    code = f"def process(key, rows, state, timers):\n    if key == 2:\n        {act}\n    else:\n        yield {{'s': 'a'}}\n"
    good, bad = by_key(code, batch(id=[1, 2]), pa.schema([("id", pa.int64()), ("s", pa.string())]))
    assert good == {"id": 1, "s": "a", REJECTED: None}
    assert (bad["id"], bad["s"]) == (2, None)
    assert bad[REJECTED]


def test_a_row_of_a_key_that_holds_itself_is_rejected() -> None:
    code = "def process(key, rows, state, timers):\n    row = {}\n    row['own'] = row\n    yield row\n"
    (bad,) = by_key(code, batch(id=[1]), NUMBERS)
    assert bad[REJECTED].startswith("the columns do not list own: ")


def test_half_a_pair_of_surrogates_raised_in_a_call_for_each_row_rejects_the_row() -> None:
    code = f"def process(row):\n    if row['id'] == 2:\n        raise ValueError({HALF!r})\n"
    (made,) = Calls(UserCode("Mine", code), ("id",), rows_per_call=1, stops_at_rejected=False).run([batch(id=[1, 2, 3])])
    assert [reason is None for reason in made.column(REJECTED).to_pylist()] == [True, False, True]


def test_the_value_of_a_window_keeps_half_a_pair_of_surrogates() -> None:
    text = plain_text({"name": HALF, "also": "航班😀"})
    assert text.encode()
    assert plain_value(text) == {"name": HALF, "also": "航班😀"}


class Broken:
    """Spark's handle of state, of which nothing can be read."""

    def getValueState(self, *_: Any) -> "Broken":  # noqa: N802
        return self

    def listTimers(self) -> Iterator[int]:  # noqa: N802
        raise RuntimeError("RocksDB: IO error")

    def get(self) -> Any:
        raise RuntimeError("RocksDB: IO error")


@pytest.mark.parametrize("read", ["state.count.get(0)", "timers.list()"])
def test_a_store_that_fails_rejects_no_row_but_ends_the_task(read: str) -> None:
    code = UserCode("Mine", f"def process(key, rows, state, timers):\n    {read}\n    yield {{}}\ndef on_timer(*_): pass\n")
    value = StructType([StructField("value", LongType())])
    declared = (Declared("count", "value", value, pa.int64()),)
    keyed = KeyedCode("node", code, ("id",), ("id",), Rejecting(NUMBERS, came=True), declared, mode="processing")
    handle = Broken()
    with pytest.raises(StoreFailed, match="RocksDB: IO error"):
        KeyByKey(keyed).rows((1,), [{"id": 1}], handle, Store.of(handle, declared, ZoneInfo("UTC")), 0)
