"""Frames of RocketMQ's remoting protocol: a length, a header of JSON, a body.

Layout, big-endian: total length behind itself (4 bytes), kind of header (1, zero is JSON) and its length (3), header, body.
Source: org.apache.rocketmq.remoting.protocol.RemotingCommand.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

#: A longer frame comes from something that is no RocketMQ.
MOST_BYTES = 256 * 1024 * 1024
_LENGTH = 4
_LONGEST_HEADER = 0xFFFFFF
_IS_RESPONSE = 1
#: Of RocketMQ 5.3: brokers word their answers for it.
_VERSION = 493
_ACCESS_KEY, _SIGNATURE = "AccessKey", "Signature"


class BrokenFrame(Exception):
    """Bytes that are no frame of this protocol, and why."""


@dataclass(frozen=True)
class Frame:
    """A request or its response: `code` says what is asked or how it went, `number` pairs the two."""

    code: int
    number: int
    fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    remark: str = ""
    is_response: bool = False


@dataclass(frozen=True)
class Credentials:
    """Who signs. Its text never shows the secret."""

    access_key: str
    secret_key: str = field(repr=False)

    def signed(self, fields: Mapping[str, str], body: bytes) -> dict[str, str]:
        """`fields` with the key's name and a signature of all their values in the order of their names, and of the body."""
        named = {**fields, _ACCESS_KEY: self.access_key}
        content = "".join(named[name] for name in sorted(named)).encode() + body
        digest = hmac.digest(self.secret_key.encode(), content, hashlib.sha1)
        return named | {_SIGNATURE: base64.b64encode(digest).decode()}


def frame_bytes(frame: Frame) -> bytes:
    header = {
        "code": frame.code,
        "language": "PYTHON",
        "version": _VERSION,
        "opaque": frame.number,
        "flag": _IS_RESPONSE if frame.is_response else 0,
        "remark": frame.remark,
        "extFields": dict(frame.fields),
        "serializeTypeCurrentRPC": "JSON",
    }
    written = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    if len(written) > _LONGEST_HEADER:
        raise BrokenFrame(f"a header of {len(written):,} bytes is too long")
    total = _LENGTH + len(written) + len(frame.body)
    return b"".join((total.to_bytes(4, "big"), len(written).to_bytes(4, "big"), written, frame.body))


def frame_length(head: bytes) -> int:
    """How many bytes follow the first four."""
    length = int.from_bytes(head, "big")
    if len(head) != _LENGTH or not _LENGTH <= length <= MOST_BYTES:
        raise BrokenFrame(f"it begins with {head.decode('latin-1')!r}, which is no frame")
    return length


def frame_of(content: bytes) -> Frame:
    """The frame of the bytes behind its length."""
    if len(content) < _LENGTH or content[0] != 0:
        raise BrokenFrame("its header is not written as JSON")
    end = _LENGTH + int.from_bytes(content[1:_LENGTH], "big")
    if end > len(content):
        raise BrokenFrame("it ends within its header")
    try:
        header = json.loads(content[_LENGTH:end])
        return Frame(
            code=int(header["code"]),
            number=int(header["opaque"]),
            fields={str(name): str(value) for name, value in (header.get("extFields") or {}).items()},
            body=content[end:],
            remark=str(header.get("remark") or ""),
            is_response=bool(int(header.get("flag") or 0) & _IS_RESPONSE),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BrokenFrame(f"its header cannot be read ({error})") from None
