"""How soon rows are shown behind ten nodes of which none keeps state, 1,000 sample rows: 30 previews. `python -m benchmarks.preview`.

Each preview is of a document that the driver has not seen, as when a person changes a field and looks.
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.installation import Installation, installation, percentile

TRIES = 30
WARMING = 3
ROWS = 1000

#: Its rows are sent along: the file is not looked for.
SOURCE = {
    "path": "flights/orders.json",
    "format": "json",
    "columns": [
        {"name": name, "type": type_}
        for name, type_ in (
            ("id", "long"),
            ("customer", "string"),
            ("price", "decimal(10,2)"),
            ("quantity", "int"),
            ("tags", "string"),
            ("body", "string"),
        )
    ],
}
CHAIN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("flow.compute_columns", {"columns": [{"name": "total", "expression": "price * quantity"}]}),
    ("flow.parse", {"column": "body", "columns": [{"name": "city", "type": "string"}, {"name": "rank", "type": "long"}]}),
    ("flow.script", {"script": "delay = coalesce(rank, 0)\nif delay > 50 then size = 'large'\nkeep if quantity >= 0"}),
    ("flow.mask", {"fields": [{"column": "customer", "method": "hash"}]}),
    (
        "flow.expectations",
        {
            "rules": [
                {"name": "a price", "condition": "price > 0", "action": "drop"},
                {"name": "a city", "condition": "city is not null", "action": "warn"},
            ]
        },
    ),
    ("flow.flat_map", {"column": "tags", "output": "tag"}),
    ("flow.select_fields", {"fields": [{"column": name} for name in ("id", "customer", "total", "size", "city", "tag")]}),
    ("flow.format", {"format": "json", "output": "message"}),
)


def document(number: int) -> dict[str, Any]:
    """Source, a filter of its own for each number, and the chain: ten nodes."""
    steps = [("source.file", SOURCE), ("flow.filter_rows", {"condition": f"id >= {number}"}), *CHAIN]
    nodes = {
        f"n{place}": {"type": kind, "type_version": 1, "name": f"Step {place}", "config": config}
        for place, (kind, config) in enumerate(steps)
    }
    edges = {f"e{place}": {"from": [f"n{place - 1}", "out"], "to": [f"n{place}", "in"]} for place in range(1, len(steps))}
    return {"schema_version": 1, "name": "ten-nodes", "type": "SQL_TASK", "parameters": {}, "nodes": nodes, "edges": edges, "settings": {}}


def orders() -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "customer": f"customer {number % 100}",
            "price": "12.50",
            "quantity": number % 7,
            "tags": "new,paid",
            "body": f'{{"city": "Paris", "rank": {number % 100}}}',
        }
        for number in range(ROWS)
    ]


def measure(place: Installation, number: int, rows: list[dict[str, Any]]) -> float:
    drawn = document(number)
    body = {"document": drawn, "node_id": list(drawn["nodes"])[-1], "rows": ROWS, "samples": {"n0": {"rows": rows}}}
    began = time.monotonic()
    found = place.ask("POST", "/api/jobs/preview", body)
    seconds = time.monotonic() - began
    assert found["available"], found
    return seconds


def main() -> None:
    with installation() as place:
        rows = orders()
        asked = [measure(place, number, rows) for number in range(WARMING + TRIES)]
    print(f"ten nodes, {ROWS} rows, {TRIES} previews: p50 {percentile(asked[WARMING:], 0.5):.2f} s (aim 1), first {asked[0]:.2f} s")


if __name__ == "__main__":
    main()
