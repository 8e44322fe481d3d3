"""Texts that should be one line of CSV each: how Spark is to read them, and which are none although it makes a record of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobs.nodes.columns import sql_text
from jobs.nodes.csv_options import delimiter_sign

if TYPE_CHECKING:
    from pyspark.sql import Column

#: Why a text is no line of CSV where `csv_is_open` says so.
OPEN = "a value begins with a quote that is never closed"
_NUL = "\0"
_LINE_ENDS = "\r\n"
#: Spark's parser leaves what stands behind a line's end unread, and reads on there when it is given the next text: so none ends a line.
_NO_LINE_END = {"lineSep": _NUL}


def csv_line_options(delimiter: str, null_value: str) -> dict[str, str]:
    """Those of `from_csv`."""
    return {"sep": delimiter, "escape": '"', "nullValue": null_value, **_NO_LINE_END}


def csv_line(text: Column) -> Column:
    """What `from_csv` is to read: `text` without line ends before and behind it. Null where NUL would be one."""
    from pyspark.sql import functions as F

    return F.when(~F.contains(text, F.lit(_NUL)), F.btrim(text, F.lit(_LINE_ENDS)))


def csv_line_sql(text: str) -> str:
    """The same as SQL."""
    return f"if(contains({text}, {sql_text(_NUL)}), NULL, trim(BOTH {sql_text(_LINE_ENDS)} FROM {text}))"


def csv_is_open(text: Column) -> Column:
    """Whether a quote in it is never closed, as where a message was cut off."""
    from pyspark.sql import functions as F

    return (F.length(text) - F.length(F.replace(text, F.lit('"'), F.lit("")))) % 2 == 1


def csv_is_no_line(text: Column, delimiter: str) -> Column:
    """Whether `text` has a line's end outside quotes, or ends within quotes: Spark takes all that follows for the value.

    A line with an even number of quotes and no line ends within needs no second look.
    """
    from pyspark.sql import functions as F

    sign, value = _sign_and_value(delimiter)
    is_odd = F.contains(text, F.lit('"')) & csv_is_open(text)
    line = F.btrim(text, F.lit(_LINE_ENDS))
    is_line = F.rlike(line, F.lit(_whole_line(sign, value)))
    is_broken = F.contains(line, F.lit("\n")) | F.contains(line, F.lit("\r"))
    return F.coalesce((is_odd | is_broken) & ~is_line, F.lit(False))


def csv_values_sql(line: str, delimiter: str) -> str:
    """How many values a line of CSV has, as SQL; null for what is no line, as a quote in it is never closed."""
    sign, value = _sign_and_value(delimiter)
    counted = f"regexp_count(concat({sql_text(delimiter_sign(delimiter))}, {line}), {sql_text(f'(?s){sign}{value}')})"
    return f"if({line} RLIKE {sql_text(_whole_line(sign, value))}, {counted}, NULL)"


def _whole_line(sign: str, value: str) -> str:
    return f"(?s)^{value}(?:{sign}{value})*+$"


def _sign_and_value(delimiter: str) -> tuple[str, str]:
    """Patterns of what stands between the values of a line, and of one of them."""
    sign = re.escape(delimiter_sign(delimiter))
    rest = f"[^{sign}\\r\\n]*+" if len(delimiter_sign(delimiter)) == 1 else f"(?:(?!{sign})[^\\r\\n])*+"
    return sign, f'(?:"[^"]*+(?:""[^"]*+)*+"{rest}|(?!"){rest})'
