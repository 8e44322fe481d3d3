"""Records calls of PySpark as Python text while the nodes make them, so that a script does just what a run does.

Frames, columns, readers and the like carry their text with them. Only the thread that records does: to all others PySpark is as ever.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyspark.sql.avro.functions as avro_functions
from pyspark.sql import SparkSession, Window, functions
from pyspark.sql.classic.column import Column
from pyspark.sql.classic.dataframe import DataFrame
from pyspark.sql.classic.window import WindowSpec
from pyspark.sql.datasource import DataSourceRegistration
from pyspark.sql.group import GroupedData
from pyspark.sql.readwriter import DataFrameReader, DataFrameWriter
from pyspark.sql.streaming.readwriter import DataStreamReader

from jobs.engine.script.code import Call, Code, assignment, identifier, operation, statement
from jobs.engine.script.objects import is_object, listed, object_code, variable
from jobs.engine.script.simpler import simplified
from jobs.engine.script.taken import Taken, names_imported
from jobs.engine.script.values import Unwritable, value_code
from jobs.nodes.plainly import UserCodeText

_CODE = "_script_code"
_SIGNS = {
    "__add__": "+",
    "__sub__": "-",
    "__mul__": "*",
    "__truediv__": "/",
    "__mod__": "%",
    "__and__": "&",
    "__or__": "|",
    "__eq__": "==",
    "__ne__": "!=",
    "__lt__": "<",
    "__le__": "<=",
    "__gt__": ">",
    "__ge__": ">=",
}
_MIRRORED = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rtruediv__": "/", "__rand__": "&", "__ror__": "|"}
_CHAINED = (DataFrame, Column, GroupedData, DataFrameReader, DataStreamReader, DataFrameWriter, WindowSpec)
#: They act, and so are written down instead of being done.
_ENDS = {DataFrameWriter: ("save",), DataFrame: ("show", "foreachPartition")}
#: They are done and written down: what comes later needs them here as well.
_STEPS: dict[type, tuple[str, ...]] = {DataFrame: ("createOrReplaceTempView",), DataSourceRegistration: ("register",)}
_MAKERS = ("sql", "createDataFrame", "range")
_recording = threading.local()
_patching = threading.Lock()


@dataclass
class Recording:
    """`lines`: the statements so far; `taken` and `imports`: what they need; `session`: what Spark's session is called there.

    `names`: those that are given.
    """

    lines: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    session: str = "spark"
    inside: bool = False
    taken: Taken = field(default_factory=Taken)
    names: set[str] = field(default_factory=set)

    def free(self, wanted: str) -> str:
        """`wanted`, or that with a number: given from here on."""
        name, number = wanted, 2
        while name in self.names or keyword.iskeyword(name):
            name, number = f"{wanted}_{number}", number + 1
        self.names.add(name)
        return name

    def names_needed(self) -> set[str]:
        """What the script calls by its own name: what it takes along, and what it imports."""
        return (self.taken.sources.keys() - self.taken.made.keys()) | names_imported(self.imports | self.taken.imports)

    def code_of(self, value: Any) -> Code:
        """Unwritable where nothing was recorded of a frame or column, or a value has no text."""
        if isinstance(value, SparkSession):
            return Code(self.session)
        if isinstance(value, DataSourceRegistration):
            return Code(f"{self.session}.dataSource")
        if (known := getattr(value, "__dict__", {}).get(_CODE)) is not None:
            if isinstance(known, Unwritable):
                raise known
            assert isinstance(known, Code)
            return known
        if isinstance(value, DataFrameReader | DataStreamReader):
            return Code(f"{self.session}.{'readStream' if isinstance(value, DataStreamReader) else 'read'}")
        if isinstance(value, DataFrameWriter):
            return Code(f"{self.code_of(value._df).text()}.write")
        if isinstance(value, _CHAINED):
            raise Unwritable(f"a {type(value).__name__} that nobody has recorded")
        if isinstance(value, list | tuple) and any(_has_own_text(one) for one in value):
            return listed([self.code_of(one) for one in value])
        if isinstance(value, dict) and any(_has_own_text(one) for one in value.values()):
            pairs = (f"{value_code(key, self.imports).text()}: {self.code_of(one).text()}" for key, one in value.items())
            return Code(f"{{{', '.join(pairs)}}}")
        return self._code_of_function(value) or value_code(value, self.imports)

    def _code_of_function(self, value: Any) -> Code | None:
        """Of what is no value: a person's code, objects of ours, and their methods, whose object gets a name before."""
        if isinstance(value, UserCodeText):
            return Code(self.taken.made_once(value, lambda: self.free(f"{identifier(value.name, 'user')}_code")))
        if inspect.ismethod(value) and is_object(value.__self__):
            name = self.free(variable(value.__self__))
            self.lines.append(assignment(name, self.code_of(value.__self__)))
            return Code(f"{name}.{value.__name__}")
        return object_code(value, self.code_of, self.taken, self.imports) if is_object(value) else None

    def call(self, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Call:
        return Call(
            name,
            tuple(self.code_of(argument) for argument in arguments),
            tuple((keyword, self.code_of(value)) for keyword, value in keywords.items()),
        )


def _has_own_text(value: Any) -> bool:
    return isinstance(value, (*_CHAINED, UserCodeText)) or is_object(value)


def name_given(value: Any, name: str) -> Any:
    """`value`, called `name` from here on."""
    value.__dict__[_CODE] = Code(name)
    return value


@contextmanager
def recorded(names: Iterable[str] = ()) -> Iterator[Recording]:
    """What this thread asks of PySpark inside is recorded. One thread of the process at a time. `names` are given already."""
    with _patching, ExitStack() as patches:
        for owner, name, made in _patches():
            patches.enter_context(_replaced(owner, name, made))
        _recording.now = Recording(names=set(names))
        try:
            yield _recording.now
        finally:
            _recording.now = None


@contextmanager
def _replaced(owner: Any, name: str, made: Any) -> Iterator[None]:
    own = vars(owner).get(name)
    setattr(owner, name, made)
    try:
        yield
    finally:
        if own is None:
            delattr(owner, name)  # it is inherited
        else:
            setattr(owner, name, own)


def _patches() -> Iterator[tuple[Any, str, Any]]:
    for kind in _CHAINED:
        ends, steps = _ENDS.get(kind, ()), _STEPS.get(kind, ())
        for name in dir(kind):
            method = getattr(kind, name, None)
            if not callable(method) or (name.startswith("_") and name not in {**_SIGNS, **_MIRRORED, "__invert__": "", "__getitem__": ""}):
                continue
            yield kind, name, _ended(method, name) if name in ends else _stepped(method, name) if name in steps else _chained(method, name)
    yield DataSourceRegistration, "register", _stepped(DataSourceRegistration.register, "register")
    for name in _MAKERS:
        yield SparkSession, name, _chained(getattr(SparkSession, name), name)
    for name in ("partitionBy", "orderBy"):
        yield Window, name, staticmethod(_function(getattr(Window, name), name, "Window", "from pyspark.sql import Window"))
    for name in functions.__all__:
        if callable(found := getattr(functions, name)) and not isinstance(found, type):
            yield functions, name, _function(found, name, "F")
    for name in ("from_avro", "to_avro"):
        line = "from pyspark.sql.avro import functions as avro"
        yield avro_functions, name, _function(getattr(avro_functions, name), name, "avro", line)


def _active() -> Recording | None:
    found: Recording | None = getattr(_recording, "now", None)
    return None if found is None or found.inside else found


def _chained(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def chained(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if (recording := _active()) is None:
            return method(self, *arguments, **keywords)
        result = _quietly(recording, method, self, *arguments, **keywords)
        if isinstance(result, _CHAINED):
            result.__dict__[_CODE] = _code_or_why(recording, self, name, arguments, keywords)
        return result

    return chained


def _code_or_why(recording: Recording, owner: Any, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Code | Unwritable:
    """A frame that is only looked at, for its columns, needs no text."""
    try:
        return _code(recording, owner, name, arguments, keywords)
    except Unwritable as error:
        return error


def _code(recording: Recording, owner: Any, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Code:
    code = recording.code_of(owner)
    if name in _SIGNS:
        return operation(code, _SIGNS[name], recording.code_of(arguments[0]))
    if name in _MIRRORED:
        return operation(recording.code_of(arguments[0]), _MIRRORED[name], code)
    if name == "__invert__":
        return Code(f"(~{code.text()})", grouped=True)
    if name == "__getitem__":
        return Code(f"{code.text()}[{recording.code_of(arguments[0]).text()}]")
    return simplified(code, recording.call(name, arguments, keywords))


def _function(function: Callable[..., Any], name: str, module: str, line: str = "") -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*arguments: Any, **keywords: Any) -> Any:
        if (recording := _active()) is None:
            return function(*arguments, **keywords)
        given = tuple(_Lambda(recording, argument) if _is_lambda(argument) else argument for argument in arguments)
        passed = tuple(argument.heard if isinstance(argument, _Lambda) else argument for argument in given)
        result = _quietly(recording, function, *passed, **keywords)
        if isinstance(result, _CHAINED):
            written = tuple(argument.code() if isinstance(argument, _Lambda) else recording.code_of(argument) for argument in given)
            named = tuple((keyword, recording.code_of(value)) for keyword, value in keywords.items())
            result.__dict__[_CODE] = simplified(Code(module), Call(name, written, named))
            if line:
                recording.imports.add(line)
        return result

    return called


def _is_lambda(value: Any) -> bool:
    return callable(value) and not isinstance(value, type | Column)


class _Lambda:
    """A function over columns, such as that of F.transform: heard while Spark calls it with its own columns."""

    def __init__(self, recording: Recording, function: Callable[..., Any]) -> None:
        self._recording, self._function = recording, function
        self._text = ""

        @functools.wraps(function)
        def heard(*columns: Any) -> Any:
            names = function.__code__.co_varnames[: len(columns)]
            recording.inside = False
            try:
                made = function(*(name_given(column, name) for column, name in zip(columns, names, strict=True)))
                self._text = f"lambda {', '.join(names)}: {recording.code_of(made).text()}"
            finally:
                recording.inside = True
            return made

        self.heard = heard

    def code(self) -> Code:
        return Code(self._text)


def _stepped(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def stepped(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if (recording := _active()) is not None:
            recording.lines.append(statement(_code(recording, self, name, arguments, keywords)))
        return method(self, *arguments, **keywords)

    return stepped


def _ended(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def ended(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if (recording := _active()) is None:
            return method(self, *arguments, **keywords)
        recording.lines.append(statement(_code(recording, self, name, arguments, keywords)))
        return None

    return ended


def _quietly(recording: Recording, method: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    recording.inside = True
    try:
        return method(*arguments, **keywords)
    finally:
        recording.inside = False
