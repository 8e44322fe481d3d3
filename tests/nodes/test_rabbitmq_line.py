"""Messages from a RabbitMQ broker are the same however they come: whole, in pieces, and with other words between them."""

from typing import Any

import pika
from hypothesis import given
from hypothesis import strategies as st
from pika import frame, spec
from pika.callback import CallbackManager
from pika.channel import Channel

from jobs.nodes.connections.rabbitmq_line import WideLine

TAG, NUMBER = "reader", 1
bodies = st.lists(st.binary(max_size=40), max_size=3)
headers = st.none() | st.dictionaries(st.text(max_size=3), st.integers(0, 9))
#: Often what the message before was sent with, too.
keys = st.sampled_from(["", "orders"]) | st.text(max_size=5)
plain = pika.BasicProperties(delivery_mode=2)
properties = st.just(plain) | st.builds(pika.BasicProperties, message_id=st.none() | st.text(max_size=5), headers=headers)


class Heartbeats:
    def __init__(self) -> None:
        self.count = 0

    def received(self) -> None:
        self.count += 1


Found = list[tuple[int, str, bool, Any, bytes]]


def line_that_reads(found: Found) -> WideLine:
    """As far as what comes is concerned; it reaches no broker."""
    line = WideLine.__new__(WideLine)
    line._frame_buffer, line.bytes_received, line.frames_received = b"", 0, 0
    line.callbacks, line._heartbeat_checker, line._channels = CallbackManager(), Heartbeats(), {}
    channel = Channel(line, NUMBER, lambda _: None)
    channel._set_state(Channel.OPEN)
    channel._consumers[TAG] = lambda _, method, told, body: found.append(
        (method.delivery_tag, method.routing_key, method.redelivered, told, body)
    )
    line._channels[NUMBER] = channel
    return line


@given(
    messages=st.lists(st.tuples(bodies, keys, st.booleans(), properties, st.booleans()), max_size=8),
    sizes=st.lists(st.integers(1, 200), min_size=1, max_size=5),
)
def test_each_message_comes_once_in_order_and_every_byte_is_counted(messages: list[Any], sizes: list[int]) -> None:
    sent, heartbeats, frames = b"", 0, 0
    for number, (pieces, key, again, told, heartbeat) in enumerate(messages, 1):
        pieces = [piece for piece in pieces if piece]
        parts: list[Any] = [frame.Method(NUMBER, spec.Basic.Deliver(TAG, number, again, "", key))]
        parts += [frame.Header(NUMBER, sum(map(len, pieces)), told), *(frame.Body(NUMBER, piece) for piece in pieces)]
        parts += [frame.Heartbeat()] * heartbeat
        sent += b"".join(part.marshal() for part in parts)
        heartbeats, frames = heartbeats + heartbeat, frames + len(parts)
    found: Found = []
    line, at, turn = line_that_reads(found), 0, 0
    while at < len(sent):
        size = sizes[turn % len(sizes)]
        line._on_data_available(sent[at : at + size])
        at, turn = at + size, turn + 1
    assert found == [(number, key, again, told, b"".join(pieces)) for number, (pieces, key, again, told, _) in enumerate(messages, 1)]
    assert (line._frame_buffer, line.bytes_received, line.frames_received) == (b"", len(sent), frames)
    assert line._heartbeat_checker.count == heartbeats
