"""A line to a RabbitMQ broker on which many messages come: pika's own, taken in large pieces and a message at a time."""

from __future__ import annotations

import struct
from typing import Any

from pika import frame, spec
from pika.adapters.select_connection import SelectConnection

_READ_BYTES = 64 * 1024
#: AMQP 0-9-1, 2.3.5: kind, channel and size of what follows, which one byte ends. What begins otherwise speaks of its version.
_HEAD = struct.Struct(">BHL")
_AROUND = _HEAD.size + spec.FRAME_END_SIZE
_VERSION = b"AMQP"
#: The method of a frame; class, weight and size of a message, behind which its properties stand.
_METHOD = struct.Struct(">BHLL")
_CONTENT = struct.Struct(">BHLHHQ")
#: What a delivery begins with behind the consumer's tag: its number.
_NUMBER = struct.Struct(">Q")


class WideLine(SelectConnection):  # type: ignore[misc]
    """pika asks the system for 4 kB at a time, for which a thread lets go of Python's lock and waits until it has it again.

    And it looks for somebody to call at each of the three frames of a message: half of the time that a message takes. Half of the rest
    it takes to read who sent it where and how, which is mostly what stood in the message before.
    """

    _frame_buffer: bytes
    _names_before: tuple[bytes, bytes] = (b"", b"")
    _delivery_before: spec.Basic.Deliver
    _told_before: bytes | None = None
    _properties_before: spec.BasicProperties

    def _proto_connection_made(self, transport: Any) -> None:
        transport._MAX_RECV_BYTES = _READ_BYTES
        super()._proto_connection_made(transport)

    def _on_data_available(self, data_in: bytes) -> None:
        unread = self._frame_buffer + data_in
        if unread.startswith(_VERSION):
            super()._on_data_available(data_in)
            return
        begin = 0
        try:
            while True:
                if behind := self._message(unread, begin):
                    begin = behind
                elif end := _frame_end(unread, begin):
                    _, value = frame.decode_frame(unread[begin:end])
                    begin = end
                    self._process_frame(value)
                else:
                    return
        finally:
            self._frame_buffer = unread
            self._trim_frame_buffer(begin)

    def _message(self, data: bytes, begin: int) -> int:
        """Hand over the message whose first frame stands there; the end of its last one.

        0 where it is none, not whole, empty, or in pieces: that is left to pika, which takes one frame after another.
        """
        if len(data) - begin < _METHOD.size:
            return 0
        kind, number, size, method = _METHOD.unpack_from(data, begin)
        head = begin + size + _AROUND
        if kind != spec.FRAME_METHOD or method != spec.Basic.Deliver.INDEX or len(data) - head < _CONTENT.size:
            return 0
        _, _, size, _, _, length = _CONTENT.unpack_from(data, head)
        content = head + size + _AROUND
        behind = content + length + _AROUND
        if not length or behind > len(data) or _HEAD.unpack_from(data, content) != (spec.FRAME_BODY, number, length):
            return 0
        if not data[head - 1] == data[content - 1] == data[behind - 1] == spec.FRAME_END or number not in self._channels:
            return 0
        delivery = self._delivery(data, begin + _METHOD.size, head - spec.FRAME_END_SIZE)
        properties = self._properties(data[head + _CONTENT.size : content - spec.FRAME_END_SIZE])
        body = data[content + _HEAD.size : behind - spec.FRAME_END_SIZE]
        self.frames_received += 3
        self._channels[number]._on_deliver(frame.Method(number, delivery), frame.Header(number, length, properties), body)
        return int(behind)

    def _delivery(self, data: bytes, begin: int, end: int) -> spec.Basic.Deliver:
        number = begin + 1 + data[begin]
        names = data[begin:number], data[number + _NUMBER.size : end]
        if names != self._names_before:
            self._names_before, self._delivery_before = names, spec.Basic.Deliver().decode(data, begin)
            return self._delivery_before
        same = self._delivery_before
        return spec.Basic.Deliver(same.consumer_tag, *_NUMBER.unpack_from(data, number), same.redelivered, same.exchange, same.routing_key)

    def _properties(self, told: bytes) -> spec.BasicProperties:
        if told != self._told_before:
            self._told_before, self._properties_before = told, spec.BasicProperties().decode(told)
        return self._properties_before


def _frame_end(data: bytes, begin: int) -> int:
    """Of the frame that begins there; 0 where it is not whole yet."""
    if len(data) - begin < _HEAD.size:
        return 0
    _, _, size = _HEAD.unpack_from(data, begin)
    end = begin + int(size) + _AROUND
    return end if end <= len(data) else 0
