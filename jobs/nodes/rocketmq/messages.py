"""Messages as a broker keeps them, and as a batch is sent.

Layouts: org.apache.rocketmq.common.message.MessageDecoder, sysflag.MessageSysFlag and compression.CompressionType.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

#: total, magic, checksum of the body, queue, flag, offset in the queue, offset in the log, system flag, born at (ms)
_HEAD = struct.Struct(">iiIiiqqiq")
#: Behind the sender's address: stored at; behind the broker's: how often delivered again, prepared transaction, the body's length.
_ADDRESS, _LONG_ADDRESS, _BETWEEN, _TAIL = 8, 20, 8, struct.Struct(">iqi")
_SHORT = struct.Struct(">H")
#: The second has two bytes for the topic's length, not one.
_MAGIC, _MAGIC_LONG_TOPIC = -626843481, -626843477
_COMPRESSED, _BORN_V6, _STORED_V6, _HOLDS_BATCH = 0x1, 0x10, 0x20, 0x80
_IS_SPECIAL = _COMPRESSED | _HOLDS_BATCH
_NAME_END, _PROPERTY_END = "\x01", "\x02"
#: What a small message may blow up to.
_MOST_BYTES = 256 * 1024 * 1024
LONGEST_PROPERTIES = 32_767


class BrokenMessage(Exception):
    """Bytes that are no messages, and why."""


class Message(NamedTuple):
    """`damage` tells why the body could not be unpacked; the value is its bytes as they came then. Born at so many milliseconds."""

    queue: int
    offset: int
    born: int
    value: bytes
    properties: bytes
    damage: str | None = None


def messages_in(content: bytes) -> Iterator[Message]:
    """The messages in the body of an answered pull. BrokenMessage where they are cut off or are none."""
    at = 0
    while at < len(content):
        try:
            head = _HEAD.unpack_from(content, at)
            if head[0] < _HEAD.size or at + head[0] > len(content):
                raise BrokenMessage(f"a message of {head[0]} bytes does not fit into the {len(content) - at} that came")
            yield _message(content, at, head)
        except (struct.error, IndexError) as error:
            raise BrokenMessage(f"a message cannot be read ({error})") from None
        at += head[0]


def _message(content: bytes, at: int, head: tuple[int, ...]) -> Message:
    total, magic, checksum, queue, _, offset, _, flag, born = head
    if magic not in (_MAGIC, _MAGIC_LONG_TOPIC):
        raise BrokenMessage(f"{magic} does not begin a message")
    end = at + total
    at += _HEAD.size + _BETWEEN + (_LONG_ADDRESS if flag & _BORN_V6 else _ADDRESS) + (_LONG_ADDRESS if flag & _STORED_V6 else _ADDRESS)
    body_at, size = at + _TAIL.size, _TAIL.unpack_from(content, at)[2]
    topic_at = body_at + size
    is_long = magic == _MAGIC_LONG_TOPIC
    told_at = topic_at + (2 + _SHORT.unpack_from(content, topic_at)[0] if is_long else 1 + content[topic_at])
    told_end = told_at + 2 + _SHORT.unpack_from(content, told_at)[0]
    if size < 0 or told_end > end:
        raise BrokenMessage("a message ends within one of its parts")
    value, damage = content[body_at:topic_at], None
    if checksum != zlib.crc32(value) & 0x7FFFFFFF or flag & _IS_SPECIAL:
        value, damage = _unpacked(value, flag, checksum)
    return Message(queue, offset, born, value, content[told_at + 2 : told_end], damage)


def _unpacked(body: bytes, flag: int, checksum: int) -> tuple[bytes, str | None]:
    """The body as it was sent, and why it could not be had."""
    if flag & _HOLDS_BATCH:
        return body, "the message holds a batch of its own, which is not taken apart here"
    if checksum and checksum != zlib.crc32(body) & 0x7FFFFFFF:
        return body, "the message's body does not have the checksum it was sent with"
    if not flag & _COMPRESSED:
        return body, None
    kind = _COMPRESSIONS.get(flag >> 8 & 0x7)
    try:
        if kind is not None:
            return kind(body), None
    except (OSError, ValueError, zlib.error) as error:
        return body, f"the message's body cannot be decompressed ({error})"
    return body, "the message's body is compressed in an unknown way"


def _inflated(body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    value = inflater.decompress(body, _MOST_BYTES)
    if not inflater.eof:
        raise ValueError("it is cut off, or too large")
    return value


def _by_arrow(body: bytes, codec: str) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(body), codec) as stream:
        value: bytes = stream.read(_MOST_BYTES)
    if len(value) == _MOST_BYTES:
        raise ValueError("it is too large")
    return value


#: By the number in the system flag; clients before 5.0 write none, and mean zlib.
_COMPRESSIONS = {
    0: _inflated,
    1: lambda body: _by_arrow(body, "lz4"),
    2: lambda body: _by_arrow(body, "zstd"),
    3: _inflated,
}


def properties_of(told: bytes) -> dict[str, str]:
    """Name → value of a message's properties, those of the system (TAGS, KEYS, …) among them."""
    pairs = (part.split(_NAME_END, 1) for part in told.decode("utf-8", "replace").split(_PROPERTY_END) if part)
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def properties_text(properties: Mapping[str, str]) -> str:
    """What `properties_of` reads. ValueError for one that cannot be written, or when they are too long together."""
    text = "".join([f"{name}{_NAME_END}{value}{_PROPERTY_END}" for name, value in properties.items()])
    if "" in properties or not text.count(_NAME_END) == text.count(_PROPERTY_END) == len(properties):
        raise ValueError("keys, tag or properties hold a character by which RocketMQ keeps them apart")
    if (length := len(text.encode())) > LONGEST_PROPERTIES:
        raise ValueError(f"keys, tag and properties have {length:,} bytes; {LONGEST_PROPERTIES:,} is the most")
    return text


def sent_in_batch(value: bytes, properties: str) -> bytes:
    """One message among several that are sent together; their bytes stand one behind the other."""
    told = properties.encode()
    total = 4 + 4 + 4 + 4 + 4 + len(value) + 2 + len(told)
    return b"".join((struct.pack(">iiiii", total, 0, 0, 0, len(value)), value, _SHORT.pack(len(told)), told))
