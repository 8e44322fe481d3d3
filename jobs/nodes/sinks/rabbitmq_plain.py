"""Messages published to a RabbitMQ exchange as plain Python: what `sink.rabbitmq` is in a script."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pika import BasicProperties, BlockingConnection, ConnectionParameters, PlainCredentials, SSLOptions
from pika.exceptions import ShortStringTooLong, UnroutableError


@dataclass(frozen=True)
class RabbitMQPublishing:
    """Rows with the columns value (bytes), id and route, a task at a time; `route` is the routing key where a row names its own."""

    host: str
    port: int
    virtual_host: str
    user: str
    password: str
    exchange: str
    routing_key: str
    content_type: str
    is_persistent: bool
    is_mandatory: bool
    has_own_keys: bool = False
    tls: bool = False
    certificate_authority: str = ""
    stops_at_rejected: bool = False

    def publish(self, rows: Iterable[Any]) -> None:
        """Each message is confirmed by the broker before the next is sent."""
        with closing(BlockingConnection(self._parameters())) as connection:
            channel = connection.channel()
            channel.confirm_delivery()
            for row in rows:
                properties = BasicProperties(self.content_type, delivery_mode=2 if self.is_persistent else 1, message_id=row.id or None)
                key, body = row.route or self.routing_key, bytes(row.value or b"")
                try:
                    channel.basic_publish(self.exchange, key, body, properties, mandatory=self.is_mandatory)
                except (UnroutableError, ShortStringTooLong):  # a row's own key may reach no queue or be too long: the row is left out
                    if self.stops_at_rejected or not self.has_own_keys:
                        raise

    def _parameters(self) -> ConnectionParameters:
        context = ssl.create_default_context(cadata=self.certificate_authority or None) if self.tls else None
        return ConnectionParameters(
            host=self.host,
            port=self.port,
            virtual_host=self.virtual_host,
            credentials=PlainCredentials(self.user, self.password),
            ssl_options=SSLOptions(context, self.host) if context is not None else None,
            heartbeat=0,
        )
