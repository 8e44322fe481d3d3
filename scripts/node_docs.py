"""Writes docs/nodes from the node types and connection kinds themselves. As a script: `python -m scripts.node_docs`."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jobs.dag.catalogue import NodeTypeSpec
from jobs.nodes.connection_kind import ConnectionKind
from jobs.nodes.registry import CONNECTION_KINDS, NODE_TYPES, REGISTRY

DOCS = Path(__file__).resolve().parent.parent / "docs" / "nodes"
_FAMILIES = {"source": "Sources", "flow": "Flows", "sink": "Sinks"}
_MADE = "<!-- Made by `python -m scripts.node_docs` from the node types: change those, not this page. -->"


def node_pages() -> dict[str, str]:
    """File name → text, of all pages; third-party packages have their own."""
    specs = {name: spec for name, spec in REGISTRY.catalogue().items() if name in NODE_TYPES}
    kinds = {name: kind for name, kind in REGISTRY.connection_kinds().items() if name in CONNECTION_KINDS}
    pages = {f"{name}.md": _page(_node_lines(spec)) for name, spec in specs.items()}
    pages |= {f"connection.{name}.md": _page(_kind_lines(name, kind)) for name, kind in kinds.items()}
    return pages | {"README.md": _page(_index_lines(specs, kinds))}


def node_pages_write(folder: Path = DOCS) -> None:
    """Pages of node types that are no more are taken away."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = node_pages()
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def _page(lines: Iterator[str]) -> str:
    return "\n".join([_MADE, "", *lines]) + "\n"


def _index_lines(specs: Mapping[str, NodeTypeSpec], kinds: Mapping[str, ConnectionKind]) -> Iterator[str]:
    yield from ("# Node types", "")
    for family, title in _FAMILIES.items():
        yield from (f"## {title}", "", "| Type | Title | What it does |", "|---|---|---|")
        for name, spec in specs.items():
            if spec.family == family:
                yield f"| [`{name}`]({name}.md) | {spec.title} | {_cell(spec.help)} |"
        yield ""
    yield from ("## Connections", "", "| Kind | Title |", "|---|---|")
    for name, kind in kinds.items():
        yield f"| [`{name}`](connection.{name}.md) | {kind.title} |"


def _node_lines(spec: NodeTypeSpec) -> Iterator[str]:
    yield from (f"# {spec.title} (`{spec.type}`)", "", spec.help, "")
    if spec.guarantee:
        yield from (spec.guarantee, "")
    ports = ", ".join(f"`{port.name}` ({port.kind}{', any number' if port.many else ''})" for port in spec.ports)
    named = f", and one (output) for each name in `{spec.ports_field}`" if spec.ports_field else ""
    yield f"- Ports: {ports}{named}"
    yield f"- Job types: {', '.join(spec.job_types)}"
    if spec.connection_kinds:
        yield f"- Connection: {', '.join(f'[`{kind}`](connection.{kind}.md)' for kind in spec.connection_kinds)}"
    if spec.stateful:
        yield "- Keeps state between batches"
    if spec.real_time:
        yield "- Goes in [real time](../real-time.md)"
    yield ""
    yield from _field_lines(spec.schema)


def _kind_lines(name: str, kind: ConnectionKind) -> Iterator[str]:
    yield from (f"# {kind.title} (connection kind `{name}`)", "")
    yield from _field_lines(kind.schema())
    if kind.secrets:
        yield from ("", "Secrets, kept encrypted and never shown again:", "")
        for secret, label in kind.secrets.items():
            when = kind.secrets_when.get(secret, "")
            yield f"- `{secret}`: {label}{f' (with `{when}`)' if when else ''}"


def _field_lines(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from ("| Field | What it means | Values | Default | Example |", "|---|---|---|---|---|")
    yield from _field_rows(schema, "")


def _field_rows(schema: Mapping[str, Any], above: str) -> Iterator[str]:
    """A row for each field; below a list of objects those of their fields, as in `rules[].condition`."""
    required = set(schema.get("required", []))
    for name, field in schema.get("properties", {}).items():
        when = f" Only with `{field['x-when'].replace('&', '` and `')}`." if field.get("x-when") else ""
        default = "required" if name in required else _value(field.get("default"))
        example = _value(field["examples"][0]) if field.get("examples") else ""
        told = _cell(field.get("description", "")).replace("__", r"\_\_")  # else what stands between two of them is bold
        yield f"| `{above}{name}` | {told}{_cell(when)} | {_values(field)} | {default} | {example} |"
        if isinstance(field.get("items"), Mapping):
            yield from _field_rows(field["items"], f"{above}{name}[].")


def _values(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_values(part) for part in field["anyOf"])
    kind = str(field.get("type", "any"))
    if kind == "array":
        inner = field.get("items", {}).get("properties")
        return f"list of {{{', '.join(inner)}}}" if inner else "list"
    bounds = [f"from {field['minimum']}"] if "minimum" in field else []
    bounds += [f"to {field['maximum']}"] if "maximum" in field else []
    return " ".join([{"string": "text", "integer": "whole number", "null": "nothing"}.get(kind, kind), *bounds])


def _value(value: Any) -> str:
    return "" if value in (None, "", [], ()) else f"`{_cell(json.dumps(value, ensure_ascii=False))}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    node_pages_write()
