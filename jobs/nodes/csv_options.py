"""How Spark writes lines of CSV so that texts come back as they were, and how forms ask what means no value."""

from typing import Any

from pydantic import Field

from jobs.nodes.form import hints
from jobs.nodes.json_options import TIMES_AS_WRITTEN

#: Quotes within quotes are doubled; blanks at the ends of a text, which Spark would cut off, stay.
AS_WRITTEN = {"escape": '"', "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false", **TIMES_AS_WRITTEN}
_NOTHING = '""'


def written_line_options(delimiter: str, columns: int) -> dict[str, str]:
    """Those of `to_csv`, which makes null of a lone column without a value, though it says that it never does: that is an empty text."""
    return {"sep": delimiter, **AS_WRITTEN, **({"nullValue": _NOTHING} if columns == 1 else {})}


def written_file_options(columns: int) -> dict[str, str]:
    """Those of files with so many columns, of which the first line names them.

    Whoever reads files passes over a line that is empty or all blanks. So a lone column without a value is an empty text, and a text that
    begins with a blank is quoted, as one that begins with the sign of a comment is.
    """
    lone = {"nullValue": _NOTHING, "comment": " "} if columns == 1 else {}
    return {"header": "true", "emptyValue": _NOTHING, **AS_WRITTEN, **lone}


def delimiter_sign(delimiter: str) -> str:
    """What stands between the values where a form says `delimiter`."""
    return delimiter.replace("\\t", "\t")


def delimiter_field(**shown: Any) -> Any:
    """`shown`: how a form shows it (`hints`), unless it does so where the format is CSV."""
    return Field(
        ",",
        min_length=1,
        max_length=4,
        description="What stands between two CSV values.",
        examples=[",", ";", "\\t"],
        json_schema_extra=hints(**(shown or {"when": "format=csv"})),
    )


def null_value_field(**shown: Any) -> Any:
    """Spark's option nullValue, with what follows from it for a value that is quoted and empty. `shown`: as in `delimiter_field`."""
    return Field(
        "",
        description='CSV text that means no value, as an empty one does. With any text here, such as NULL, "" is an empty text; without, '
        "it means no value too.",
        examples=["NA", "NULL"],
        json_schema_extra=hints(**(shown or {"advanced": True, "when": "format=csv"})),
    )
