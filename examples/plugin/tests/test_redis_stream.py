"""The package against a real Redis (`REDIS_PORT`, 6379 by choice), without Spark: how it is described, signs in and reads."""

import itertools
import json
import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable
from redis import Redis

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.registry import REGISTRY
from pipeline_web_redis.entries import EntriesStreamReader, RedisStream

PORT = int(os.environ.get("REDIS_PORT", "6379"))


@pytest.fixture
def redis() -> Iterator[Redis]:
    with Redis(port=PORT) as client:
        yield client


@pytest.fixture
def stream(redis: Redis) -> Iterator[str]:
    """A stream of seven numbered entries, gone afterwards."""
    key = f"test-{uuid4()}"
    for number in range(7):
        redis.xadd(key, {"number": number, "other": "x"})
    yield key
    redis.delete(key)


def settings(**config: Any) -> ConnectionSettings:
    return ConnectionSettings("main", "redis", {"host": "127.0.0.1", "port": PORT, **config})


def reader(stream: str, **config: Any) -> EntriesStreamReader:
    wanted = {"connection": "main", "stream": stream, "columns": ["number", "absent"], **config}
    connection = {"name": "main", "kind": "redis", "config": {"host": "127.0.0.1", "port": PORT}}
    told = {"node_id": "in", "config": wanted, "connection": connection}
    return EntriesStreamReader(RedisStream({"settings": json.dumps(told), "secret": "{}"}))


def test_the_installed_package_brings_its_type_and_its_kind() -> None:
    spec = REGISTRY.catalogue()["source.redis_stream"]
    assert spec.available, spec.unavailable_reason
    assert "redis" in REGISTRY.connection_kinds(), REGISTRY.missing_kinds()


def test_every_field_is_described_with_an_example() -> None:
    for schema in (REGISTRY.catalogue()["source.redis_stream"].schema, REGISTRY.connection_kinds()["redis"].schema()):
        for name, field in schema["properties"].items():
            assert field["description"].endswith("."), name
            assert field["examples"], name
            assert name in schema.get("required", []) or "default" in field, name


def test_a_column_that_would_come_out_twice_is_refused() -> None:
    config = {"connection": "main", "stream": "s", "columns": ["a", "Entry_id"]}
    (problem,) = REGISTRY.catalogue()["source.redis_stream"].config_problems(config)
    assert problem.pointer == "/columns"
    assert "entry_id would come out more than once" in problem.message


def test_the_connections_test_stops_at_what_fails() -> None:
    kind = REGISTRY.connection_kinds()["redis"]
    assert [(step.name, step.ok) for step in kind.check(settings(), Limits())] == [("name", True), ("port", True), ("sign-in", True)]
    assert [(step.name, step.ok) for step in kind.check(settings(port=1), Limits())] == [("name", True), ("port", False)]
    refused = kind.check(settings(sign_in="password", user="nobody"), Limits())[-1]
    assert not refused.ok
    assert "correct user and password of connection main" in refused.message


def test_batches_go_on_behind_the_last_entry_and_are_the_same_when_read_again(redis: Redis, stream: str) -> None:
    reading = reader(stream, rows_per_batch=3)
    reading.prepareForTriggerAvailableNow()
    redis.xadd(stream, {"number": "late"})
    offsets = [reading.initialOffset()]
    while (following := reading.latestOffset(offsets[-1], ReadAllAvailable())) != offsets[-1]:
        offsets.append(following)
    assert [offset["rows"] for offset in offsets] == [0, 3, 6, 7]
    for _ in ("first", "again"):
        parts = [reading.partitions(*pair) for pair in itertools.pairwise(offsets)]
        rows = [row for (part,) in parts for row in reading.read(part)]
        assert [row[2:] for row in rows] == [(str(number), None) for number in range(7)]


def test_a_key_that_is_no_stream_is_told_in_words(redis: Redis) -> None:
    key = f"test-{uuid4()}"
    redis.set(key, "text", ex=60)
    with pytest.raises(Exception, match=f'reading the stream \\\\"{key}\\\\": Redis refuses: WRONGTYPE'):
        reader(key).prepareForTriggerAvailableNow()
