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
_QUOTED: Mapping[SqlDialect, re.Pattern[str]] = {
    "spark": re.compile(rf"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|{_COMMENT}", re.DOTALL),
    "database": re.compile(rf"'[^']*'|\"[^\"]*\"|`[^`]*`|{_COMMENT}", re.DOTALL),
}


def sql_written(text: str, dialect: SqlDialect, fill: Callable[[str, Callable[[str], str]], str]) -> str:
    """`text` with its places filled. `fill(piece, escaped)` fills those of a piece, each value as `escaped` makes it."""
    pieces, end = [], 0
    for quoted in _QUOTED[dialect].finditer(text):
        within = partial(_within, quote=quoted[0][0], dialect=dialect)
        pieces += [fill(text[end : quoted.start()], str), fill(quoted[0], within)]
        end = quoted.end()
    return "".join([*pieces, fill(text[end:], str)])


def _within(value: str, *, quote: str, dialect: SqlDialect) -> str:
    if quote in "-/":  # a comment must not end with it
        return re.sub(r"[\r\n]+|\*/", " ", value)
    if quote == "`" or dialect == "database":
        return value.replace(quote, quote * 2)
    return value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
