"""A Kafka broker for the run: one KRaft node in a temporary folder, its jars fetched once by the Ivy in the PySpark wheel."""

import shutil
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path
from types import TracebackType
from uuid import uuid4

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from scripts.fetch_jars import jars_fetch
from scripts.ports import free_ports
from tests.servers.certificate import self_signed
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

HERE = Path(__file__).resolve().parent
JARS = HERE.parent.parent / ".venv" / "kafka-jars"
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"
USER, PASSWORD = "pipeline", "s3cret-of-kafka"

#: Nothing is deleted for its age: tests write messages of years ago, which a broker that cleans up would take away amid them.
_CONFIG = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},SSL://127.0.0.1:{tls},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},SSL://127.0.0.1:{tls}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=\\
  org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{password}";
ssl.keystore.type=PEM
ssl.keystore.location={folder}/server.pem
ssl.truststore.type=PEM
ssl.truststore.location={folder}/server.crt
ssl.client.auth=required
log.dirs={folder}/data
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
message.max.bytes=10485760
log.retention.ms=-1
"""


def kafka_jars_fetch() -> None:
    """The broker's own jars, 54 MB, are fetched once."""
    jars_fetch(JARS, ivy_file=HERE / "kafka_ivy.xml", lock=HERE / "kafka_jars.lock")


class KafkaServer:
    """A context: inside it a broker answers on loopback.

    `bootstrap` without sign-in, `bootstrap_sasl` with USER and PASSWORD, `bootstrap_tls` with `certificate` and `key` (PEM texts).
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-kafka-"))
        self.plain, self.sasl, self.tls, self.controller = free_ports(4)
        self.bootstrap = f"127.0.0.1:{self.plain}"
        self.bootstrap_sasl = f"127.0.0.1:{self.sasl}"
        self.bootstrap_tls = f"127.0.0.1:{self.tls}"
        self.certificate, self.key = self_signed()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "KafkaServer":
        kafka_jars_fetch()
        (self.folder / "server.crt").write_text(self.certificate)
        (self.folder / "server.pem").write_text(self.key + self.certificate)
        ports = {"plain": self.plain, "sasl": self.sasl, "tls": self.tls, "controller": self.controller}
        self._config.write_text(_CONFIG.format(folder=self.folder, user=USER, password=PASSWORD, **ports))
        subprocess.run([*self._java("kafka.tools.StorageTool"), "format", "-t", CLUSTER, "-c", str(self._config)], check=True, timeout=120)
        with or_ended(self.kill):
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Returns when the broker answers; what it held before a `kill` is there again."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*self._java("kafka.Kafka"), str(self._config)], stdout=log, stderr=log)
        wait_until(self._answers, seconds=120, what=f"Kafka on {self.bootstrap}")

    def kill(self) -> None:
        """As a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=20)

    @cached_property
    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})

    def topic_create(self, name: str, *, partitions: int = 1, **config: str) -> None:
        """`config`: the topic's settings, with _ for dots. A broker knows it only some moments after the cluster said that it is there."""
        given = {name.replace("_", "."): value for name, value in config.items()}
        self.admin.create_topics([NewTopic(name, num_partitions=partitions, replication_factor=1, config=given)])[name].result(30)
        wait_until(lambda: bool(self._topic_id(name)), seconds=30, what=f"topic {name}", every=0.05)

    def _topic_id(self, name: str) -> str:
        """ "" for a topic that the broker does not know."""
        try:
            return str(self.admin.describe_topics(TopicCollection([name]))[name].result(30).topic_id)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
            return ""

    def topic_remake(self, name: str, *, partitions: int = 1) -> None:
        """Delete it and make it anew; it is gone only some moments after the cluster said so."""
        before = self._topic_id(name)
        self.admin.delete_topics([name])[name].result(30)

        def made() -> bool:
            try:
                self.topic_create(name, partitions=partitions)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
                return False
            return True

        wait_until(made, seconds=30, what=f"topic {name} made anew")
        wait_until(lambda: self._topic_id(name) not in {"", before}, seconds=30, what=f"the new topic {name}", every=0.05)

    def reader(self, topic: str) -> Consumer:
        """Reads all of a topic that is there. Not by subscription: to close one while its group gives out partitions may never end."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": uuid4().hex})
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
        return consumer

    def group_offsets(self, group: str) -> dict[tuple[str, int], int]:
        """(topic, partition) → offset that the group has committed."""
        found = self.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(30)
        return {(place.topic, place.partition): place.offset for place in found.topic_partitions or []}

    @property
    def _config(self) -> Path:
        return self.folder / "server.properties"

    def _java(self, main: str) -> list[str]:
        logging = f"-Dlog4j2.configurationFile={(HERE / 'kafka_log4j2.properties').as_uri()}"
        return ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", logging, "-cp", f"{JARS}/*", main]

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"Kafka ended: {(self.folder / 'log').read_text()[-2000:]}")
        try:
            return bool(self.admin.list_topics(timeout=2).brokers)
        except KafkaException:
            return False
