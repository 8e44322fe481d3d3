"""Spark's complaints about a node, as Problems on the field that is to blame, in words for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException

from jobs.dag.catalogue import Family
from jobs.dag.document import Node
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.engine.error_texts import first_sentence, less_advice
from jobs.engine.file_words import unreadable_file
from jobs.nodes.base import NodeError
from jobs.nodes.columns import missing_column
from jobs.nodes.config_texts import texts_in
from jobs.nodes.expressions import ExpressionRefused
from jobs.nodes.worker_errors import node_error_in

_MANY_ROWS = "an expression is about one row, and this one looks at many, as sum and max do: use a node that groups, such as Aggregate"
_OTHER_ROWS = "an expression is about one row, and this one looks at others, as row_number and lag do: use Rank or SQL before"
_SEVERAL_OF_ONE = "an expression gives one value for a row, and this one several, as explode does: use Flat map before"
#: What Spark calls an expression that is not about one row alone → code and sentence.
_NOT_OF_ONE_ROW = {
    "MISSING_GROUP_BY": ("expression.aggregate", _MANY_ROWS),
    "INVALID_WHERE_CONDITION": ("expression.aggregate", _MANY_ROWS),
    "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE": ("expression.aggregate", _OTHER_ROWS),
    "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT": ("expression.invalid", _SEVERAL_OF_ONE),
    "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS": ("expression.invalid", _SEVERAL_OF_ONE),
}


def problem_of(error: BaseException, node_id: str, node: Node, config: Any, columns: Sequence[str], *, family: Family) -> Problem:
    """The Problem that `error` stands for. `config`: with parameters filled in; `columns`: those that arrive at the node.

    A source or sink that cannot be asked is a warning: its system may be back when the job starts.
    """
    if carried := node_error_in(str(error)):
        error = carried.error
    if isinstance(error, ExpressionRefused) and error.__cause__:
        code, message, _ = explained(error.__cause__, error.columns)
        pointer = pointer_of(("nodes", node_id, "config", *error.field.split("/")))
        return Problem(code=code, node_id=node_id, pointer=pointer, message=f'"{node.name}": {error.place}: {message}')
    if isinstance(error, NodeError):
        path: tuple[str | int, ...] = tuple(error.field.split("/")) if error.field else _blamed(config, [])
        away = family != "flow" and error.kind == "external"
        return Problem(
            severity="warning" if away else "error",
            code=f"{family}.unavailable" if away else "node.refused",
            node_id=node_id,
            pointer=pointer_of(("nodes", node_id, "config", *path)),
            message=f'"{node.name}": {error.message}',
        )
    code, message, needles = explained(error, columns, of_query="query" in config)
    return Problem(
        code=code,
        node_id=node_id,
        pointer=pointer_of(("nodes", node_id, "config", *_blamed(config, needles))),
        message=f'"{node.name}": {message}',
    )


def explained(error: BaseException, columns: Sequence[str], *, of_query: bool = False) -> tuple[str, str, list[str]]:
    """Code, sentence, and the texts to look for in the config. `columns`: those that arrive; else what Spark proposes is named.

    `of_query`: what Spark complains about is a whole query, not an expression over a row.
    """
    condition = (error.getCondition() or "") if isinstance(error, PySparkException) else ""
    given = (error.getMessageParameters() or {}) if isinstance(error, PySparkException) else {}
    quoted = _quoted_sql(error)
    if condition.startswith(("UNRESOLVED_COLUMN", "FIELD_NOT_FOUND", "UNRESOLVED_FIELD")):
        name = _plain(given.get("objectName") or given.get("fieldName") or "")
        proposed = [_plain(column) for column in given.get("proposal", "").split(", ") if column]
        known = columns or proposed
        told = missing_column(name, known) if known else f"there is no column {name}"
        return "column.unknown", told, [name, name.rsplit(".", 1)[-1], *quoted]
    if condition.startswith("UNRESOLVED_ROUTINE"):
        name = _plain(given.get("routineName", ""))
        return "function.unknown", f"there is no function {name}", [name, *quoted]
    if condition == "PARSE_EMPTY_STATEMENT":
        return "expression.syntax", "the query is empty: write one" if of_query else "the expression is empty: write one", quoted
    if condition.startswith("PARSE_SYNTAX_ERROR"):
        return "expression.syntax", _unreadable(error, given.get("error", ""), of_query=of_query), quoted
    if condition in _NOT_OF_ONE_ROW and not of_query:
        return (*_NOT_OF_ONE_ROW[condition], quoted)
    if condition == "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN":
        kind = given.get("type", "").strip('"').lower()
        return "expression.invalid", f"a condition is true or false, and this one is {kind}: compare it with something", quoted
    if condition == "COLUMN_ALREADY_EXISTS":
        name = _plain(given.get("columnName", ""))
        told = f"there are several columns {name}, as upper and lower case make no difference; give all but one of them another name"
        return "column.twice", told, [name, *quoted]
    if told := unreadable_file("\n".join(_texts(error))):
        return "file.unreadable", told, []
    return "expression.invalid", _with_expression(error, quoted), quoted


def _with_expression(error: BaseException, quoted: Sequence[str]) -> str:
    """What Spark says of a row, with the expression that it quotes; of one that it refuses before any row, it says enough."""
    if isinstance(error, AnalysisException | ParseException) or not quoted:
        return first_line(error)
    return happened_in(first_line(error), quoted[-1])


def happened_in(told: str, expression: str) -> str:
    """What Spark `told` of a row, with the expression that it quotes."""
    return f"{told.rstrip('.')}. It happened in {expression[:200]}"


def _texts(error: BaseException | None) -> Iterator[str]:
    """What `error` says, then its causes: Spark's own keeps those to itself."""
    while error is not None:
        yield str(error)
        error = getattr(error, "_cause", None)


def _unreadable(error: BaseException, given: str, *, of_query: bool) -> str:
    """The sentence about what Spark's parser stumbled over; `given` is that piece in single quotes, or "end of input"."""
    near = given[1:-1] if len(given) > 2 and given[0] == given[-1] == "'" else given
    if near in ("'", '"', "`"):
        never = f"the expression cannot be read: the quote {near} is never closed"
        return f"the query cannot be read: the quote {near} is never closed" if of_query else never
    where = "at its end" if near == "end of input" else f'at "{near}"'
    line = re.search(r"\(line (\d+), pos \d+\)", str(error))
    if line and line[1] != "1":
        below = f"the expression cannot be read {where}, in its line {line[1]}"
        return f"the query cannot be read {where}, in its line {line[1]}" if of_query else below
    return f"the query cannot be read {where}" if of_query else f"the expression cannot be read {where}"


def _plain(name: str) -> str:
    return name.replace("`", "")


def _quoted_sql(error: BaseException) -> list[str]:
    """The piece of SQL that Spark shows below "== SQL ==", its caret lines left out."""
    match = re.search(r"== SQL[^\n]*==\n(.+)", str(error), re.DOTALL)
    if not match:
        return []
    lines = [line for line in match[1].splitlines() if line.strip() and not re.fullmatch(r"[-\s]*\^+[-\s]*", line)]
    return ["\n".join(lines).strip(), *(line.strip() for line in lines[:1])]


def first_line(error: BaseException) -> str:
    """What Spark says of it; of what it does not know itself, which py4j only says the call of, the JVM's own words."""
    if isinstance(error, Py4JJavaError):
        return first_sentence(error)
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    first = less_advice(re.sub(r"\s*SQLSTATE: \w+.*$", "", first))
    return re.sub(r"^\[[A-Z0-9_.]+\] ", "", first)[:500]


def _blamed(config: Any, needles: Sequence[str]) -> tuple[str | int, ...]:
    """Where in the config one of `needles` stands; the only text field if none does; () where that is not clear either."""
    texts = list(texts_in(config))
    for needle in needles:
        if not needle:
            continue
        word = re.compile(rf"(?<![\w`]){re.escape(needle)}(?![\w])" if re.fullmatch(r"[\w.]+", needle) else re.escape(needle))
        for path, text in texts:
            if text == needle or word.search(text) or word.search(text.replace("`", "")):
                return path
    return texts[0][0] if len(texts) == 1 else ()
