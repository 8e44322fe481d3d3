"""What a delivery tells beside its value."""

from __future__ import annotations

import json
from typing import Any

#: The broker's own header of a message from a stream.
OFFSET_HEADER = "x-stream-offset"
_PROPERTIES = ("message_id", "correlation_id", "type", "app_id", "content_type", "reply_to", "timestamp")


def headers_told(method: Any, properties: Any) -> dict[str, str]:
    """The application's headers, then exchange and the properties that are set."""
    told = {str(name): _text(value) for name, value in (properties.headers or {}).items() if name != OFFSET_HEADER}
    told |= {name: _text(value) for name in _PROPERTIES if (value := getattr(properties, name)) is not None}
    return told | ({"exchange": method.exchange} if method.exchange else {})


def reading_act(connection: str) -> str:
    """How the words of an error begin."""
    return f'reading rabbitmq "{connection}"'


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, default=str)
