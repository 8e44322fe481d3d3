"""Several lines that change a row, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext, NodeError
from jobs.nodes.columns import column, type_text
from jobs.nodes.expressions import expression, expressions_of
from jobs.nodes.form import hints
from jobs.nodes.meeting_types import alike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_NAME = r"(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<name>[^\W\d]\w*))"
_ASSIGNMENT = re.compile(rf"{_NAME}\s*=(?!=)\s*(?P<value>.+)", re.DOTALL)
#: The word; a bracket may follow at once.
_WHERE = r"if(?:\s+|(?=\())"
_KEEP = re.compile(rf"(?P<act>keep|drop)\s+{_WHERE}(?P<condition>.+)", re.DOTALL | re.IGNORECASE)
_IF = re.compile(rf"{_WHERE}(?P<condition>.+?)\s+then\s+{_NAME}\s*=(?!=)\s*(?P<value>.+)", re.DOTALL | re.IGNORECASE)
_CASE_WORD = re.compile(r"\b(?:case|end)\b", re.IGNORECASE)
#: Spark reads no such thing behind a value: an else of its own begins.
_ELSE = re.compile(r"\S\s+else\s+[\w'\"`(]", re.IGNORECASE)
_BEGINS_ELSE = re.compile(r"(?:else|elif|elseif)\b(?!\s*=)", re.IGNORECASE)
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_COMMENT = re.compile(r"\s*(?:#|--)")
#: What stands within quotes, and Spark's own comments, in which # begins none; or what it begins.
_PIECE = re.compile(
    r"""(?<!\w)[rR](?:'[^']*'|"[^"]*")|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/|(?P<comment>\#[^\n]*)""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Statement:
    """One statement. With `name` it sets a column (where `condition` is true, else the old value stays); without, it filters.

    `value` is then "keep" or "drop". `line` is counted from 1.
    """

    line: int
    name: str
    value: str
    condition: str = ""


def statements(script: str) -> Iterator[Statement]:
    """The statements of `script`; ValueError names the line that is none."""
    for line, written in _lines(script):
        text = _PIECE.sub(lambda piece: "" if piece["comment"] else piece[0], written).rstrip()
        bare = _PIECE.sub(lambda piece: f"{piece[0][0]}{'_' * (len(piece[0]) - 2)}{piece[0][-1]}", text)
        if match := _KEEP.fullmatch(bare):
            yield Statement(line, "", match["act"].lower(), _part(text, match, "condition"))
        elif match := _IF.fullmatch(hidden := _without_cases(bare)):
            if _ELSE.search(_part(hidden, match, "value")):
                raise _no_else(line)
            yield Statement(line, _name(text, match), _part(text, match, "value"), _part(text, match, "condition"))
        elif match := _ASSIGNMENT.fullmatch(bare):
            yield Statement(line, _name(text, match), _part(text, match, "value"))
        elif _BEGINS_ELSE.match(bare):
            raise _no_else(line)
        else:
            raise ValueError(f"line {line}: write column = expression, if condition then column = expression, keep if … or drop if …")


def _no_else(line: int) -> ValueError:
    return ValueError(
        f"line {line}: there is no else: write a second line with the opposite condition, or column = case when … then … else … end"
    )


def _part(text: str, match: re.Match[str], group: str) -> str:
    """What stands in `text` where `match`, of the same text with nothing in its quotes, found `group`."""
    return text[slice(*match.span(group))]


def _name(text: str, match: re.Match[str]) -> str:
    return _part(text, match, "name") or _part(text, match, "quoted").replace("``", "`")


def _without_cases(bare: str) -> str:
    """As long as `bare`, with nothing from each case to its end: it has a then of its own."""
    hidden, begun = list(bare), list[int]()
    for word in _CASE_WORD.finditer(bare):
        if word[0].lower() == "case":
            begun.append(word.start())
        elif begun:
            first = begun.pop()
            hidden[first : word.end()] = "_" * (word.end() - first)
    return "".join(hidden)


def _lines(script: str) -> Iterator[tuple[int, str]]:
    """(number, text) of each statement; an indented line goes on with the one before, one behind # or -- is a comment.

    A line that begins within quotes is part of what they hold, as it stands.
    """
    within = {at for piece in _PIECE.finditer(script) if "\n" in piece[0] for at in range(piece.start() + 1, piece.end())}
    begun: tuple[int, str] | None = None
    at = 0
    for number, line in enumerate(script.split("\n"), 1):
        is_within, at = at in within, at + len(line) + 1
        if begun and (is_within or (line[:1].isspace() and not _is_idle(line))):
            begun = (begun[0], f"{begun[1]}\n{line if is_within else line.lstrip()}")
        elif not _is_idle(line):
            if begun:
                yield begun
            begun = (number, line.lstrip())
    if begun:
        yield begun


def _is_idle(line: str) -> bool:
    return not line.strip() or _COMMENT.match(line) is not None


def _readable(script: str) -> str:
    if not list(statements(script)):
        raise ValueError("the script has no statement: write column = expression, or keep if condition")
    return script


class ScriptConfig(base.Config):
    script: Annotated[str, AfterValidator(_readable)] = Field(
        min_length=1,
        max_length=100_000,
        description="From top to bottom: column = expression, if … then column = expression, keep if …, drop if …. An indented line "
        "goes on with the one before, # begins a comment.",
        examples=["delay = coalesce(dep_delay, 0)\nif delay > 15 then status = 'late'\nkeep if carrier is not null"],
        json_schema_extra=hints("code"),
    )


class Script(Flow[ScriptConfig]):
    """Sets columns and keeps or drops rows, line by line, in Spark SQL expressions."""

    type = "flow.script"
    title = "Script"
    icon = "script"
    Config = ScriptConfig
    real_time: ClassVar[bool] = True
    changes_row_count: ClassVar[bool] = True
    summary_template = "{script}"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[ScriptConfig]) -> DataFrame:
        (frame,) = frames["in"]
        if context.is_drawn:
            _require_beginnings(context.config.script)
        lines: dict[str, int] = {}
        for statement in statements(context.config.script):
            with expressions_of(f"line {statement.line}", "script", frame):
                if context.is_drawn and statement.name and statement.condition:
                    _require_condition(frame, statement)
                    _require_one_type(frame, statement, lines)
                frame = _applied(frame, statement)
            lines[statement.name.lower()] = statement.line
        return frame


def _applied(frame: DataFrame, statement: Statement) -> DataFrame:
    from pyspark.sql import functions as F

    if not statement.name:
        condition = expression(statement.condition)
        return frame.filter(condition if statement.value == "keep" else ~F.coalesce(condition, F.lit(False)))
    value = expression(statement.value)
    if statement.condition:
        before = column(statement.name) if _is_there(frame, statement) else F.lit(None)
        value = F.when(expression(statement.condition), value).otherwise(before)
    return frame.withColumn(statement.name, value)


def _is_there(frame: DataFrame, statement: Statement) -> bool:
    return statement.name.lower() in {name.lower() for name in frame.columns}


def _require_beginnings(script: str) -> None:
    """NodeError where every line is indented, and one reads as a statement of its own all the same."""
    lines = [line for line in script.split("\n") if not _is_idle(line)]
    ways = (_ASSIGNMENT, _IF, _KEEP)
    if all(line[:1].isspace() for line in lines) and any(way.match(line.lstrip()) for line in lines[1:] for way in ways):
        raise NodeError(
            "every line begins with blanks, so that all are one statement: begin each statement at the start of its line",
            permanent=True,
            kind="user",
            field="script",
        )


def _require_condition(frame: DataFrame, statement: Statement) -> None:
    """What Spark says of a filter: of the same within a CASE it says less."""
    frame.filter(expression(statement.condition))


def _require_one_type(frame: DataFrame, statement: Statement, lines: Mapping[str, int]) -> None:
    """NodeError where values of two kinds meet in a column. Of a text among others Spark would make one of those, and fail at the first
    that is none; of all else it says more than a person needs.

    Only while a job is drawn: in one published so, all texts may be such values. `lines`: in which one each column was set last.
    """
    if not _is_there(frame, statement):
        return
    before = frame.select(column(statement.name)).schema[0].dataType
    now = frame.select(expression(statement.value)).schema[0].dataType
    kinds = {before.typeName(), now.typeName()}
    if kinds & {"void", "variant"} or alike(before, now) or _is_written_so(frame, statement.value, before):
        return
    raise _two_types(statement.name, type_text(now), type_text(before), lines.get(statement.name.lower()))


def _two_types(name: str, now: str, before: str, line: int | None) -> NodeError:
    if line is None:
        message = f"{name} is {now} here and {before} before: give it one type, such as by cast(… as string)"
    else:
        message = f"{name} is {now} here and {before} in line {line}: give it one type, such as by cast(… as string)"
    return NodeError(message, permanent=True, kind="user")


def _is_written_so(frame: DataFrame, value: str, kind: DataType) -> bool:
    """Whether `value` is a text, written out, that is one of `kind`, such as a date."""
    if not _TEXT.fullmatch(value.strip()):
        return False
    row = frame.sparkSession.range(1).select(expression(value).try_cast(kind)).first()
    return row is not None and row[0] is not None
