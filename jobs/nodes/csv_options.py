"""How Spark writes lines of CSV so that texts come back as they were, and how forms ask what means no value."""

from typing import Any

from pydantic import Field

from jobs.nodes.form import hints

#: Quotes within quotes are doubled; blanks at the ends of a text, which Spark would cut off, stay.
AS_WRITTEN = {"escape": '"', "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}


def null_value_field() -> Any:
    """Spark's option nullValue, with what follows from it for a value that is quoted and empty."""
    return Field(
        "",
        description='CSV text that means no value, as an empty one does. With any text here, such as NULL, "" is an empty text; without, '
        "it means no value too.",
        examples=["NA", "NULL"],
        json_schema_extra=hints(advanced=True, when="format=csv"),
    )
