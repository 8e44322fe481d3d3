"""Every field, choice, kind and secret that a form shows has Chinese words."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.nodes.registry import CONNECTION_KINDS, NODE_TYPES, NodeRegistry

LOCALES = Path(__file__).resolve().parents[2] / "frontend" / "src" / "features" / "canvas" / "locales"


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand there once: of two the browser would take the last in silence."""
    assert len(dict(pairs)) == len(pairs), f"twice: {[key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1]}"
    return dict(pairs)


FIELDS: dict[str, Any] = json.loads((LOCALES / "node-fields.zh.json").read_text(encoding="utf-8"), object_pairs_hook=once)
TYPES: dict[str, Any] = json.loads((LOCALES / "node-types.zh.json").read_text(encoding="utf-8"), object_pairs_hook=once)
#: What this repository brings: types of other packages bring words of their own, or show English.
REGISTRY = NodeRegistry(plugins=tuple)
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def fields_of(schema: dict[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(path, schema) of every field; that of a row's field is "columns.name"."""
    for name, field in schema.get("properties", {}).items():
        yield f"{above}{name}", field
        if isinstance(field.get("items"), dict):
            yield from fields_of(field["items"], f"{above}{name}.")


def forms() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(type or "connection.KIND", path of the field, its schema) of every field of every form."""
    for name, spec in REGISTRY.catalogue().items():
        for path, field in fields_of(dict(spec.schema)):
            yield name, path, field
    for name, kind in REGISTRY.connection_kinds().items():
        for path, field in fields_of(dict(kind.schema())):
            yield f"connection.{name}", path, field


def words_of(form: str, path: str) -> tuple[str, dict[str, Any] | None]:
    """Where the words of a field stand, and what they are; in the order in which the front end looks."""
    name = path.rsplit(".", 1)[-1]
    own = FIELDS["types"].get(form, {})
    for place, words in ((f"{form} {path}", own.get(path)), (path, FIELDS["fields"].get(path)), (f"{form} {name}", own.get(name))):
        if words:
            return place, words
    return name, FIELDS["fields"].get(name)


@pytest.mark.parametrize(("form", "path"), [(form, path) for form, path, _ in forms()])
def test_a_field_has_a_title_and_a_help_text(form: str, path: str) -> None:
    _, words = words_of(form, path)
    assert words, f'{form}: "{path}" has no words in node-fields.zh.json'
    assert words["title"]
    assert CHINESE.search(words["help"]), f'{form}: the help of "{path}" is not Chinese'


def test_code_that_a_node_begins_with_is_explained() -> None:
    explained = {form for form, _, field in forms() if str(field.get("default", "")).startswith("# ")}
    noted = {form for form, fields in FIELDS["types"].items() if CHINESE.search(fields.get("code", {}).get("notes", ""))}
    assert explained == noted


def test_a_choice_has_words() -> None:
    missing = []
    for form, path, field in forms():
        parts = (field, *field.get("anyOf", ()))
        own = (words_of(form, path)[1] or {}).get("choices", {})
        for value in (str(value) for part in parts for value in part.get("enum", ())):
            if value not in own and value not in FIELDS["choices"]:
                missing.append(f"{form} {path}: {value}")
    assert not missing


def test_a_node_type_has_a_title_and_a_help_text() -> None:
    for name in NODE_TYPES:
        family, word = name.split(".")
        assert TYPES.get(family, {}).get(word, {}).keys() == {"title", "help"}, name


def test_a_kind_of_connection_and_its_secrets_have_words() -> None:
    for name, kind in REGISTRY.connection_kinds().items():
        assert FIELDS["kinds"].get(name, {}).get("title"), name
        assert set(FIELDS["kinds"][name]["secrets"]) == set(kind.secrets), name
    assert set(FIELDS["kinds"]) == set(CONNECTION_KINDS)


def test_no_words_are_left_over() -> None:
    used = {words_of(form, path)[0] for form, path, _ in forms()}
    written = {*FIELDS["fields"], *(f"{form} {path}" for form, paths in FIELDS["types"].items() for path in paths)}
    assert written <= used, f"no form has these any more: {sorted(written - used)}"
