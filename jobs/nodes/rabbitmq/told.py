"""What a delivery tells beside its value."""

from __future__ import annotations

import json
from hashlib import sha256
from operator import attrgetter
from typing import Any

#: The broker's own header of a message from a stream.
OFFSET_HEADER = "x-stream-offset"
_PROPERTIES = ("message_id", "correlation_id", "type", "app_id", "content_type", "reply_to", "timestamp")
_values_of = attrgetter(*_PROPERTIES)
_NONE_SET = (None,) * len(_PROPERTIES)


def headers_told(method: Any, properties: Any) -> dict[str, str]:
    """The application's headers, then exchange and the properties that are set."""
    told = (
        {str(name): text_told(value) for name, value in properties.headers.items() if name != OFFSET_HEADER} if properties.headers else {}
    )
    if (values := _values_of(properties)) != _NONE_SET:
        told |= {name: text_told(value) for name, value in zip(_PROPERTIES, values, strict=True) if value is not None}
    if method.exchange:
        told["exchange"] = text_told(method.exchange)
    return told


def sent_digest(value: bytes, properties: Any) -> str:
    """Of what the sender wrote. Headers that begin with x- may be a broker's own, and be others from its next version."""
    headers = sorted((str(name), text_told(held)) for name, held in (properties.headers or {}).items() if not str(name).startswith("x-"))
    told = [headers, *(text_told(held) for held in (properties.message_id, properties.correlation_id, properties.timestamp))]
    return sha256(json.dumps(told).encode() + value).hexdigest()


def reading_act(connection: str) -> str:
    """How the words of an error begin."""
    return f'reading rabbitmq "{connection}"'


def text_told(value: Any) -> str:
    """The client hands over as bytes what is no UTF-8, such as a routing key."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, default=str)
