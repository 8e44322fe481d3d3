"""RocketMQ's remoting protocol without a broker: what is written is read again, what is cut off or odd is told apart, never believed."""

import itertools
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.nodes.patience import Patience
from jobs.nodes.rocketmq.frames import BrokenFrame, Credentials, Frame, frame_bytes, frame_length, frame_of
from jobs.nodes.rocketmq.messages import BrokenMessage, Message, messages_in, properties_of, properties_text, sent_in_batch
from jobs.nodes.rocketmq.positions import QueueRange, admitted, offsets_json, offsets_of, ranges, shared_out, written_offsets
from jobs.nodes.rocketmq.pulling import Lost, Pull, Wanted
from jobs.nodes.rocketmq.route import Queue, masters_of, route_of

NAMES = st.text(min_size=1, max_size=10)
FRAMES = st.builds(
    Frame,
    code=st.integers(-(2**31), 2**31 - 1),
    number=st.integers(0, 2**31 - 1),
    fields=st.dictionaries(NAMES, st.text(max_size=20), max_size=4),
    body=st.binary(max_size=200),
    remark=st.text(max_size=50),
    is_response=st.booleans(),
)


@given(FRAMES)
def test_a_frame_is_read_as_it_was_written(frame: Frame):
    written = frame_bytes(frame)
    assert frame_length(written[:4]) == len(written) - 4
    assert frame_of(written[4:]) == frame


@given(FRAMES, st.data())
def test_a_frame_that_is_cut_off_is_broken_or_has_a_shorter_body(frame: Frame, data: st.DataObject):
    content = frame_bytes(frame)[4:]
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    try:
        found = frame_of(cut)
    except BrokenFrame:
        return
    assert frame.body.startswith(found.body)
    assert found.fields == frame.fields


@given(st.binary(max_size=300))
def test_other_bytes_are_a_broken_frame_or_a_frame(content: bytes):
    with suppress(BrokenFrame):
        frame_of(content)


@pytest.mark.parametrize("head", [b"", b"HTTP", b"SSH-", b"\0\0\0\3", b"\xff\xff\xff\xff"])
def test_what_begins_otherwise_is_no_frame(head: bytes):
    with pytest.raises(BrokenFrame):
        frame_length(head)


def test_a_signature_is_made_of_the_values_in_the_order_of_their_names_and_of_the_body():
    signed = Credentials("user", "s3cret").signed({"topic": "orders", "b": "1"}, b"{}")
    # echo -n 'user1orders{}' | openssl dgst -sha1 -hmac s3cret -binary | base64
    assert signed == {"topic": "orders", "b": "1", "AccessKey": "user", "Signature": "Mf23rVkBOwjk6RdSTnyp3BM+W2s="}
    assert "s3cret" not in repr(Credentials("user", "s3cret"))


def stored(
    value: bytes,
    *,
    offset: int = 0,
    flag: int = 0,
    properties: str = "",
    checksum: int | None = None,
    topic: bytes = b"orders",
    long_topic: bool = False,
) -> bytes:
    """A message as a broker keeps it."""
    told = properties.encode()
    born, kept = (b"\0" * (20 if flag & bit else 8) for bit in (0x10, 0x20))
    length = struct.pack(">H" if long_topic else ">B", len(topic))
    rest = born + struct.pack(">q", 7) + kept + struct.pack(">iqi", 0, 0, len(value)) + value + length + topic
    rest += struct.pack(">H", len(told)) + told
    crc = zlib.crc32(value) & 0x7FFFFFFF if checksum is None else checksum
    magic = -626843477 if long_topic else -626843481
    return struct.pack(">iiIiiqqiq", 48 + len(rest), magic, crc, 3, 0, offset, 99, flag, 1_700_000_000_000) + rest


MESSAGES = st.builds(
    lambda value, offset, flag, long_topic: (value, stored(value, offset=offset, flag=flag, properties="KEYS\x01k", long_topic=long_topic)),
    value=st.binary(max_size=60),
    offset=st.integers(0, 2**62),
    flag=st.sampled_from([0, 0x10, 0x20, 0x30]),
    long_topic=st.booleans(),
)


@given(st.lists(MESSAGES, max_size=4))
def test_messages_are_read_as_they_were_kept(kept: list[tuple[bytes, bytes]]):
    found = list(messages_in(b"".join(content for _, content in kept)))
    assert [message.value for message in found] == [value for value, _ in kept]
    assert all((message.queue, message.damage, message.properties) == (3, None, b"KEYS\x01k") for message in found)


@given(st.lists(MESSAGES, min_size=1, max_size=3), st.data())
def test_messages_that_are_cut_off_are_broken(kept: list[tuple[bytes, bytes]], data: st.DataObject):
    content = b"".join(part for _, part in kept)
    borders = {0, *(sum(len(part) for _, part in kept[: count + 1]) for count in range(len(kept)))}
    cut = data.draw(st.integers(0, len(content)).filter(lambda at: at not in borders))
    with pytest.raises(BrokenMessage):
        list(messages_in(content[:cut]))


@given(MESSAGES, st.data())
def test_a_flipped_byte_is_never_taken_for_something_else_than_a_message(kept: tuple[bytes, bytes], data: st.DataObject):
    content = bytearray(kept[1])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        found = list(messages_in(bytes(content)))
    except BrokenMessage:
        return
    assert all(isinstance(message, Message) for message in found)


def arrow(codec: str) -> Callable[[bytes], bytes]:
    def packed(value: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            stream.write(value)
        return sink.getvalue().to_pybytes()

    return packed


@pytest.mark.parametrize(
    ("number", "pack"), [(0, zlib.compress), (1, arrow("lz4")), (2, arrow("zstd")), (3, zlib.compress)], ids=["old", "lz4", "zstd", "zlib"]
)
def test_a_compressed_body_is_unpacked_and_a_damaged_one_is_told(number: int, pack: Callable[[bytes], bytes]):
    flag, body = 1 | number << 8, pack(b"hello" * 100)
    (good,) = messages_in(stored(body, flag=flag))
    assert (good.value, good.damage) == (b"hello" * 100, None)
    (cut,) = messages_in(stored(body[:-9], flag=flag))
    assert cut.value == body[:-9]
    assert "cannot be decompressed" in str(cut.damage)
    (other,) = messages_in(stored(b"no such thing", flag=flag))
    assert "cannot be decompressed" in str(other.damage)


def test_damage_of_other_kinds_is_told_too():
    (wrong,) = messages_in(stored(b"hello", checksum=1))
    assert "checksum" in str(wrong.damage)
    (unknown,) = messages_in(stored(b"hello", flag=1 | 5 << 8))
    assert "compressed in an unknown way" in str(unknown.damage)
    (several,) = messages_in(stored(b"hello", flag=0x80))
    assert "holds a batch of its own" in str(several.damage)


WORDS = st.text(st.characters(exclude_characters="\x01\x02", codec="utf-8"), min_size=1, max_size=10)


@given(st.dictionaries(WORDS, WORDS | st.just(""), max_size=5))
def test_properties_are_read_as_they_were_written(properties: dict[str, str]):
    assert properties_of(properties_text(properties).encode()) == properties


@pytest.mark.parametrize("properties", [{"a\x01": "b"}, {"a": "b\x02"}, {"": "b"}, {"a": "b" * 32_768}])
def test_properties_that_others_could_not_read_are_refused(properties: dict[str, str]):
    with pytest.raises(ValueError, match=r"keeps them apart|is the most"):
        properties_text(properties)


def test_messages_of_a_batch_stand_one_behind_the_other():
    assert sent_in_batch(b"ab", "K\x01v\x02") == struct.pack(">iiiii", 28, 0, 0, 0, 2) + b"ab" + b"\0\4K\x01v\x02"


@pytest.mark.parametrize("key", [b'"0"', b"0"], ids=["quoted", "bare, as before 5.0"])
def test_a_route_names_the_queues_of_brokers_that_are_there(key: bytes):
    body = (
        b'{"brokerDatas":[{"brokerAddrs":{%b:"10.0.0.1:10911",1:"10.0.0.2:10911"},"brokerName":"a"},'
        b'{"brokerAddrs":{1:"10.0.0.3:10911"},"brokerName":"b"}],"queueDatas":['
        b'{"brokerName":"a","perm":6,"readQueueNums":2,"writeQueueNums":1},{"brokerName":"b","perm":6,"readQueueNums":1,"writeQueueNums":1},'
        b'{"brokerName":"a","perm":2,"readQueueNums":9,"writeQueueNums":0}]}'
    ) % key
    route = route_of(body)
    assert route.addresses == {"a": "10.0.0.1:10911"}
    assert route.readable == (Queue("a", 0), Queue("a", 1))
    assert route.writable == (Queue("a", 0),)
    assert masters_of(b'{"brokerAddrTable":{"a":{"brokerAddrs":{0:"10.0.0.1:1"}},"b":{"brokerAddrs":{}}}}') == {"a": "10.0.0.1:1"}


class Told:
    """A line whose other end keeps messages at `offsets`, and gives as many in each answer as `sizes` says in turn."""

    address = "a:1"

    def __init__(self, offsets: list[int], sizes: list[int]) -> None:
        self._offsets = offsets
        self._sizes = itertools.cycle(sizes)
        self._asked: dict[int, tuple[int, int]] = {}

    def submit(self, code: int, fields: dict[str, int], body: bytes = b"") -> int:
        self._asked[len(self._asked)] = (fields["queueOffset"], fields["maxMsgNums"])
        return len(self._asked) - 1

    def answer(self, number: int) -> Frame:
        first, most = self._asked[number]
        given = [offset for offset in self._offsets if offset >= first][: min(most, next(self._sizes))]
        following = given[-1] + 1 if given else self._offsets[-1] + 1
        code = 0 if given and given[0] == first else 21
        following = following if code == 0 else min((offset for offset in self._offsets if offset > first), default=following)
        body = b"".join(stored(str(offset).encode(), offset=offset) for offset in given) if code == 0 else b""
        return Frame(code, number, {"nextBeginOffset": str(following)}, body, is_response=True)


SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=5)


def pulled(line: Told, first: int, last: int) -> Iterator[int]:
    for messages, _ in Pull(line, Wanted("orders", "group"), 0, last).parts(first):  # type: ignore[arg-type]
        yield from (int(message.value) for message in messages)


@given(st.integers(0, 50), st.integers(1, 300), SIZES)
def test_however_much_an_answer_holds_each_message_comes_once_and_in_order(first: int, count: int, sizes: list[int]):
    line = Told(list(range(400)), sizes)
    assert list(pulled(line, first, first + count)) == list(range(first, first + count))


@given(st.integers(1, 100), st.integers(1, 100), SIZES)
def test_what_stands_before_a_gap_comes_and_the_gap_is_told(gap: int, length: int, sizes: list[int]):
    line = Told([*range(gap), *range(gap + length, 400)], sizes)
    found: list[int] = []
    with pytest.raises(Lost) as caught:
        for number in pulled(line, 0, 300):
            found.append(number)
    assert found == list(range(gap))
    assert (caught.value.at, caught.value.following) == (gap, gap + length)


def test_patience_counts_from_the_first_failure_and_pauses_longer_each_time():
    now, pauses = [0.0], list[float]()
    patience = Patience(60, clock=lambda: now[0], sleep=pauses.append)
    now[0] = 1000.0  # slow work, no failure
    assert not patience.is_over()
    now[0] = 1004.0
    assert not patience.is_over()
    assert patience.is_over(3)
    for _ in range(7):
        patience.pause()
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    now[0] = 1060.0
    assert patience.is_over()
    patience.succeeded()
    assert not patience.is_over()


QUEUES = st.builds(Queue, broker=st.sampled_from(["a", "b/c"]), number=st.integers(0, 3))
OFFSETS = st.dictionaries(QUEUES, st.integers(0, 10**6), max_size=6)


@given(OFFSETS)
def test_offsets_are_read_as_they_were_written(offsets: dict[Queue, int]):
    assert offsets_of(offsets_json(offsets)) == offsets


@pytest.mark.parametrize("text", ["[1]", '{"a": 1}', '{"a/b": 1}', '{"a/1": "x"}', "1", '{"/1": 1}'])
def test_offsets_that_are_none_are_refused(text: str):
    with pytest.raises(ValueError, match="offsets are written as"):
        written_offsets(text)


@given(OFFSETS, OFFSETS, st.integers(1, 10**6))
def test_a_batch_takes_its_share_of_every_queue_and_no_more_than_it_may(start: dict[Queue, int], end: dict[Queue, int], most: int):
    reached = admitted(start, end, most)
    waiting = sum(max(0, end[queue] - start.get(queue, 0)) for queue in end)
    taken = sum(max(0, offset - start.get(queue, 0)) for queue, offset in reached.items())
    assert taken == min(most, waiting)
    assert set(reached) == set(start) | set(end)
    assert all(reached[queue] == start[queue] for queue in set(start) - set(end))
    assert all(offset <= max(end[queue], start.get(queue, 0)) for queue, offset in reached.items() if queue in end)
    assert all(reached[queue] == end[queue] for queue in end if end[queue] < start.get(queue, 0))


@given(OFFSETS, OFFSETS, st.integers(1, 8))
def test_every_message_between_two_positions_is_read_by_one_task(start: dict[Queue, int], end: dict[Queue, int], tasks: int):
    parts = shared_out(ranges(start, end), tasks)
    told = [one for part in parts for one in part]
    assert len(parts) <= 2 * tasks + 1
    for queue, last in end.items():
        pieces = sorted((one for one in told if one.queue == queue), key=lambda one: one.first)
        first = start.get(queue, 0) if start.get(queue, 0) <= last else 0
        covered = [first, *(one.last for one in pieces)]
        assert [one.first for one in pieces] == covered[:-1]
        assert covered[-1] == last
    assert all(isinstance(one, QueueRange) and one.first < one.last for one in told)
