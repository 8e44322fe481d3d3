"""What nodes hand to an export as plain PySpark."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain, count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.nodes.base import NodeContext

#: In a text: a secret that no export opens. The group names the environment variable which has it when the script runs.
STAND_IN = re.compile(r"SECRET_OF_([A-Z0-9_]+?)_END_OF_SECRET")


def secret_stand_in(connection: str, secret: str, taken: Collection[str] = ()) -> str:
    """The text that stands for a secret of `connection` until the script is written; none of those that are `taken`."""
    variable = re.sub(r"[^A-Z0-9]+", "_", f"{connection}_{secret}".upper()).strip("_")
    names = chain([variable], (f"{variable}_{number}" for number in count(2)))
    return next(text for name in names if (text := f"SECRET_OF_{name}_END_OF_SECRET") not in taken)


def sign_in_fault(context: NodeContext[Any]) -> str:
    """Why a source has no script that is asked for something before it is read, where that needs a secret; "" where it does not."""
    for field in ("connection", "registry_connection"):
        if (name := getattr(context.config, field, "")) and context.connection(name).secrets:
            return f'it is asked before it is read, and an export signs in nowhere: "{name}" has secrets'
    return ""


class UserCodeText(str):
    """A person's Python, called `name` by its node: in the exported script the function of its parameters that gives what it defines."""

    name: str

    def __new__(cls, code: str, name: str) -> UserCodeText:
        made = super().__new__(cls, code)
        made.name = name
        return made


class ScriptText(str):
    """A text for PySpark here, and in the exported script the Python expression `code`, which may know `rows` and `batch_id`."""

    code: str

    def __new__(cls, value: str, code: str) -> ScriptText:
        made = super().__new__(cls, value)
        made.code = code
        return made
