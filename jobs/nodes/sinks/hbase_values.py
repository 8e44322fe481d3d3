"""Values as HBase's cells hold them: in Spark made into text or plain values, in its tasks into bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from jobs.nodes.json_options import JSON_AS_WRITTEN

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

_TEXTS = ("string", "char", "varchar")
_NESTED = ("array", "map", "struct", "variant")
#: With their offset, whatever zone a reader lives in.
_TIMES = {"timestamp": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXXXX", "timestamp_ntz": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"}


def value_column(value: Column, kind: DataType, encoding: Literal["text", "bytes"]) -> Column:
    """`value`, of type `kind`, as bytes, or as one of the plain values that `encoder` knows. Nested values are JSON in any case."""
    from pyspark.sql import functions as F

    name = kind.typeName()
    if name in _NESTED:
        return F.to_json(value, JSON_AS_WRITTEN).cast("binary")
    if name == "binary" or name in _TEXTS:
        return value.cast("binary")
    if encoding == "text":
        return (F.date_format(value, _TIMES[name]) if name in _TIMES else value.cast("string")).cast("binary")
    if name in ("date", *_TIMES):
        return F.unix_millis(value.cast("timestamp"))
    return value if name in ("boolean", "byte", "short", "integer", "long", "float", "double", "decimal") else value.cast("binary")


def encoder(kind: pa.DataType) -> Callable[[Any], bytes]:
    """Makes bytes of a value that is not null, as HBase's Bytes.toBytes does."""
    if pa.types.is_boolean(kind):
        return lambda value: b"\xff" if value else b"\x00"
    if pa.types.is_integer(kind):
        return partial(struct.pack, {8: ">b", 16: ">h", 32: ">i", 64: ">q"}[kind.bit_width])
    if pa.types.is_floating(kind):
        return partial(struct.pack, {32: ">f", 64: ">d"}[kind.bit_width])
    if pa.types.is_decimal(kind):
        return partial(_decimal_bytes, scale=kind.scale)
    return bytes


def _decimal_bytes(value: Decimal, scale: int) -> bytes:
    """Of a BigDecimal: its scale in four bytes, then the number without its point, in as few as hold it and its sign."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    number: int = int("".join(map(str, digits))) * 10 ** (exponent + scale) * (-1 if sign else 1)
    length: int = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return struct.pack(">i", scale) + number.to_bytes(length, "big", signed=True)
