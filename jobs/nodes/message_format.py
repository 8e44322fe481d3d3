"""A format of messages as other packages bring one: rows written into values, and read back."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pyspark.sql import Column, Row
    from pyspark.sql.types import DataType, StructType


_MISFIT = "__misfit"
_FROM_JSON = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _MISFIT}


class MessageFormat:
    """Below it stand `decode` and `encode`; or `read` and `write` where Spark's own expressions do it.

    `name` is what documents call it. `is_text` says that a message is UTF-8, and shown as such where it does not fit;
    `real_time` says that `read` and `write` are made of Spark's own expressions.
    """

    name: ClassVar[str]
    is_text: ClassVar[bool] = False
    real_time: ClassVar[bool] = False

    def decode(self, value: bytes, columns: Sequence[str]) -> Mapping[str, Any]:
        """The fields of one message by name; Spark casts each to its column's type, and what is not among `columns` is left out.

        Texts, numbers, booleans, dates, times and bytes, and lists and mappings of them. Whatever it raises rejects the message.
        Runs in Spark's Python workers.
        """
        raise NotImplementedError(f"the format {self.name} cannot be read")

    def encode(self, row: Mapping[str, Any]) -> bytes:
        """One message of a row's values, as Python has them. What it raises fails the batch. Runs in Spark's Python workers."""
        raise NotImplementedError(f"the format {self.name} cannot be written")

    def read(self, value: Column, schema: StructType) -> Column:
        """The bytes in `value` as a struct of `schema`; null where they do not fit, and where they are null."""
        from pyspark.sql import functions as F
        from pyspark.sql.types import StringType, StructField, StructType

        decoded = F.udf(partial(_decoded, self, tuple(schema.names)), StringType(), useArrow=False)
        read_as = [StructField(field.name, field.dataType if _is_whole(field.dataType) else StringType()) for field in schema.fields]
        told = F.from_json(decoded(value.cast("binary")), StructType([*read_as, StructField(_MISFIT, StringType())]), _FROM_JSON)
        fields = {field.name: _cast(told.getField(field.name), field.dataType) for field in schema.fields}
        fits = [cast.isNotNull() | told.getField(name).isNull() for name, cast in fields.items()]
        is_record = told.isNotNull() & told.getField(_MISFIT).isNull() & F.forall(F.array(*fits), lambda fit: fit)
        return F.when(is_record, F.struct(*(cast.alias(name) for name, cast in fields.items())))

    def write(self, record: Column) -> Column:
        """The struct `record` as bytes or text."""
        from pyspark.sql import functions as F
        from pyspark.sql.types import BinaryType

        return F.udf(partial(_encoded, self), BinaryType(), useArrow=False)(record)


def _cast(told: Column, kind: DataType) -> Column:
    return told if _is_whole(kind) else told.try_cast(kind)


def _is_whole(kind: DataType) -> bool:
    """Read from JSON as it is; all else is cast from its text."""
    return kind.typeName() in ("array", "map", "struct", "variant", "binary")


def _decoded(format_: MessageFormat, columns: Sequence[str], value: bytes | None) -> str | None:
    """As JSON; None where it is no such message. A message that breaks other people's code must not stop a stream."""
    if value is None:
        return None
    try:
        found = format_.decode(bytes(value), columns)
        return json.dumps({name: found[name] for name in columns if name in found}, default=_told)
    except Exception:
        return None


def _encoded(format_: MessageFormat, record: Row) -> bytes:
    return bytes(format_.encode(record.asDict(recursive=True)))


def _told(value: Any) -> Any:
    """What JSON has no word for."""
    match value:
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(bytes(value)).decode("ascii")
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return str(value)
        case Mapping():
            return dict(value)
        case _:
            raise TypeError(f"{type(value).__name__} is no value of a message")
