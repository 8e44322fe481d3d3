"""The API's description and the browser's types in the repository are those of the code."""

from pathlib import Path

import pytest

from scripts.api_types import DESCRIPTION, TYPES, api_types_write

REMEDY = "it is not what the code says: run `.venv/bin/python -m scripts.api_types`"


@pytest.mark.timeout(300)
def test_the_description_of_the_api_and_the_types_made_from_it_are_current(tmp_path: Path) -> None:
    description, types = tmp_path / DESCRIPTION.name, tmp_path / TYPES.name
    api_types_write(description, types)
    assert description.read_text() == DESCRIPTION.read_text(), f"{DESCRIPTION.name}: {REMEDY}"
    assert types.read_text() == TYPES.read_text(), f"{TYPES.name}: {REMEDY}"
