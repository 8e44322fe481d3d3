"""What a checkpoint says about its position."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoints.state_data import offsets_by_node, smallest, state_data


def summary(job_type: str, sources: dict[str, Any], **given: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"number": 4, "timestamp": "2026-01-01T00:00:00.000+00:00", "operators": (), "rows": 70, "page_sizes": {}}
    return state_data(job_type=job_type, sources=sources, **(facts | given))


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ([{"t": {"0": 5, "1": 9}}, {"t": {"0": 7, "1": 3}}], {"t": {"0": 5, "1": 3}}),
        ([{"t": {"0": 5, "1": 9}}, {"t": {"0": 7}}], {"t": {"0": 5}}),
        ([{"logOffset": 12}, {"logOffset": 4}], {"logOffset": 4}),
        ([7, 3], 3),
        (
            [{"next": 500, "progress": {"done": 500, "unit": "rows"}}, {"next": 250, "progress": {"done": 250, "unit": "rows"}}],
            {"next": 250, "progress": {"done": 250, "unit": "rows"}},
        ),
        (
            [{"key": "zebra", "rows": 9, "progress": {"done": 9}}, {"key": "ant", "rows": 4, "progress": {"done": 4}}],
            {"key": "ant", "rows": 4, "progress": {"done": 4}},
        ),
        ([{"cursor": "abc"}, {"cursor": "abc"}], {"cursor": "abc"}),
    ],
)
def test_the_smallest_position_counts_per_partition(offsets: list[Any], expected: Any) -> None:
    assert smallest(offsets) == expected
    assert smallest(offsets[::-1]) == expected


_KAFKA = st.dictionaries(
    st.sampled_from(["orders", "clicks"]), st.dictionaries(st.sampled_from("0123"), st.integers(0, 2**62), min_size=1), min_size=1
)
_POSITIONS = st.lists(_KAFKA, min_size=1, max_size=5)


@given(_POSITIONS)
def test_no_partition_is_read_on_from_behind_any_query(offsets: list[dict[str, dict[str, int]]]) -> None:
    found = smallest(offsets)
    for topic, partitions in found.items():
        for partition, offset in partitions.items():
            assert offset == min(one[topic][partition] for one in offsets)
    known = {(topic, partition) for topic, partitions in found.items() for partition in partitions}
    everywhere = set.intersection(*({(topic, partition) for topic in one for partition in one[topic]} for one in offsets))
    assert known == everywhere, "a partition that a query has not met yet is read from its beginning"


@given(_POSITIONS, st.randoms(use_true_random=False))
def test_the_order_of_the_queries_makes_no_difference(offsets: list[Any], random: Any) -> None:
    shuffled = random.sample(offsets, len(offsets))
    assert smallest(shuffled) == smallest(offsets)
    assert smallest([smallest(offsets), *shuffled]) == smallest(offsets)


def test_a_source_that_two_queries_read_stands_at_the_slower_one() -> None:
    queries = [{"orders": {"logOffset": 9}, "rates": {"next": 5}}, {"orders": {"logOffset": 7}}]
    assert offsets_by_node(queries, ["orders", "rates"]) == {"orders": {"logOffset": 7}, "rates": {"next": 5}}


def test_occurrences_of_one_source_in_a_query_are_one_node() -> None:
    queries = [{"orders__e1": {"logOffset": 9}, "orders__e2": {"logOffset": 8}, "my__source": {"next": 1}}]
    assert offsets_by_node(queries, ["orders", "my__source"]) == {"my__source": {"next": 1}, "orders": {"logOffset": 8}}


def test_a_stream_tells_kafka_offsets_and_the_state_of_its_operators() -> None:
    operators = (
        {"query": "a", "operator": "stateStoreSave", "node_id": "hourly", "rows": 3, "bytes": 100},
        {"query": "b", "operator": "stateStoreSave", "node_id": "hourly", "rows": 4, "bytes": 50},
        {"query": "b", "operator": "dedupe", "node_id": "", "rows": 1, "bytes": 10},
    )
    assert summary("STREAMING", {"orders": {"orders-topic": {"0": 5}}}, operators=operators) == {
        "sources": {"orders": {"orders-topic": {"0": 5}}},
        "checkpoint_id": 4,
        "timestamp": "2026-01-01T00:00:00.000+00:00",
        "source_state": {"kafka_offsets": {"orders-topic": {"0": 5}}},
        "operator_state": {
            "hourly": {"operator": "stateStoreSave", "rows": 7, "bytes": 150},
            "dedupe": {"operator": "dedupe", "rows": 1, "bytes": 10},
        },
    }


def test_a_stream_without_kafka_has_no_kafka_offsets() -> None:
    sources = {"files": {"logOffset": 3}, "numbers": {"next": 4, "progress": {"done": 4, "total": None, "unit": "rows"}}}
    assert summary("STREAMING", sources)["source_state"] == {"kafka_offsets": {}}


def test_a_roller_tells_its_page_or_its_cursor() -> None:
    pages = {"users": {"page": 7, "rows": 6000, "batch": [[6, None]], "progress": {"done": 6, "total": None, "unit": "pages"}}}
    assert summary("BATCH_ROLLER", pages, page_sizes={"users": 1000}) == {
        "sources": pages,
        "source_state": {"current_page": 7, "page_size": 1000, "total_processed": 6000},
    }
    cursors = {"users": {"page": 7, "cursor": "n2", "rows": 6000}}
    assert summary("BATCH_ROLLER", cursors, page_sizes={"users": 50})["source_state"] == {
        "cursor": "n2",
        "page_size": 50,
        "total_processed": 6000,
    }
    assert summary("BATCH_ROLLER", {"numbers": {"next": 70}})["source_state"]["total_processed"] == 70


def test_a_sql_task_tells_the_last_key() -> None:
    sources = {"flights": {"key": 41, "rows": 40, "progress": {"done": 40, "total": 90, "unit": "rows"}}}
    assert summary("SQL_TASK", sources) == {"sources": sources, "source_state": {"processed_rows": 40, "last_processed_id": 41}}
