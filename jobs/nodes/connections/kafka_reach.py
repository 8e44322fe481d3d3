"""Whether a Kafka cluster answers, and what its client's errors mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from jobs.nodes.avro import UNKNOWN_WRITER
from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.kafka_settings import SECONDS, KafkaSettings
from jobs.nodes.connections.reach import line_try
from jobs.nodes.going_on import JOB_GOES_ON
from jobs.nodes.node_error import Outage, outage_error

_SILENT_SECONDS = 3
#: Takes those that are named and those that are read.
OTHER_PARTITIONS = "the start or end offsets name the partitions {0}, where {1} are read; give each of these an offset, and no other"
#: Takes the first offset, the one before which reading ends, topic and partition.
END_BEFORE_START = "{2}-{3} would be read from {0} on, and to before {1}: the end lies before the start; correct one of them"
Act = Literal["reading", "writing"]


@dataclass(frozen=True)
class _Meaning:
    """`pattern` in what Spark and Kafka's client say; `sentence` may take its groups. `only` who does that hears of it."""

    pattern: str
    sentence: str
    permanent: bool = False
    kind: Literal["user", "external"] = "external"
    outage: Outage = ""
    only: Act | Literal[""] = ""


_MEANINGS = (
    _Meaning(
        rf"{UNKNOWN_WRITER}(\d+)",
        "a message was written with schema {0}, which the registry did not list for this subject when the attempt started; "
        "the next attempt asks it again",
        outage="away",
        only="reading",
    ),
    _Meaning(
        r"(?:Sasl|Ssl)AuthenticationException: ([^\n]+)",
        "the sign-in was refused ({0}); correct user, password, mechanism or certificates of the connection",
        outage="sign-in",
        permanent=True,
        kind="user",
    ),
    _Meaning(
        r"(Topic|Group)AuthorizationException: ([^\n]+)",
        "the user may not do this ({1}); have the right granted on the cluster",
        permanent=True,
        kind="user",
    ),
    _Meaning(
        r"(?:must specify all TopicPartitions|offsets don't match what are assigned)[^:]*Specified: \w*\((.*?)\)\s+Assigned: \w*\((.*?)\)",
        OTHER_PARTITIONS,
        permanent=True,
        kind="user",
        only="reading",
    ),
    _Meaning(
        r"(?:resolved|specified) start \w+ (\d+) is greater than the (?:resolved )?end \w+ (\d+) for topic (\S+) partition (\d+)",
        END_BEFORE_START,
        permanent=True,
        kind="user",
        only="reading",
    ),
    _Meaning(
        r"RecordTooLargeException: ([^\n]+)",
        "a message is too large ({0}); raise max.message.bytes of the topic and max.request.size of the connection, or send less",
        permanent=True,
        kind="user",
        only="writing",
    ),
    _Meaning(
        r"(?:data may have been (?:lost|missed)|KAFKA_DATA_LOSS|offset was changed from|OffsetOutOfRangeException)",
        "messages were deleted before they were read, or a topic was made anew ({reason}); "
        'set "Lost messages" to go on with what is left, or start from the beginning',
        permanent=True,
        only="reading",
    ),
    _Meaning(
        r"Partition (\d+) of topic (\S+) with partition count (\d+) is not present in metadata",
        "a row asks for partition {0} of {1}, which has {2}, counted from 0; correct the partition column, or add partitions",
        permanent=True,
        kind="user",
        only="writing",
    ),
    _Meaning(
        r"Invalid partition: (-\d+)",
        "a row asks for partition {0}, where they are counted from 0; correct the partition column: where it is empty the key decides",
        permanent=True,
        kind="user",
        only="writing",
    ),
    _Meaning(
        r"UnknownTopicOrPartitionException|not present in metadata after|does not host this topic-partition|UnknownTopicIdException",
        "the topic, or one of its partitions, is not there any more; make it again, or correct the topic",
    ),
    _Meaning(
        r"(?:errors\.TimeoutException|Timed out waiting for a node assignment|Expiring \d+ record|NetworkException|DisconnectException"
        r"|NoResolvableBootstrap|No resolvable bootstrap|Failed to (?:construct kafka|create new KafkaAdminClient))",
        f"no broker answers; check that the cluster runs and can be reached{JOB_GOES_ON}",
        outage="away",
    ),
)
_REASON = re.compile(r"Reason: ([^\n]+?)\.?\n|(Partition \S+ offset was changed from \d+ to \d+)")


#: As in "Topic orders not present", "topics: [orders, clicks]" and "orders-0", which is a partition.
_TOPIC, _TOPICS, _PARTITION = r"[Tt]opic ([\w.-]+)", r"topics: \[([^\]]*)\]", r"(?<![\w.-])([\w.-]+)-\d+(?![\w-])"


def topics_named(text: str) -> dict[str, int]:
    """Whatever `text` names as a topic, or as a partition of one; as keys."""
    lists = [name.strip() for listed in re.findall(_TOPICS, text) for name in listed.split(",")]
    return dict.fromkeys([*lists, *re.findall(_TOPIC, text), *re.findall(_PARTITION, text)], 0)


def kafka_failure(text: str, told: str, act: Act) -> NodeError | None:
    """The error of Kafka's client that `text` tells of, as `told` and a sentence; None where it tells of none that comes of `act`."""
    if "kafka" not in text.lower() and UNKNOWN_WRITER not in text:
        return None
    for meaning in _MEANINGS:
        if found := re.search(meaning.pattern, text):
            reason = _REASON.search(text)
            why = next(filter(None, reason.groups()), "") if reason else "Kafka has them no more"
            sentence = meaning.sentence.format(*found.groups(), reason=why)
            if meaning.only not in ("", act):
                return None
            said = f"{told}: {sentence}"
            return outage_error(meaning.outage)(said, permanent=meaning.permanent, kind=meaning.kind)
    return None


def kafka_silent(connection: ConnectionSettings) -> str:
    """The cluster's name, as in "waiting for kafka main", when none of its brokers takes a connection; else ""."""
    try:
        broker_reached(KafkaSettings.model_validate(connection.config), seconds=_SILENT_SECONDS)
    except NodeError:
        return f"kafka {connection.name}"
    return ""


def broker_reached(typed: KafkaSettings, *, seconds: float = SECONDS) -> str:
    """The first broker that takes a connection; one is enough, for it names the others. NodeError if none does."""
    refusals = []
    for broker in typed.brokers:
        try:
            line_try(*host_and_port(broker), seconds=seconds)
            return broker
        except OSError as error:
            refusals.append(f"{broker}: {error.strerror or error}")
    raise NodeError(f"no broker answers ({'; '.join(refusals)}); check ports, firewall and whether the brokers run")


def host_and_port(broker: str) -> tuple[str, int]:
    host, _, port = broker.rpartition(":")
    return host, int(port)
