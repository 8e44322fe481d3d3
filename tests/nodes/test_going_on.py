"""The last words of a failure, where it is no run that ended but a table that is tried again by itself."""

import pytest

from jobs.engine.file_words import about_a_file, unopened_file
from jobs.nodes.connections.kafka_reach import kafka_failure
from jobs.nodes.going_on import without_start
from jobs.nodes.rocketmq.refusals import refusal_words


def kafka_is_away() -> str:
    failure = kafka_failure("org.apache.kafka.common.errors.TimeoutException: no", 'reading kafka "orders"', "reading")
    assert failure is not None
    return failure.message


def unopened(text: str) -> str:
    found = unopened_file(text)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (about_a_file("File file:/in/a.csv does not exist"), "the file or folder /in/a.csv is no longer there; put it back"),
        (
            about_a_file("Encountered error while reading file file:///in/a.parquet"),
            "the file /in/a.parquet cannot be read: it is damaged, cut off or of another format; put a sound one in its place",
        ),
        (
            unopened("/in/a.csv (Permission denied)"),
            "the file /in/a.csv may not be opened; give the user that runs Spark the right to",
        ),
        (
            unopened("/in/a.csv (Too many open files)"),
            "too many files are open at once; let the user that runs Spark open more (ulimit -n)",
        ),
        (kafka_is_away(), 'reading kafka "orders": no broker answers; check that the cluster runs and can be reached'),
        (refusal_words("reading", 2, "busy").message, "reading: the broker is too busy (busy)"),
    ],
    ids=["gone", "damaged", "forbidden", "too many", "kafka", "rocketmq"],
)
def test_nobody_is_told_to_start_what_goes_on(told: str, words: str) -> None:
    assert without_start(f'"Table": {told}') == f'"Table": {words}'


def test_what_says_nothing_of_going_on_stays_as_it_is() -> None:
    assert without_start('"Table": the server answered 503; try later') == '"Table": the server answered 503; try later'
