"""What sources and sinks promise as they are configured, and several together."""

from typing import Any

import pytest

from jobs.nodes.guarantees import together
from jobs.nodes.registry import REGISTRY

EXACTLY, AT_LEAST, AT_MOST, NONE = "exactly once", "at least once", "at most once", "no guarantee"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([EXACTLY, EXACTLY], EXACTLY),
        ([EXACTLY, AT_LEAST], AT_LEAST),
        ([AT_MOST, EXACTLY], AT_MOST),
        ([AT_MOST, AT_LEAST], NONE),
        ([NONE, EXACTLY], NONE),
        ([], EXACTLY),
    ],
)
def test_a_row_may_be_lost_or_repeated_wherever_one_of_them_may(given: list[str], found: str) -> None:
    assert together(given) == found


@pytest.mark.parametrize(
    ("node_type", "config", "found"),
    [
        ("source.generator", {"total_rows": 5}, EXACTLY),
        ("source.mqtt", {"connection": "plant", "topics": ["a"], "qos": 1}, AT_LEAST),
        ("source.mqtt", {"connection": "plant", "topics": ["a"], "qos": 0}, AT_MOST),
        ("source.rabbitmq", {"connection": "main", "queue": "orders", "backpressure": "LATEST"}, NONE),
        ("source.rabbitmq", {"connection": "main", "queue": "orders"}, AT_LEAST),
        ("sink.mqtt", {"connection": "plant", "topic": "a", "qos": 0}, NONE),
        ("sink.jdbc", {"connection": "db", "table": "t"}, EXACTLY),
        ("sink.jdbc", {"nonsense": True}, EXACTLY),
        ("sink.http_api", {}, AT_LEAST),
        ("flow.filter_rows", {"condition": "true"}, ""),
        ("flow.for_each", {}, AT_LEAST),
        ("flow.for_each_mail", {"to": "ops@example.com"}, AT_LEAST),
        ("flow.for_each_python", {}, AT_LEAST),
    ],
)
def test_the_config_decides_what_a_node_gives(node_type: str, config: dict[str, Any], found: str) -> None:
    assert REGISTRY.catalogue()[node_type].guarantee_of(config) == found
