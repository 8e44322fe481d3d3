"""Reads messages from topics of an MQTT broker."""

from __future__ import annotations

import json
import time
from threading import Event
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, field_validator

from jobs.dag.catalogue import JobTypeName
from jobs.nodes import base
from jobs.nodes.base import NodeContext
from jobs.nodes.connections.mqtt_client import mqtt_silent, reading_act
from jobs.nodes.form import connection_field, hints
from jobs.nodes.guarantees import Guarantee
from jobs.nodes.payload import MessageColumns
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.spool import Message, Spooled
from jobs.nodes.spool_source import PACE_FIELDS, SAMPLED, SpoolConfig, SpoolSource, spool_of

if TYPE_CHECKING:
    from jobs.nodes.mqtt_session import Arrived, MqttSession

_SESSION_LOST = "the broker had not kept the session of this job: what was sent while it was not connected did not arrive"
_SHARED_LINE_WAS_LOST = (
    "the line to the broker was lost: a broker that restarts may forget a shared subscription, "
    "and what was sent until the job was back may not have arrived"
)
#: Once so many messages were heard, it is looked at what is kept.
_HEARD_TOGETHER = 500
_LOOK_SECONDS = 2.0


class MqttPlace(base.Config):
    connection: str = connection_field("mqtt")
    topics: str = Field(
        min_length=1,
        max_length=5000,
        pattern=r"^[^\x00\r\n]+$",
        description="The topic to read, + for any one level and # for all below; several with a comma between.",
        examples=["plant/+/temperature", "plant/#, alarms"],
    )
    qos: Literal[0, 1, 2] = Field(
        1,
        description="How the broker delivers: 0 may lose messages, 1 and 2 deliver until they are kept here; 2 asks more of the broker. "
        "What is sent with 0 is held back by nobody: where the buffer is full, 64 MB of it wait in memory, and more is dropped.",
        examples=[1],
        json_schema_extra=hints(advanced=True),
    )
    share_group: str = Field(
        "",
        max_length=200,
        pattern=r"^[^/+#\x00\r\n]*$",
        description="Readers of one group share the messages of a topic among them; empty reads all alone. A broker may forget shared "
        "subscriptions when it restarts, as Mosquitto does: what is sent until the job is back is lost then, with any quality of service.",
        examples=["pipelines"],
        json_schema_extra=hints(advanced=True, allowed="a name without /, + and #"),
    )
    session_hours: int = Field(
        168,
        ge=1,
        le=24 * 365,
        description="How many hours the broker keeps messages for this job while it does not read.",
        examples=[168],
        json_schema_extra=hints(advanced=True),
    )
    receive_maximum: int = Field(
        1_000,
        ge=1,
        le=65_535,
        description="Most messages that the broker sends ahead of their being kept.",
        examples=[1_000],
        json_schema_extra=hints(advanced=True),
    )

    @field_validator("topics")
    @classmethod
    def _topics_are_filters(cls, text: str) -> str:
        topic_filters(text)
        return text


class MqttConfig(SpoolConfig, MqttPlace):
    pass


class MqttSource(SpoolSource[MqttConfig]):
    """Reads messages from topics of an MQTT 5 broker, as JSON, CSV, Avro, text or bytes.

    Unbounded. At least once with quality of service 1 and 2: a message is acknowledged when it is on disk, and comes again after a
    failure between the two; at most once with 0. The broker keeps what comes while the job does not read, as much of it as it is set up
    to keep: Mosquitto 1,000 messages unless its `max_queued_messages` says more. With a share group a broker may forget the subscription
    when it restarts, as Mosquitto does: what is sent until the job is back is lost then, and the job notes that it may be.
    """

    type = "source.mqtt"
    title = "MQTT"
    icon = "antenna"
    Config = MqttConfig
    job_types: ClassVar[tuple[JobTypeName, ...]] = ("STREAMING",)
    connection_kinds = ("mqtt",)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "unbounded"
    guarantee: ClassVar[str] = "at least once"
    summary_template = "{topics} · {format}"
    pace_fields: ClassVar[frozenset[str]] = PACE_FIELDS | {"qos", "session_hours", "receive_maximum"}
    message_columns: ClassVar[MessageColumns] = {
        "mqtt_position": ("bigint", "position"),
        "mqtt_received": ("timestamp", "received"),
        "mqtt_topic": ("string", "key"),
        "mqtt_headers": ("map<string, string>", "headers"),
    }

    def guarantee_of(self, config: MqttConfig) -> Guarantee:
        """With quality of service 0 the broker sends each message once, whether it arrives or not."""
        return "at most once" if config.qos == 0 else super().guarantee_of(config)

    def place(self, config: MqttConfig) -> str:
        """Whoever shares its topics: messages are the same ones."""
        return f"{config.connection}/{', '.join(sorted(topic_filters(config.topics)))}"

    def waits_for(self, context: NodeContext[MqttConfig]) -> str:
        """Also while the broker is tried again; why stands in brackets then."""
        name = context.config.connection
        if silent := mqtt_silent(context.connection(name)):
            return silent
        why = RetryNote.of(context.work_dir).reason(reading_act(name))
        return f"mqtt {name} ({why})" if why else ""

    def receive(self, context: NodeContext[MqttConfig], stopping: Event) -> None:
        from jobs.nodes.intake import Intake
        from jobs.nodes.mqtt_session import MqttSession

        config = context.config
        kept_session = MqttSession(
            context.connection(config.connection),
            client_id=f"pipeline-{context.job_uid}-{context.node_id}",
            hours=config.session_hours,
            receive_maximum=config.receive_maximum,
        )
        memory = spool_of(context).path.with_suffix(".topics")
        shared_line = memory.with_suffix(".shared")  # there while one is open, and behind one that was lost
        with kept_session as session, Intake(context) as intake:
            if config.session_hours and memory.exists() and not session.is_kept:
                context.notice(_SESSION_LOST)
            elif config.share_group and shared_line.exists():
                context.notice(_SHARED_LINE_WAS_LOST)
            session.subscribe(_shared(config), config.qos, memory=memory)
            if config.share_group:
                shared_line.touch()
            arrived: list[Message] = []
            while not stopping.is_set():
                _hear(session, intake.pause())
                arrived += [_message(one) for one in session.arrived[len(arrived) :]]
                intake.leave_out(session.left_out())
                done = intake.keep(arrived)
                session.acknowledge(done)
                del arrived[:done]
            session.acknowledge(intake.settle())
        shared_line.unlink(missing_ok=True)

    def newest(self, context: NodeContext[MqttConfig]) -> list[Spooled]:
        """Of what was received, else what the broker retains or is sent within two seconds."""
        return super().newest(context) or _looked(context)


def topic_filters(text: str) -> list[str]:
    """The filters in `text`; ValueError where one is none."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise ValueError("name at least one topic")
    for one in found:
        levels = one.split("/")
        if "#" in one and (levels[-1] != "#" or one.count("#") > 1):
            raise ValueError(f"{one}: # stands alone in the last level")
        if any("+" in level and level != "+" for level in levels):
            raise ValueError(f"{one}: + stands alone in its level")
    return found


def _shared(config: MqttConfig) -> list[str]:
    filters = topic_filters(config.topics)
    return [f"$share/{config.share_group}/{one}" for one in filters] if config.share_group else filters


def _hear(session: MqttSession, seconds: float) -> None:
    """What comes within `seconds`, and all that came with it."""
    enough = len(session.arrived) + _HEARD_TOGETHER
    while session.work(seconds) and len(session.arrived) < enough:
        seconds = 0.0


def _looked(context: NodeContext[MqttConfig]) -> list[Spooled]:
    from jobs.nodes.mqtt_session import MqttSession

    config = context.config
    with MqttSession(context.connection(config.connection), client_id="", hours=0, receive_maximum=SAMPLED) as session:
        session.subscribe(topic_filters(config.topics), 0, memory=None)
        until = time.monotonic() + _LOOK_SECONDS
        while len(session.arrived) < SAMPLED and (left := until - time.monotonic()) > 0:
            session.work(left)
        messages = [_message(one) for one in session.arrived[:SAMPLED]]
    return [Spooled(number, time.time(), one.key, one.headers, one.value) for number, one in enumerate(messages, 1)]


def _message(arrived: Arrived) -> Message:
    return Message(arrived.payload, key=arrived.topic, headers=_headers(arrived))


def _headers(arrived: Arrived) -> dict[str, str]:
    """The sender's user properties, then what else the message says of itself."""
    told = dict(arrived.told)
    headers = {str(name): str(value) for name, value in told.pop("UserProperty", [])}
    headers |= {name: value if isinstance(value, str) else json.dumps(value) for name, value in told.items()}
    return headers | {"qos": str(arrived.qos)} | ({"retained": "true"} if arrived.retain else {})
