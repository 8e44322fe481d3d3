"""Objects of ours and of Arrow as Python text: the call that makes them, with the source of their classes taken along."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import pyarrow as pa

from jobs.engine.script.code import Call, Code
from jobs.engine.script.taken import Taken, is_ours
from jobs.engine.script.values import Unwritable, text_literal

_ARROW = "import pyarrow as pa"
_WIDTH = 80
_PARAMETRIC = {"timestamp": ("unit", "tz"), "duration": ("unit",), "decimal128": ("precision", "scale")}


def is_object(value: Any) -> bool:
    """Whether `object_code` can write it."""
    if isinstance(value, pa.Schema | pa.DataType):
        return True
    if inspect.isfunction(value):
        return is_ours(value)
    owner = type(value)
    return is_ours(owner) and is_dataclass(owner)


def object_code(value: Any, code_of: Callable[[Any], Code], taken: Taken, imports: set[str]) -> Code:
    if isinstance(value, pa.Schema):
        imports.add(_ARROW)
        return Code(_schema(value))
    if isinstance(value, pa.DataType):
        imports.add(_ARROW)
        return Code(_kind(value))
    if inspect.isfunction(value):
        return Code(taken.take(value))
    given = tuple((one, code_of(getattr(value, one))) for one in _given(value))
    return Code(taken.take(type(value)), (Call("", (), given),))


def listed(codes: Sequence[Code]) -> Code:
    """A list of them, each on a line of its own where they are long."""
    texts = [code.text() for code in codes]
    if len(text := f"[{', '.join(texts)}]") <= _WIDTH or '"""' in text:
        return Code(text)
    return Code("\n".join(["[", *(f"    {one}," for one in texts), "]"]))


def variable(value: Any) -> str:
    """What an object of this class is called: row_by_row."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(value).__name__).lower()


def _given(value: Any) -> Iterator[str]:
    """Its fields but those that are as they would be anyway."""
    for one in fields(value):
        usual = one.default if one.default_factory is MISSING else one.default_factory()
        if one.init and (usual is MISSING or getattr(value, one.name) != usual):
            yield one.name


def _schema(schema: pa.Schema) -> str:
    parts = [_field(column) for column in schema]
    text = f"pa.schema([{', '.join(parts)}])"
    if len(text) > _WIDTH:
        text = "\n".join(["pa.schema(", "    [", *(f"        {part}," for part in parts), "    ]", ")"])
    if not eval(text, {"pa": pa}).equals(schema):  # noqa: S307  # it is our own text
        raise Unwritable(f"columns of Arrow that are {schema}")
    return text


def _field(column: pa.Field) -> str:
    name, kind = text_literal(column.name), _kind(column.type)
    return f"({name}, {kind})" if column.nullable else f"pa.field({name}, {kind}, nullable=False)"


def _kind(kind: pa.DataType) -> str:
    types = pa.types
    if types.is_struct(kind):
        return f"pa.struct([{', '.join(_field(one) for one in kind)}])"
    if types.is_list(kind):
        return f"pa.list_({_item(kind.value_field)})"
    if types.is_map(kind):
        return f"pa.map_({_kind(kind.key_type)}, {_item(kind.item_field)})"
    name = re.split(r"[\[(]", str(kind))[0]
    if name in _PARAMETRIC:
        given = (getattr(kind, one) for one in _PARAMETRIC[name])
        return f"pa.{name}({', '.join(repr(one) if isinstance(one, int) else text_literal(one) for one in given if one is not None)})"
    plain = {"float": "float32", "double": "float64", "bool": "bool_"}.get(name, name)
    return f"pa.{plain}()"


def _item(item: pa.Field) -> str:
    return _kind(item.type) if item.nullable else f"pa.field({text_literal(item.name)}, {_kind(item.type)}, nullable=False)"
