"""What a Kafka cluster says about itself, and a consumer group that follows the checkpoints."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.kafka_refusal import is_strange, kafka_refusal, kafka_silence
from jobs.nodes.connections.kafka_settings import SECONDS, KafkaSettings, kafka_client_settings
from jobs.nodes.node_error import reworded

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError
    from confluent_kafka.admin import AdminClient, ClusterMetadata, OffsetSpec  # type: ignore[attr-defined]


_FIRST_SECONDS = 1.5
_BEGINNING = "Failed to create admin client: "
_OF_BROKER = "Broker: "


class KafkaAdmin:
    """A client that asks a cluster about itself; what the cluster answers to its signing in becomes a NodeError.

    After a failure it begins anew: what a client has learnt of brokers that came back, it does not always learn again.
    """

    def __init__(self, settings: ConnectionSettings, *, seconds: float = SECONDS) -> None:
        self._name, self._typed = settings.name, KafkaSettings.model_validate(settings.config)
        self._seconds = seconds
        self._heard: list[KafkaError] = []
        self._given = kafka_client_settings(settings) | {"error_cb": self._heard.append}
        self._client: AdminClient | None = self._made()

    @property
    def client(self) -> AdminClient:
        if self._client is None:
            self._client = self._made()
        return self._client

    def _made(self) -> AdminClient:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        try:
            return AdminClient(self._given)
        except KafkaException as error:
            raise _unfit(self._name, error) from None

    def partitions(self, topic: str | None = None) -> dict[str, int]:
        """Topic → number of partitions, of all topics or of one; a topic that does not exist is left out."""
        found = self._listed(topic)
        return {name: len(told.partitions) for name, told in found.topics.items() if told.error is None}

    def _listed(self, topic: str | None) -> ClusterMetadata:
        """A refused sign-in is heard at once, and what is no broker never becomes one, but the client waits on: so both are looked at
        after a short wait.
        """
        from confluent_kafka import KafkaException

        try:
            return self.client.list_topics(topic, timeout=min(_FIRST_SECONDS, self._seconds))
        except KafkaException as error:
            self.client.poll(0)
            if self._seconds <= _FIRST_SECONDS or kafka_refusal(self._typed, self._heard) is not None or is_strange(self._typed):
                raise self._refusal(error) from None
        try:
            return self.client.list_topics(topic, timeout=self._seconds - _FIRST_SECONDS)
        except KafkaException as error:
            self.client.poll(0)
            raise self._refusal(error) from None

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        """Topic → the id by which the cluster tells it from an earlier one of its name. Left out: what is not there, may not be seen,
        or has no id on brokers that are too old.
        """
        from confluent_kafka import KafkaException, TopicCollection

        if not (names := list(topics)):
            return {}
        found = {}
        for name, future in self.client.describe_topics(TopicCollection(names), request_timeout=self._seconds).items():
            try:
                told = future.result(self._seconds)
            except KafkaException as error:
                if error.args[0].code() in _NOT_SHOWN or _is_gone(error):
                    continue
                raise self._refusal(error) from None
            if str(told.topic_id) != _NO_ID:
                found[name] = str(told.topic_id)
        return found

    def most_bytes(self, topic: str) -> int | None:
        """How large a batch of messages the topic takes; None where the cluster does not say it, to this user or at all."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import ConfigResource, ResourceType  # type: ignore[attr-defined]

        asked = ConfigResource(ResourceType.TOPIC, topic)
        try:
            told = self.client.describe_configs([asked], request_timeout=self._seconds)[asked].result(self._seconds)
        except (KafkaException, TimeoutError):
            return None
        entry = told.get("max.message.bytes")
        return int(entry.value) if entry is not None and entry.value else None

    def brokers(self) -> int:
        """How many there are, of a cluster that has answered before."""
        return len(self.client.list_topics(timeout=self._seconds).brokers)

    def newest(self, topics: Mapping[str, int], *, most: int = 200) -> list[str]:
        """Values of at most `most` of the newest messages of `topics` (with their partitions) as text; empty ones are left out.

        No group's offsets move.
        """
        from confluent_kafka import Consumer, KafkaException, TopicPartition

        places = [(topic, partition) for topic, partitions in topics.items() for partition in range(partitions)]
        consumer = Consumer(self._given | {"group.id": "pipeline-web-sample", "enable.auto.commit": False, "enable.partition.eof": True})
        try:
            each = max(1, most // max(1, len(places)))
            starts = []
            for topic, partition in places:
                low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=self._seconds)
                if high > low:
                    starts.append(TopicPartition(topic, partition, max(low, high - each)))
            consumer.assign(starts)
            return list(_values(consumer, len(starts), deadline=time.monotonic() + self._seconds)) if starts else []
        except KafkaException as error:
            raise self._refusal(error) from None
        finally:
            consumer.close()

    def group_move(self, group: str, position: Mapping[str, Mapping[str, int]]) -> None:
        """Set the group's offsets: `position` is topic → partition → next offset. NodeError if a member of the group is alive."""
        from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

        places = [TopicPartition(topic, int(number), offset) for topic, numbers in position.items() for number, offset in numbers.items()]
        if not places:
            return
        try:
            future = self.client.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, places)])[group]
            moved = future.result(self._seconds)
        except KafkaException as error:
            self.client.poll(0)
            raise self._refusal(error) from None
        refused = [place for place in moved.topic_partitions if place.error is not None]
        if refused:
            told = refused[0].error.str().removeprefix(_OF_BROKER)
            raise NodeError(f'moving group {group} of "{self._name}": {told}; does something else consume in this group?')

    def ends(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """(topic, partition) → the offset that its next message gets; a partition that does not exist any more is left out."""
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]  # its own documentation imports it from there

        return self._offsets(places, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def begins(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Like `ends`: the offset of the oldest message that is still there."""
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

        return self._offsets(places, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def offsets_at(self, places: Iterable[tuple[str, int]], milliseconds: int) -> dict[tuple[str, int], int]:
        """Like `ends`: the offset of the first message from a time on (since 1970), -1 where there is none."""
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

        return self._offsets(places, OffsetSpec.for_timestamp(milliseconds))

    def _offsets(self, places: Iterable[tuple[str, int]], spec: OffsetSpec) -> dict[tuple[str, int], int]:
        from confluent_kafka import KafkaException, TopicPartition

        asked = self.client.list_offsets({TopicPartition(*place): spec for place in places}, request_timeout=self._seconds)
        found = {}
        for place, future in asked.items():
            try:
                found[place.topic, place.partition] = future.result(self._seconds).offset
            except KafkaException as error:
                if not _is_gone(error):
                    raise self._refusal(error) from None
        return found

    def _refusal(self, error: Exception) -> NodeError:
        """The client says "timed out" last; what it heard before tells why."""
        heard = list(self._heard)
        self._heard.clear()
        self._client = None
        where = f'connecting to "{self._name}"'
        if (why := kafka_refusal(self._typed, heard)) is not None:
            return reworded(why, f"{where}: {why.message}")
        if (answer := _answer_in(error)) is not None:
            return NodeError(f"{where}: the cluster refuses ({answer}); have the right granted, or correct the connection")
        return NodeError(f"{where}: {kafka_silence(self._typed, heard)}")


def _answer_in(error: Exception) -> str | None:
    """What a broker answered; None for what the client says of itself, whose numbers are below 0."""
    from confluent_kafka import KafkaError

    given = error.args[0] if error.args else None
    return given.str().removeprefix(_OF_BROKER) if isinstance(given, KafkaError) and given.code() > 0 else None


def _unfit(name: str, error: Exception) -> NodeError:
    """What the client says of settings with which it does not begin, such as a key that is none."""
    told = str(error.args[0].str() if error.args else error).removeprefix(_BEGINNING).partition(": error:")[0]
    message = f'connecting to "{name}": the client refuses its settings ({told}); correct certificates, key and options of the connection'
    return NodeError(message, permanent=True, kind="user")


#: TOPIC_AUTHORIZATION_FAILED, UNSUPPORTED_VERSION, and the client's own word for a broker that knows no such question.
_NOT_SHOWN = (29, 35, -165)
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


def _is_gone(error: Exception) -> bool:
    from confluent_kafka import KafkaError

    return error.args[0].code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)


def _values(consumer: Consumer, partitions: int, *, deadline: float) -> Iterator[str]:
    """Until every partition was read to its end, or time is up."""
    from confluent_kafka import KafkaError

    ended = 0
    while ended < partitions and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        error = message.error() if message else None
        if error is not None and error.code() == KafkaError._PARTITION_EOF:
            ended += 1
        elif message is not None and error is None:
            value = message.value()
            if value is not None:
                yield value.decode("utf-8", "replace")
