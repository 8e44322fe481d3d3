"""Where a stream ends, asked again and again: while nothing is new, nothing is sent."""

from __future__ import annotations

from contextlib import ExitStack

from jobs.nodes.connections.rabbitmq_client import RabbitMQAway
from jobs.nodes.rabbitmq.stream_line import Consumer, StreamLine


class StreamEnd:
    """Waits behind the newest message that is known; only when another comes is looked where the stream ends now."""

    def __init__(self, line: StreamLine) -> None:
        self._line = line
        self._newest = 0
        self._consumer: Consumer | None = None
        self._open = ExitStack()

    def newest(self) -> int:
        """The offset behind the newest message. NodeError where the stream is not there, RabbitMQAway where the broker is not."""
        if self._consumer is None:
            return self._look()
        try:
            self._line.is_there()
            if not self._consumer.take(0):
                return self._newest
        except RabbitMQAway:
            self.close()  # a line may break between two questions: the next tells whether the broker is there
        return self._look()

    def close(self) -> None:
        self._consumer = None
        self._open.close()
        self._line.close()

    def _look(self) -> int:
        self._consumer = None
        self._open.close()
        self._newest = self._line.look().newest
        self._consumer = self._open.enter_context(self._line.consumer(self._newest, 1))
        return self._newest
