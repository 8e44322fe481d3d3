"""What a connection to RocketMQ can be asked for. Codes: org.apache.rocketmq.remoting.protocol.RequestCode and ResponseCode."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from functools import cached_property
from types import TracebackType
from typing import TypeVar

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.rocketmq_settings import SECONDS, RocketmqSettings, rocketmq_credentials, rocketmq_tls
from jobs.nodes.connections.tls import tls_fault
from jobs.nodes.node_error import SystemAway
from jobs.nodes.rocketmq.frames import Frame
from jobs.nodes.rocketmq.line import Away, Line, Refused, Silent
from jobs.nodes.rocketmq.refusals import TOPIC_NOT_THERE, refusal_words, shortened, topics_words
from jobs.nodes.rocketmq.route import Queue, Route, masters_of, route_of, told_json

_OFFSET_OF_GROUP, _OFFSET_OF_GROUP_SET, _TOPIC_MAKE, _OFFSET_AT_TIME, _NEWEST, _OLDEST, _HEARTBEAT = 14, 15, 17, 29, 30, 31, 34
_MEMBERS, _ROUTE, _CLUSTER, _GROUP_MAKE, _TOPICS = 38, 105, 106, 200, 206
_UNKNOWN_OFFSET, _SYSTEM_ERROR = 22, 1
_READ_AND_WRITE = 6

T = TypeVar("T")


class RocketmqAway(SystemAway):
    """Nobody answers now; what has begun goes on when somebody does."""


class RocketMq:
    """A context manager; not for several threads at once. Its errors are NodeErrors that begin with "rocketmq "name": "."""

    def __init__(self, settings: ConnectionSettings, *, seconds: float = SECONDS) -> None:
        self.name = settings.name
        self._typed = RocketmqSettings.model_validate(settings.config)
        self._name_servers = self._typed.name_servers
        self._credentials = rocketmq_credentials(settings)
        self._seconds = seconds
        self._lines: dict[str, Line] = {}

    def __enter__(self) -> RocketMq:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        for address in list(self._lines):
            self.drop(address)

    def line(self, address: str) -> Line:
        """The one connection to `address`; Away if there is none to be had, NodeError where its certificate is not to be trusted."""
        if address not in self._lines:
            try:
                self._lines[address] = Line(address, self._credentials, self._seconds, self._tls)
            except ssl.SSLCertVerificationError as error:
                raise tls_fault(error, f'rocketmq "{self.name}": {address}') from None
        return self._lines[address]

    @cached_property
    def _tls(self) -> ssl.SSLContext | None:
        return rocketmq_tls(self._typed, f'rocketmq "{self.name}"')

    def drop(self, address: str) -> None:
        """Another one is made when it is needed."""
        if (line := self._lines.pop(address, None)) is not None:
            line.close()

    # ── name servers ─────────────────────────────────────────────────────────

    def brokers(self) -> dict[str, str]:
        """Broker → address of its master."""
        try:
            return self._read(masters_of, self._name_server_asked(_CLUSTER, {}))
        except Refused as refused:
            told = f"the name server does not tell of its brokers ({shortened(refused.remark)})"
            raise NodeError(f'rocketmq "{self.name}": {told}; are these the addresses of name servers?', kind="user") from None

    def brokers_there(self) -> dict[str, str]:
        """As `brokers`; RocketmqAway when there is none."""
        if there := self.brokers():
            return there
        raise RocketmqAway(f'rocketmq "{self.name}": the name server knows of no broker; check that the brokers run')

    def route(self, topic: str) -> Route:
        """NodeError where no broker that is there now has the topic."""
        try:
            return self._read(route_of, self._name_server_asked(_ROUTE, {"topic": topic, "acceptStandardJsonOnly": True}))
        except Refused as refused:
            if refused.code == TOPIC_NOT_THERE and self.brokers_there():
                there = topics_words(self._read(told_json, self._name_server_asked(_TOPICS, {})).get("topicList") or ())
                told = f"topic {topic} does not exist, or its brokers are away; topics: {there}"
                raise NodeError(f'rocketmq "{self.name}": {told}', kind="user", field="topic") from None
            raise self.refusal(refused) from None

    def _name_server_asked(self, code: int, fields: Mapping[str, object]) -> Frame:
        failures = []
        for address in self._name_servers:
            try:
                return self._asked(address, code, fields)
            except Away as away:
                failures.append(str(away))
        raise self.away("; ".join(failures), "name server")

    # ── brokers ──────────────────────────────────────────────────────────────

    def sign_in(self) -> str:
        """Which brokers take this connection's requests; NodeError when one of them does not."""
        there = self.brokers_there()
        for address in there.values():
            self.heartbeat(address)
        return ", ".join(f"{name} at {address}" for name, address in there.items())

    def heartbeat(self, address: str) -> None:
        """What a broker takes from everybody who may sign in."""
        told = {"clientID": "pipeline-web", "producerDataSet": [], "consumerDataSet": []}
        self.broker_asked(address, _HEARTBEAT, {}, json.dumps(told).encode())

    def oldest(self, address: str, topic: str, queue: Queue) -> int:
        """The offset of the oldest message there is; that of the next to come where there is none."""
        return self._offset(address, _OLDEST, {"topic": topic, "queueId": queue.number})

    def newest(self, address: str, topic: str, queue: Queue) -> int:
        """The offset behind the newest message."""
        return self._offset(address, _NEWEST, {"topic": topic, "queueId": queue.number})

    def at_time(self, address: str, topic: str, queue: Queue, milliseconds: int) -> int:
        """The offset of the first message that was stored then or later."""
        return self._offset(address, _OFFSET_AT_TIME, {"topic": topic, "queueId": queue.number, "timestamp": milliseconds})

    def group_offset(self, address: str, group: str, topic: str, queue: Queue) -> int | None:
        try:
            return self._offset(address, _OFFSET_OF_GROUP, {"consumerGroup": group, "topic": topic, "queueId": queue.number})
        except NodeError as error:
            if isinstance(error.__context__, Refused) and error.__context__.code == _UNKNOWN_OFFSET:
                return None
            raise

    def group_move(self, address: str, group: str, topic: str, offsets: Mapping[Queue, int]) -> None:
        """Forwards or back. NodeError while somebody consumes in the group."""
        try:
            told = self._read(told_json, self._asked(address, _MEMBERS, {"consumerGroup": group}))
            members = told.get("consumerIdList") or []
        except Refused as refused:
            if refused.code != _SYSTEM_ERROR:  # what it says when nobody is there
                raise self.refusal(refused) from None
            members = []
        except Away as away:
            raise self.away(str(away)) from None
        if members:
            raise NodeError(f'moving group {group} of "{self.name}": {members[0]} consumes in this group; name another')
        for queue, offset in offsets.items():
            place = {"consumerGroup": group, "topic": topic, "queueId": queue.number, "commitOffset": offset}
            self.broker_asked(address, _OFFSET_OF_GROUP_SET, place)

    def _offset(self, address: str, code: int, fields: Mapping[str, object]) -> int:
        answer = self.broker_asked(address, code, fields)
        return int(answer.fields["offset"])

    def broker_asked(self, address: str, code: int, fields: Mapping[str, object], body: bytes = b"") -> Frame:
        try:
            return self._asked(address, code, fields, body)
        except Refused as refused:
            raise self.refusal(refused) from refused
        except Away as away:
            raise self.away(str(away)) from away

    def topic_make(self, topic: str, *, queues: int, attributes: str = "") -> None:
        """On every broker; a topic that is there gets so many queues."""
        counts = {"readQueueNums": queues, "writeQueueNums": queues, "perm": _READ_AND_WRITE}
        kind = {"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": False, "attributes": attributes}
        for address in self.brokers().values():
            self.broker_asked(address, _TOPIC_MAKE, {"topic": topic, "defaultTopic": "TBW102", **counts, **kind})

    def group_make(self, group: str) -> None:
        for address in self.brokers().values():
            self.broker_asked(address, _GROUP_MAKE, {}, json.dumps({"groupName": group, "consumeEnable": True}).encode())

    def _asked(self, address: str, code: int, fields: Mapping[str, object], body: bytes = b"") -> Frame:
        """A line that was closed meanwhile is replaced once."""
        is_new = address not in self._lines
        try:
            return self.line(address).ask(code, fields, body)
        except Away as away:
            self.drop(address)
            if is_new or isinstance(away, Silent):
                raise
        return self.line(address).ask(code, fields, body)

    def _read(self, understood: Callable[[bytes], T], answer: Frame) -> T:
        try:
            return understood(answer.body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NodeError(f'rocketmq "{self.name}": its answer cannot be read ({error})') from None

    def away(self, failures: str, who: str = "broker") -> RocketmqAway:
        return RocketmqAway(f'rocketmq "{self.name}": no {who} answers ({failures}); check that it runs, its port and the firewall')

    def refusal(self, refused: Refused) -> NodeError:
        return refusal_words(f'rocketmq "{self.name}"', refused.code, refused.remark)
