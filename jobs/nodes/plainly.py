"""What nodes hand to an export as plain PySpark."""

from __future__ import annotations

import re

#: In a text: a secret that no export opens. The group names the environment variable which has it when the script runs.
STAND_IN = re.compile(r"SECRET_OF_([A-Z0-9_]+?)_END_OF_SECRET")


def secret_stand_in(connection: str, secret: str) -> str:
    """The text that stands for a secret of `connection` until the script is written."""
    variable = re.sub(r"[^A-Z0-9]+", "_", f"{connection}_{secret}".upper()).strip("_")
    return f"SECRET_OF_{variable}_END_OF_SECRET"


class ScriptText(str):
    """A text for PySpark here, and in the exported script the Python expression `code`, which may know `rows` and `batch_id`."""

    code: str

    def __new__(cls, value: str, code: str) -> ScriptText:
        made = super().__new__(cls, value)
        made.code = code
        return made
