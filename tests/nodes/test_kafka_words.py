"""What Kafka's client says, in words for people; a Kafka connection takes a short list of client options only."""

import socket
import threading
import time
from contextlib import closing, suppress
from typing import Any

import pytest
from pydantic import ValidationError

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.config_problems import config_problems
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import kafka_failure
from jobs.nodes.connections.kafka_refusal import kafka_silence
from jobs.nodes.connections.kafka_settings import KafkaSettings, kafka_spark_options
from jobs.nodes.sinks.kafka import KafkaSink, KafkaSinkConfig
from jobs.nodes.sources.kafka_config import KafkaSourceConfig


@pytest.mark.parametrize(
    ("text", "words", "permanent"),
    [
        ("org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server", "is not there any more", False),
        (
            "org.apache.kafka.common.errors.TimeoutException: Topic t not present in metadata after 60000 ms.",
            "is not there any more",
            False,
        ),
        (
            (
                "org.apache.kafka.common.errors.TimeoutException: "
                "Partition 9 of topic t with partition count 2 is not present in metadata after 60000 ms."
            ),
            "a row asks for partition 9 of t, which has 2, counted from 0",
            True,
        ),
        (
            (
                "java.lang.IllegalArgumentException: Invalid partition: -1. Partition number should always be non-negative or null.\n"
                "at org.apache.kafka.clients.producer.ProducerRecord.<init>"
            ),
            "a row asks for partition -1, where they are counted from 0; correct the partition column",
            True,
        ),
        ("org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment", "no broker answers", False),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed", "sign-in was refused (Auth", True),
        ("org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [t]", "topics: [t]", True),
        (
            (
                "StreamingQueryException: assertion failed: If startingOffsets contains specific offsets, you must specify "
                "all TopicPartitions.\nUse -1 for latest, -2 for earliest, if you don't care.\n"
                "Specified: Set(t-0) Assigned: Set(t-0, t-1)\nKafka"
            ),
            "the start or end offsets name the partitions t-0, where t-0, t-1 are read; give each of these an offset, and no other",
            True,
        ),
        (
            (
                "kafka010.KafkaIllegalStateException: Partitions specified for Kafka start offsets don't match what are assigned. "
                "Maybe topic partitions are created \nor deleted while the query is running. Use -1 for latest, -2 for earliest.\n"
                "Specified: HashSet(t-0, t-7) Assigned: Set(t-0)"
            ),
            "name the partitions t-0, t-7, where t-0 are read",
            True,
        ),
        (
            (
                "KafkaIllegalStateException: The resolved start offset 551 is greater than the resolved end offset 0 for topic num "
                "partition 0.\nat org.apache.spark.sql.kafka010"
            ),
            "num-0 would be read from 551 on, and to before 0: the end lies before the start; correct one of them",
            True,
        ),
        ("kafka.common.errors.RecordTooLargeException: The message is 9 bytes", "too large (The message is 9 bytes)", True),
        (
            "Some data may have been lost in Kafka any more;\nReason: Partitions Set(t-1) have been deleted.\n=",
            "(Partitions Set(t-1) have",
            True,
        ),
        ("kafka: Partition t-0's offset was changed from 5 to 3, some data may have been missed", "offset was changed from 5 to 3)", True),
    ],
)
def test_an_error_of_the_client_says_what_to_do(text: str, words: str, permanent: bool):
    found = kafka_failure(text, "with kafka", "reading") or kafka_failure(text, "with kafka", "writing")
    assert found is not None
    assert found.message.startswith("with kafka: ")
    assert words in found.message
    assert found.permanent is permanent


def test_what_kafka_did_not_say_is_left_to_others():
    assert kafka_failure("java.net.SocketTimeoutException: Read timed out", "reading", "reading") is None
    assert kafka_failure("a column called kafka_key does not exist", "reading", "reading") is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("sasl.jaas.config=x", "sasl.jaas.config cannot be set here"),
        ("ssl.truststore.location=/etc/passwd", "is not written as option=value"),
        ("interceptor.classes=a.B", "interceptor.classes cannot be set here"),
        ("linger.ms", "is not written as option=value"),
    ],
)
def test_only_sizes_and_times_of_the_client_can_be_set(options: str, words: str):
    with pytest.raises(ValidationError, match=words):
        KafkaSettings(servers="a:1", options=options)


def test_options_and_a_password_with_quotes_reach_the_client_whole():
    config = {"servers": "a:1, b:2", "security": "sasl_tls", "user": "u", "options": "linger.ms=20\n\nfetch.max.bytes = 9"}
    given = kafka_spark_options(ConnectionSettings("main", "kafka", config, {"password": 'a"b\\c'}))
    assert given["kafka.bootstrap.servers"] == "a:1,b:2"
    assert (given["kafka.linger.ms"], given["kafka.fetch.max.bytes"]) == ("20", "9")
    assert given["kafka.sasl.jaas.config"].endswith('username="u" password="a\\"b\\\\c";')


@pytest.mark.parametrize(
    ("config", "pointer", "words"),
    [
        ({"topic": "a b"}, "/topic", '"a b" is no name of a topic'),
        ({"topic": "a(", "topic_is": "pattern"}, "/topic", "topic is no pattern"),
        ({"topic": "a", "partitions": "5-2"}, "/partitions", "5-2 is no range of partitions"),
        ({"topic": "a", "start": "time"}, "", "the start is chosen by time: give the start time"),
        ({"topic": "a", "start": "time", "start_time": "2026-02-31"}, "/start_time", "there is no such time"),
        ({"topic": "a", "start": "offsets", "start_offsets": "[1]"}, "/start_offsets", "offsets are written as"),
        ({"topic": "a", "format": "avro"}, "", "Avro messages need either the schema"),
        ({"topic": "a", "format": "avro", "avro_schema": '"int"'}, "/avro_schema", "the Avro schema must be a record"),
        ({"topic": "a", "format": "csv"}, "", "list the columns in their order"),
        ({"topic": "a", "backpressure": "LATEST"}, "", "LATEST needs a max backlog"),
        ({"topic": "a", "backpressure": "OLDEST", "max_backlog": 5}, "/backpressure", "BUFFER"),
    ],
)
def test_a_field_that_is_not_written_well_is_named(config: dict[str, Any], pointer: str, words: str):
    (problem,) = config_problems(KafkaSourceConfig, {"connection": "main", **config})
    assert problem.pointer == pointer
    assert words in problem.message


def test_a_topic_given_by_a_parameter_is_not_judged():
    assert config_problems(KafkaSourceConfig, {"connection": "main", "topic": "${topic}"}) == []


@pytest.mark.parametrize(
    ("config", "strategy"),
    [
        ({}, "BUFFER"),
        ({"max_backlog": 0}, "BUFFER"),
        ({"max_backlog": 100}, "ERROR"),
        ({"max_backlog": 100, "backpressure": "LATEST"}, "LATEST"),
        ({"max_backlog": 100, "backpressure": "BUFFER"}, "BUFFER"),
    ],
)
def test_a_bound_alone_means_what_it_meant_before_there_was_a_choice(config: dict[str, Any], strategy: str):
    assert KafkaSourceConfig.model_validate({"connection": "main", "topic": "a", **config}).backpressure == strategy


def test_a_bound_given_by_a_parameter_is_not_judged():
    config = {"connection": "main", "topic": "a", "backpressure": "LATEST", "max_backlog": "${most}"}
    assert config_problems(KafkaSourceConfig, config) == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("TimeoutException: Topic out not present in metadata after 60000 ms.", True),
        ("TimeoutException: Expiring 3 record(s) for out-0:120000 ms has passed since batch creation", True),
        ("TopicAuthorizationException: Not authorized to access topics: [out]", True),
        ("RecordTooLargeException: The message is 9 bytes when serialized which is larger than 8", True),
        ("TopicAuthorizationException: Not authorized to access topics: [in]", False),
        ("TimeoutException: Topic out-er not present in metadata after 60000 ms.", False),
        ("UnknownTopicOrPartitionException: This server does not host this topic-partition.", False),
    ],
)
def test_what_a_stream_in_real_time_died_of_is_told_apart(text: str, written: bool):
    assert KafkaSink().failed_stream(text, KafkaSinkConfig(connection="main", topic="out")) is written


def told_of(servers: str) -> str:
    """What is told of a cluster at `servers` that is asked for its topics."""
    with pytest.raises(NodeError) as refused:
        KafkaAdmin(ConnectionSettings("main", "kafka", {"servers": servers}), seconds=1).partitions()
    return str(refused.value)


@pytest.mark.slow
def test_servers_that_take_no_connection_are_named_each_with_its_reason():
    with socket.socket() as one:  # bound and never listening: nothing else gets this port meanwhile
        one.bind(("127.0.0.1", 0))
        shut = f"127.0.0.1:{one.getsockname()[1]}"
        told = told_of(f"{shut}, nowhere.invalid:9092")
    assert told.startswith('connecting to "main": no broker answers (')
    assert f"{shut}: Connection refused" in told
    assert "nowhere.invalid:9092: " in told
    assert told.endswith("check ports, firewall and whether the brokers run")
    assert not any(word in told for word in ("brokers are down", "bootstrap", "ipv4#", "in state"))


@pytest.mark.slow
def test_a_port_that_is_not_kafkas_is_told_apart_from_one_that_is_shut():
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        server = f"127.0.0.1:{silent.getsockname()[1]}"
        told = told_of(server)
    assert told.startswith(f'connecting to "main": {server} takes connections, but does not answer as a Kafka broker; check')


@pytest.mark.slow
def test_a_server_of_another_kind_is_told_before_the_client_gives_up():
    """It answers every line in a protocol of its own, as a database does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as stranger:
        threading.Thread(target=_answer_all, args=(stranger,), daemon=True).start()
        begun = time.monotonic()
        with pytest.raises(NodeError, match="takes connections, but does not answer as a Kafka broker"):
            KafkaAdmin(ConnectionSettings("main", "kafka", {"servers": f"127.0.0.1:{stranger.getsockname()[1]}"})).partitions()
    assert time.monotonic() - begun < 5


def _answer_all(server: socket.socket) -> None:
    with suppress(OSError):
        while True:
            line, _ = server.accept()
            with line, suppress(OSError):
                line.recv(100)
                line.sendall(b"E unsupported frontend protocol")


class Heard:
    """An error as Kafka's client reports it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def str(self) -> str:
        return self.text


def test_brokers_that_the_cluster_names_and_nobody_can_reach_are_told_as_such():
    heard: Any = [
        Heard(
            "sasl_ssl://kafka-0.lan:9092/0: Failed to resolve 'kafka-0.lan:9092': Name or service not known (after 4ms in state CONNECT)"
        ),
        Heard("1/2 brokers are down"),
    ]
    told = kafka_silence(KafkaSettings(servers="kafka.example.com:9092"), heard)
    assert told.startswith("the cluster names brokers that cannot be reached from here (kafka-0.lan:9092: Name")
    assert "advertised.listeners" in told
