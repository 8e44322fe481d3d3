"""The format logfmt: one line of key=value pairs, values with spaces or quotes in double quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.nodes.message_format import MessageFormat

_PAIR = re.compile(r'\s*(?P<key>[^\s="]+)(?:=(?P<value>"(?:[^"\\]|\\.)*"|[^\s"]*))?(?=\s|$)')
_PLAIN = re.compile(r'[^\s="]+')


class Logfmt(MessageFormat):
    """A key without a value is true; a value is text, which Spark casts to its column's type."""

    name = "logfmt"
    is_text = True

    def decode(self, value: bytes, columns: Sequence[str]) -> Mapping[str, Any]:
        line = value.decode("utf-8").strip()
        found: dict[str, Any] = {}
        place = 0
        while place < len(line):
            pair = _PAIR.match(line, place)
            if pair is None:
                raise ValueError(f"no key=value at {line[place:]!r}")
            found[pair["key"]] = _read(pair["value"])
            place = pair.end()
        return found

    def encode(self, row: Mapping[str, Any]) -> bytes:
        return " ".join(f"{key}={_written(value)}" for key, value in row.items() if value is not None).encode()


def _read(value: str | None) -> Any:
    if value is None:
        return True
    return json.loads(value, strict=False) if value.startswith('"') else value or None


def _written(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
