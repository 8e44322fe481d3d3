from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from jobs.engine import skipping
from jobs.nodes import backlog
from tests.engine.commands import Commands
from tests.engine.graphs import Bench
from tests.engine.kafka_numbers import PARTITIONS, Feed
from tests.servers.kafka import KafkaServer


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    return Bench(spark, tmp_path)


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """A process that runs commands of `manage.py`; started on first use, stopped after the run."""
    with Commands(tmp_path_factory.mktemp("commands")) as running:
        yield running


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources look often at what waits and skip as soon as they may."""
    monkeypatch.setattr(backlog, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(skipping, "REST_SECONDS", 0.5)


@pytest.fixture
def feed(kafka_server: KafkaServer, quick_looks: None) -> Feed:
    """Of a topic of its own."""
    topic = f"numbers-{uuid4().hex[:8]}"
    kafka_server.topic_create(topic, partitions=PARTITIONS)
    return Feed(kafka_server, topic)
