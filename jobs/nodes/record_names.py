"""Names of columns that Avro and XML cannot hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jobs.nodes.base import NodeError
from jobs.nodes.nested_values import type_inside

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField

_SHOWN_NAMES = 5
# What XML's names are made of, but for the colon, as Python's patterns and Java's both read it.
_BEGINS = (
    r"A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF"
    r"\uF900-\uFDCF\uFDF0-\uFFFD"
)
_GOES_ON = r"\-.0-9\u00B7\u0300-\u036F\u203F\u2040"


def xml_name_pattern(beyond: str) -> str:
    """`beyond`: the characters behind the first 65,536. Spark makes an attribute of what follows a leading _."""
    begins = _BEGINS + beyond
    return rf"(?:_|(?!_))[{begins}][{begins}{_GOES_ON}]*"


_XML_NAME = re.compile(xml_name_pattern(r"\U00010000-\U000EFFFF"))


def names_check(fields: Sequence[StructField], format_: str) -> None:
    """NodeError that tells which columns, and fields inside of them, have names that `format_` cannot hold."""
    if format_ not in ("avro", "xml"):
        return
    fits = _is_avro_name if format_ == "avro" else _is_xml_name
    odd = [".".join(path) for path in _paths(fields) if not fits(path[-1])]
    if odd:
        told = ", ".join(f'"{name}"' for name in odd[:_SHOWN_NAMES]) + (", …" if len(odd) > _SHOWN_NAMES else "")
        raise NodeError(_avro_words(told) if format_ == "avro" else _xml_words(told), permanent=True, kind="user", field="columns")


def _avro_words(names: str) -> str:
    return (
        f"Avro cannot hold the names {names}: a name is letters, digits and _, and begins with no digit; "
        "rename them before, such as with Select fields"
    )


def _xml_words(names: str) -> str:
    return (
        f"XML cannot hold the names {names}: a name begins with a letter and goes on with letters, digits, ., - and _, "
        "and a _ before it makes it an attribute; rename them before, such as with Select fields"
    )


def _paths(fields: Sequence[StructField], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    from pyspark.sql.types import StructType

    for field in fields:
        path = (*above, field.name)
        yield path
        inner: DataType | None = field.dataType
        while inner is not None and not isinstance(inner, StructType):
            inner = type_inside(inner)
        if isinstance(inner, StructType):
            yield from _paths(inner.fields, path)


def _is_avro_name(name: str) -> bool:
    """As Avro's own parser reads it: letters are those of every script."""
    return bool(name) and all(_is_avro_character(character, begins=place == 0) for place, character in enumerate(name))


def _is_avro_character(character: str, *, begins: bool) -> bool:
    kind = unicodedata.category(character)
    return character == "_" or (ord(character) < 1 << 16 and (kind.startswith("L") or (kind == "Nd" and not begins)))


def _is_xml_name(name: str) -> bool:
    return _XML_NAME.fullmatch(name) is not None
