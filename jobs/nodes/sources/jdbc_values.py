"""Values of a JDBC result: their types in Spark, how each is taken, and keys as what JSON can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from jobs.nodes.base import NodeError
from jobs.nodes.sources.jdbc_dialect import BOUND

#: Of a value whose type has no length of its own; and of one of which nobody knows how long it may be.
_SHORT, _ANY_LENGTH = 16, 2**31 - 1
#: Takes the value in a column of a result, by its number from 1; None where there is none.
Taken = Callable[[Any, int], Any]
_MOST_DIGITS = 38

# Numbers of `java.sql.Types`, and behind them those that SQL Server and Oracle use of their own.
_BOOLEANS = frozenset({-7, 16})
_WHOLE = {-6: "smallint", 5: "int", 4: "bigint", -5: "bigint"}
_SIGNED = {-6: "tinyint", 5: "smallint", 4: "int", -5: "bigint"}
_DOUBLES = frozenset({6, 8, 101})
_FLOATS = frozenset({7, 100})
_DECIMALS = frozenset({2, 3})
_DATE, _TIMESTAMP = 91, 93
_INSTANTS = frozenset({2014, -155, -101, -102})
_BYTES = frozenset({-4, -3, -2, 2004})
_SQL_SERVER = "Microsoft SQL Server"


@dataclass(frozen=True)
class JdbcColumn:
    """A column as the driver describes it."""

    name: str
    number: int
    type_name: str
    precision: int
    scale: int
    signed: bool

    @property
    def is_decimal(self) -> bool:
        """One that Spark's decimals hold; others are read as text."""
        return self.number in _DECIMALS and 0 < self.precision <= _MOST_DIGITS and 0 <= self.scale <= self.precision

    @property
    def spark_type(self) -> str:
        if self.type_name.lower() == "uuid":  # some give its bytes
            return "string"
        if self.is_decimal:
            return f"decimal({self.precision},{self.scale})"
        if self.number == -5 and not self.signed:
            return "decimal(20,0)"
        if whole := (_SIGNED if self.signed else _WHOLE).get(self.number):
            return whole
        kinds = ((_BOOLEANS, "boolean"), (_DOUBLES, "double"), (_FLOATS, "float"), (_BYTES, "binary"), (_INSTANTS, "timestamp"))
        named = {_DATE: "date", _TIMESTAMP: "timestamp"}
        return named.get(self.number) or next((name for numbers, name in kinds if self.number in numbers), "string")

    @property
    def longest(self) -> int:
        """How many bytes a value may have, roughly."""
        if self.spark_type not in ("string", "binary") or self.number in _DECIMALS:
            return _SHORT
        return self.precision if self.precision > 0 else _ANY_LENGTH

    @property
    def taken(self) -> Taken:
        spark_type = self.spark_type
        if spark_type.startswith("decimal"):
            return _decimal
        if spark_type == "timestamp":
            return _instant if self.number in _INSTANTS else _time
        return _TAKEN.get(spark_type, _text)

    @property
    def key(self) -> JdbcKey:
        """NodeError where its values cannot be a key."""
        spark_type = self.spark_type
        if self.number in _INSTANTS:
            return JdbcKey(lambda result, place: _shown(_offset(result, place)), _bind_instant)
        if spark_type.startswith("decimal") or self.number in _DECIMALS:
            return JdbcKey(lambda result, place: _shown(result.getBigDecimal(place)), _bind_decimal)
        if found := _KEYS.get(spark_type):
            return found
        message = f"reading a table: the key column {self.name} holds {spark_type}, which has no order to read on by; choose another"
        raise NodeError(message, permanent=True, kind="user", field="key_column")


def key_sql(column: JdbcColumn, product: str) -> str:
    """SQL of a key that is bound, to compare the column with, in a database of that name.

    SQL Server keeps a `datetime` in three hundredths of a second, hands out .003 for .00333 and takes what is bound for .0030000.
    """
    return f"CAST({BOUND} AS datetime)" if (product, column.type_name.lower()) == (_SQL_SERVER, "datetime") else BOUND


@dataclass(frozen=True)
class JdbcKey:
    """`shown` takes a key as what JSON can hold; `bind` puts it back as a parameter of a statement."""

    shown: Taken
    bind: Callable[[Any, int, Any], None]


def columns_of(metadata: Any) -> list[JdbcColumn]:
    """Of a `java.sql.ResultSetMetaData`."""
    return [
        JdbcColumn(
            str(metadata.getColumnLabel(place)),
            int(metadata.getColumnType(place)),
            str(metadata.getColumnTypeName(place)),
            int(metadata.getPrecision(place)),
            int(metadata.getScale(place)),
            bool(metadata.isSigned(place)),
        )
        for place in range(1, int(metadata.getColumnCount()) + 1)
    ]


def _given(take: Taken) -> Taken:
    """Of getters that give 0 or false for null."""

    def taken(result: Any, place: int) -> Any:
        value = take(result, place)
        return None if result.wasNull() else value

    return taken


def _shown(value: Any) -> str | None:
    return None if value is None else str(value.toString())


def _text(result: Any, place: int) -> str | None:
    value = result.getString(place)
    return None if value is None else str(value)


def _decimal(result: Any, place: int) -> Decimal | None:
    value = result.getBigDecimal(place)
    return None if value is None else Decimal(str(value.toString()))


def _bytes(result: Any, place: int) -> bytes | None:
    value = result.getBytes(place)
    return None if value is None else bytes(value)


def _date(result: Any, place: int) -> Any:
    return _parsed(_shown(result.getDate(place)), date.fromisoformat)


def _time(result: Any, place: int) -> Any:
    """A time without a zone is taken for UTC."""
    return _parsed(_shown(result.getTimestamp(place)), lambda text: datetime.fromisoformat(_micros(text)).replace(tzinfo=UTC))


def _instant(result: Any, place: int) -> Any:
    value = _offset(result, place)
    shown = None if value is None else _shown(value.toInstant())
    return _parsed(shown, lambda text: datetime.fromisoformat(f"{_micros(text.removesuffix('Z'))}+00:00"))


def _parsed(text: str | None, parse: Callable[[str], Any]) -> Any:
    """What is no such value stays text, which is told of the row."""
    try:
        return None if text is None else parse(text)
    except ValueError:
        return text


def _micros(text: str) -> str:
    """With the six digits behind the second that Python knows."""
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction[:6]:0<6}"


def _offset(result: Any, place: int) -> Any:
    import jpype

    return result.getObject(place, jpype.JClass("java.time.OffsetDateTime"))


def _bind_decimal(statement: Any, place: int, value: str) -> None:
    import jpype

    statement.setBigDecimal(place, jpype.JClass("java.math.BigDecimal")(value))


def _bind_instant(statement: Any, place: int, value: str) -> None:
    import jpype

    statement.setObject(place, jpype.JClass("java.time.OffsetDateTime").parse(value))


def _bind_date(statement: Any, place: int, value: str) -> None:
    import jpype

    statement.setDate(place, jpype.JClass("java.sql.Date").valueOf(value))


def _bind_time(statement: Any, place: int, value: str) -> None:
    import jpype

    statement.setTimestamp(place, jpype.JClass("java.sql.Timestamp").valueOf(value))


_LONG = _given(lambda result, place: int(result.getLong(place)))
_DOUBLE = _given(lambda result, place: float(result.getDouble(place)))
_TAKEN: dict[str, Taken] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), _LONG),
    **dict.fromkeys(("float", "double"), _DOUBLE),
    "boolean": _given(lambda result, place: bool(result.getBoolean(place))),
    "binary": _bytes,
    "date": _date,
}
_KEYS: dict[str, JdbcKey] = {
    **dict.fromkeys(
        ("tinyint", "smallint", "int", "bigint"), JdbcKey(_LONG, lambda statement, place, value: statement.setLong(place, value))
    ),
    **dict.fromkeys(("float", "double"), JdbcKey(_DOUBLE, lambda statement, place, value: statement.setDouble(place, value))),
    "string": JdbcKey(_text, lambda statement, place, value: statement.setString(place, value)),
    "date": JdbcKey(lambda result, place: _shown(result.getDate(place)), _bind_date),
    "timestamp": JdbcKey(lambda result, place: _shown(result.getTimestamp(place)), _bind_time),
}
