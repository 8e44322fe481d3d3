"""What one task does with its messages: publishes them, many at once under way, and waits until the broker confirmed each."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pika import BasicProperties, SelectConnection
from pika.spec import Basic

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.rabbitmq_client import RabbitMQAway, rabbitmq_error, rabbitmq_parameters
from jobs.nodes.rejected_rows import RejectedRows
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sinks.messages import Outgoing, outgoing
from jobs.nodes.sinks.rabbitmq import RabbitMQSinkConfig, content_type
from jobs.nodes.sinks.task_tally import SAMPLE_ROWS, TaskTally, task_tally
from jobs.nodes.worker_errors import carried_out

_UNCONFIRMED = 1_000
_SILENT_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
#: After something was taken of what was sent at once: who reads goes on.
_SHORT_PAUSE_SECONDS = 0.05
#: So long a word that the broker is tried again holds: over some pauses, and over what it takes in between.
_NOTE_SECONDS = 5.0
#: A broker that is away, or refuses all, for longer fails the batch, which is tried again as a whole.
_AWAY_SECONDS = 300.0
#: In bytes: the broker's protocol has no room for a longer one.
_LONGEST_KEY = 255
#: One that comes back may at first not know what it knew: what it refuses after it has taken messages, or was away, it may yet take.
_SETTLING_SECONDS = 60.0
#: The target was there when the job started: what a task is refused at first may just be made anew.
_REFUSED_SECONDS = 5.0
#: In bytes: no broker is expected to refuse so little. Of what is larger, a message that is larger than all that were taken goes alone.
_SURELY_TAKEN = 65_536
#: It ends the channel, and with it all that is under way.
_TOO_LARGE = re.compile(r"message size \d+ (?:is )?larger than (?:configured )?max size (\d+)")


@dataclass(frozen=True)
class RabbitMQSender:
    """Goes to the tasks by value."""

    config: RabbitMQSinkConfig
    connection: ConnectionSettings
    node_id: str
    act: str
    stops_at_rejected: bool
    rejections: RejectedRows | None = None
    note: RetryNote | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with carried_out(self.node_id), task_tally(SAMPLE_ROWS, self.rejections) as tally:
            self._publish(_Publishing(self, outgoing(batches), tally))
        yield tally.as_batch()

    def tell(self, words: str) -> None:
        """That it is tried again, and why."""
        if self.note is not None:
            self.note.tell(words, _NOTE_SECONDS)

    def _publish(self, publishing: _Publishing) -> None:
        """Over as many lines as it takes, for as long as a broker that went away may come back."""
        was_there = False
        while not publishing.is_done():
            error = publishing.attempt()
            if error is None:
                continue
            was_there = was_there or publishing.confirmed > 0 or not error.permanent
            patience = _AWAY_SECONDS if not error.permanent else _SETTLING_SECONDS if was_there else _REFUSED_SECONDS
            if publishing.troubled_seconds() >= patience:
                raise error
            if not isinstance(error, RabbitMQAway):  # whether it is away is asked of the broker itself
                self.tell(error.message.removeprefix(f"{self.act}: ").partition("; ")[0])
            time.sleep(_PAUSE_SECONDS)


class _Publishing:
    """The messages of a task; those under way when a line breaks are sent again on the next.

    What the broker refuses is sent again on the same line, when all that went with it is answered.
    """

    def __init__(self, sender: RabbitMQSender, messages: Iterator[Outgoing], tally: TaskTally) -> None:
        self.confirmed = 0
        self._sender, self._messages, self._tally = sender, messages, tally
        self._ahead: list[Outgoing] = []
        self._under_way: dict[int, Outgoing] = {}
        self._refused: dict[int, Outgoing] = {}
        #: Under way at once, at most; and how many the broker took since it refused some.
        self._most, self._taken = _UNCONFIRMED, 0
        self._troubled_since: float | None = None
        self._exhausted = self._closing = False
        self._error: NodeError | None = None
        #: In bytes, once the broker tells.
        self._largest: int | None = None
        self._largest_taken = _SURELY_TAKEN

    def is_done(self) -> bool:
        stopped = bool(self._tally.rejected) and self._sender.stops_at_rejected
        return stopped or (self._exhausted and not self._ahead and not self._under_way and not self._refused)

    def troubled_seconds(self) -> float:
        """For how long the broker has taken nothing, though it was tried."""
        return 0.0 if self._troubled_since is None else time.monotonic() - self._troubled_since

    def attempt(self) -> NodeError | None:
        """One line from its opening to its end; why it ended too early."""
        self._return_unconfirmed()
        self._error, self._tag, self._closing = None, 0, False
        self._line = SelectConnection(
            rabbitmq_parameters(self._sender.connection, heartbeat=0),
            on_open_callback=lambda line: line.channel(on_open_callback=self._opened),
            on_open_error_callback=lambda line, error: self._fail(error),
            on_close_callback=lambda line, error: self._closed(error),
        )
        try:
            self._line.ioloop.start()
        finally:
            if not self._line.is_closed:
                self._line.ioloop.stop()
        return self._error

    def _return_unconfirmed(self) -> None:
        unconfirmed = sorted((self._under_way | self._refused).items())
        self._ahead = [*(message for _, message in unconfirmed), *self._ahead]
        self._under_way, self._refused = {}, {}

    def _opened(self, channel: Any) -> None:
        self._channel = channel
        channel.add_on_return_callback(self._returned)
        channel.add_on_close_callback(lambda _, error: None if self._closing else self._fail(error))
        channel.confirm_delivery(self._answered)
        self._line.ioloop.call_later(_SILENT_SECONDS, self._look)
        self._fill()

    def _fill(self) -> None:
        if not self._channel.is_open:
            return
        while not self._refused and len(self._under_way) < self._most and (message := self._next()) is not None:
            key = message.route or self._sender.config.routing_key
            is_untried = len(message.value) > self._largest_taken
            if fault := self._fault(message, key):
                self._tally.add([message.text], fault)
            elif is_untried and self._under_way:
                self._ahead.insert(0, message)
                break
            else:
                self._send(message, key)
                if is_untried:
                    break
        self._silent_since = time.monotonic()  # whatever time the rows took: meanwhile nobody listened to the broker
        if self.is_done():
            self._end()
        elif self._refused and not self._under_way:
            self._rest()

    def _send(self, message: Outgoing, key: str) -> None:
        config = self._sender.config
        self._tag += 1
        self._under_way[self._tag] = message
        properties = BasicProperties(
            content_type=content_type(config.format),
            delivery_mode=2 if config.persistent else 1,
            message_id=message.id or None,
        )
        self._channel.basic_publish(config.exchange, key, message.value, properties, mandatory=config.mandatory)

    def _rest(self) -> None:
        """Before what was refused is sent again: then only as many at once as were taken, for the broker would refuse most of more."""
        self._return_unconfirmed()
        pause = _SHORT_PAUSE_SECONDS if self._taken else _PAUSE_SECONDS
        self._most, self._taken = max(1, min(self._taken, _UNCONFIRMED)), 0
        words = "the broker refuses messages, as when a queue is full"
        self._sender.tell(words)
        if self.troubled_seconds() >= _AWAY_SECONDS:
            self._fail(RabbitMQAway(f"{self._sender.act}: {words}; have it read, or raise its limit"))
        else:
            self._line.ioloop.call_later(pause, self._fill)

    def _fault(self, message: Outgoing, key: str) -> str:
        """Why the broker takes no such message."""
        if (size := len(key.encode())) > _LONGEST_KEY:
            return f"its routing key has {size} bytes; {_LONGEST_KEY} is the most"
        if self._largest is not None and (size := len(message.value)) > self._largest:
            return f"the message has {size:,} bytes; the broker takes {self._largest:,} at most"
        return ""

    def _next(self) -> Outgoing | None:
        if self._ahead:
            return self._ahead.pop(0)
        found = next(self._messages, None)
        self._exhausted = found is None
        return found

    def _answered(self, frame: Any) -> None:
        if self._closing:
            return  # what is under way is sent again, also the message for which the line is given up
        method = frame.method
        tags = [tag for tag in self._under_way if (tag <= method.delivery_tag if method.multiple else tag == method.delivery_tag)]
        answered = {tag: self._under_way.pop(tag) for tag in tags}
        if isinstance(method, Basic.Nack):
            self._refused |= answered
            self._troubled_since = self._troubled_since or time.monotonic()
        else:
            self._tally.sent += len(answered)
            self._largest_taken = max(self._largest_taken, *(len(message.value) for message in answered.values()), 0)
            self._settle(len(answered))
        self._fill()

    def _settle(self, count: int) -> None:
        self.confirmed += count
        self._taken += count
        self._most = min(self._most + count, _UNCONFIRMED)
        self._troubled_since = None

    def _returned(self, channel: Any, method: Any, properties: Any, body: bytes) -> None:
        """It comes before the confirmation of the same message, and is its answer.

        A key that a row brought may be wrong; one that all rows share is the target, which is not there.
        """
        if not self._sender.config.routing_key_column:
            words = f"routing key {method.routing_key!r} reaches no queue ({method.reply_text}); create the queue or its binding"
            self._fail(NodeError(f"{self._sender.act}: {words}", permanent=True, kind="user", field="routing_key"))
            return
        sent = ((tag, one) for tag, one in self._under_way.items() if (one.route or self._sender.config.routing_key) == method.routing_key)
        tag = next(tag for tag, one in sent if one.value == body)
        message = self._under_way.pop(tag)
        self._settle(1)
        self._tally.add([message.text], f"it reaches no queue: routing key {method.routing_key!r}, {method.reply_text}")

    def _look(self) -> None:
        if self._under_way and time.monotonic() - self._silent_since > _SILENT_SECONDS:
            self._fail(NodeError(f"{self._sender.act}: the broker has confirmed nothing for {_SILENT_SECONDS:.0f} s"))
        elif not self._closing:
            self._line.ioloop.call_later(_SILENT_SECONDS, self._look)

    def _fail(self, error: BaseException) -> None:
        found = _TOO_LARGE.search(str(error))
        if found and int(found[1]) != self._largest:
            self._largest = int(found[1])  # one that is larger is left out of what is sent again
        else:
            self._fault_note(error)
        self._end()

    def _fault_note(self, error: BaseException) -> None:
        """The first fault of a line is why it ends."""
        self._troubled_since = self._troubled_since or time.monotonic()
        self._error = self._error or (error if isinstance(error, NodeError) else rabbitmq_error(error, self._sender.act))

    def _end(self) -> None:
        self._closing = True
        if self._line.is_open:
            self._line.close()
        elif not self._line.is_closing:
            self._line.ioloop.stop()

    def _closed(self, error: BaseException) -> None:
        if not self._closing:
            self._fault_note(error)
        self._line.ioloop.stop()
