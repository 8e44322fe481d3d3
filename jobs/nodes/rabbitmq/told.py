"""What a delivery tells beside its value."""

from __future__ import annotations

import json
from typing import Any

#: The broker's own header of a message from a stream.
OFFSET_HEADER = "x-stream-offset"
_PROPERTIES = ("message_id", "correlation_id", "type", "app_id", "content_type", "reply_to", "timestamp")


def headers_told(method: Any, properties: Any) -> dict[str, str]:
    """The application's headers, then exchange and the properties that are set."""
    told = {str(name): text_told(value) for name, value in (properties.headers or {}).items() if name != OFFSET_HEADER}
    told |= {name: text_told(value) for name in _PROPERTIES if (value := getattr(properties, name)) is not None}
    return told | ({"exchange": text_told(method.exchange)} if method.exchange else {})


def reading_act(connection: str) -> str:
    """How the words of an error begin."""
    return f'reading rabbitmq "{connection}"'


def text_told(value: Any) -> str:
    """The client hands over as bytes what is no UTF-8, such as a routing key."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, default=str)
