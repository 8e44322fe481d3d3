"""The README says what is true."""

import ast
import json
import re
from pathlib import Path

import pytest

from jobs.dag.document import parse_document

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_every_variable_of_the_settings_is_in_the_readme_and_no_other() -> None:
    read = set(
        re.findall(r'(?:env\.\w+|whole|decimal|switch|choice|objects)\(\s*"([A-Z_]+)"', (ROOT / "pipeline_web" / "settings.py").read_text())
    )
    rows = re.findall(r"^\| (`[A-Z_`, ]+) \|", README, flags=re.M)
    assert {name for row in rows for name in re.findall(r"[A-Z_]+", row)} == read


def test_its_example_document_is_a_document() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", README, flags=re.S)
    document, problems = parse_document(json.loads(block))
    assert document is not None
    assert problems == []


def test_its_example_node_type_is_python() -> None:
    for block in re.findall(r"```python\n(.*?)```", README, flags=re.S):
        ast.parse("\n".join(line[3:] for line in block.splitlines()))


@pytest.mark.parametrize("row", re.findall(r"^\| (`[a-z].*?) \|", README.split("## The map of the house")[1].split("##")[0], flags=re.M))
def test_the_map_names_what_exists(row: str) -> None:
    first, *others = re.findall(r"`([^`]+)`", row)
    assert (ROOT / first).exists(), first
    for other in others:
        assert any((place / other).exists() or (place / f"{other}.py").exists() for place in (ROOT, ROOT / Path(first).parent)), other


def test_the_commands_it_names_exist() -> None:
    commands = set(re.findall(r"manage\.py (\w+)", README)) - {"createsuperuser"}
    missing = {name for name in commands if not (ROOT / "jobs" / "management" / "commands" / f"{name}.py").exists()}
    assert not missing


def test_the_pages_it_leads_to_exist() -> None:
    pages = set(re.findall(r"\]\((docs/[^)#]+)", README))
    assert "docs/operating.md" in pages
    assert [page for page in pages if not (ROOT / page).is_file()] == []


def test_its_pictures_exist() -> None:
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / picture).is_file(), picture
