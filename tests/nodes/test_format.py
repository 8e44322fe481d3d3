"""What Format says of its template and columns while a job is drawn."""

from types import SimpleNamespace
from typing import Any

import pytest

from jobs.nodes.flows.format import Format, FormatConfig


@pytest.mark.parametrize(
    ("template", "left"),
    [
        ("x ${id", "${id"),
        ("${id} and ${a very long name of one: ${amount}", "${a very long name of"),
        ("an ${} empty one", "${} empty one"),
        ("${id}, $${id} and $5 {each}", ""),
    ],
)
def test_a_place_in_the_template_that_is_never_closed_is_told(template: str, left: str) -> None:
    context: Any = SimpleNamespace(config=FormatConfig(format="text", template=template))
    told = [(caution.field, caution.message) for caution in Format().cautions(context, [])]
    words = f"{left} is written as it stands: a value goes there where }} follows its name, as in ${{name}}"
    assert told == ([("template", words)] if left else [])


def test_a_template_that_another_format_has_left_is_not_looked_at() -> None:
    context: Any = SimpleNamespace(config=FormatConfig(format="json", template="x ${id"))
    assert list(Format().cautions(context, [])) == []
