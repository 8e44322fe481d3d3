"""Values written into SQL: within quotes they stay a text, whatever they hold.

A value outside of quotes becomes part of the SQL, such as the name of a table: whoever may start the job decides what stands there.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

#: Spark's SQL knows the backslash within quotes; what a database makes of one is its own.
SqlDialect = Literal["spark", "database"]

_COMMENT = r"--[^\n]*|/\*.*?\*/"
#: A backslash is nothing else in it, and its quote cannot be in it at all.
_RAW = r"(?<!\w)[rR](?P<raw>'[^']*'|\"[^\"]*\")"
_QUOTED: Mapping[SqlDialect, re.Pattern[str]] = {
    "spark": re.compile(rf"{_RAW}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|{_COMMENT}", re.DOTALL),
    "database": re.compile(rf"'[^']*'|\"[^\"]*\"|`[^`]*`|{_COMMENT}", re.DOTALL),
}
_SILENT = re.compile(rf"{_QUOTED['spark'].pattern}|#[^\n]*", re.DOTALL)


def sql_written(text: str, dialect: SqlDialect, fill: Callable[[str, Callable[[str], str]], str]) -> str:
    """`text` with its places filled. `fill(piece, escaped)` fills those of a piece, each value as `escaped` makes it."""
    pieces, end = [], 0
    for quoted in _QUOTED[dialect].finditer(text):
        token = _common(quoted)
        within = partial(_within, quote=token[0], dialect=dialect)
        pieces += [fill(text[end : quoted.start()], str), token if "${" not in token else fill(token, within)]
        end = quoted.end()
    return "".join([*pieces, fill(text[end:], str)])


def _common(quoted: re.Match[str]) -> str:
    """A raw text that holds a place, written as others are: a value may hold its quote."""
    raw = quoted.groupdict().get("raw")
    return raw.replace("\\", "\\\\") if raw and "${" in raw else quoted[0]


def _within(value: str, *, quote: str, dialect: SqlDialect) -> str:
    if quote in "-/":  # a comment must not end with it
        return re.sub(r"[\r\n]+|\*/", " ", value)
    if quote == "`" or dialect == "database":
        return value.replace(quote, quote * 2)
    return value.replace("\\", "\\\\").replace(quote, f"\\{quote}")


def sql_bare(text: str) -> str:
    """Spark's SQL without what stands within quotes and comments. In a script # begins a comment, too; elsewhere it has no meaning."""
    return _SILENT.sub(" ", text)
