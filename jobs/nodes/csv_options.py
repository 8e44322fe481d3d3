"""How Spark writes lines of CSV so that texts come back as they were, and how forms ask what means no value."""

from typing import Any

from pydantic import Field

from jobs.nodes.form import hints
from jobs.nodes.json_options import TIMES_AS_WRITTEN

#: Quotes within quotes are doubled; blanks at the ends of a text, which Spark would cut off, stay.
AS_WRITTEN = {"escape": '"', "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false", **TIMES_AS_WRITTEN}


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
