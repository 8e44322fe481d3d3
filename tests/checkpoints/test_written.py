"""How far a run is, by what its queries wrote."""

from checkpoints.written import Written
from jobs.engine.events import BatchWritten, NodeCounts


def batch(query: str, number: int, **sources: int) -> BatchWritten:
    nodes = {node_id: NodeCounts(rows_out=rows) for node_id, rows in sources.items()} | {"out": NodeCounts(rows_out=7)}
    return BatchWritten(query, number, rows_in=sum(sources.values()), rows_out=7, rejected=0, nodes=nodes)


def written(*events: BatchWritten) -> Written:
    made = Written(("orders", "clicks"))
    for event in events:
        made.add(event)
    return made


def test_rows_of_several_sources_add_up_and_those_of_one_count_once() -> None:
    made = written(batch("a", 0, orders=100), batch("b", 0, orders=70), batch("b", 1, orders=70, clicks=5))
    assert (made.rows, made.batches) == (145, 3)
    made.begin_anew()
    assert (made.rows, made.batches) == (0, 0)


def test_rows_count_up_to_the_batch_that_is_cut() -> None:
    made = written(batch("a", 4, orders=100), batch("a", 5, orders=20), batch("b", 0, clicks=3))
    assert (made.newest("a"), made.newest("b"), made.newest("c")) == (5, 0, -1)
    assert (made.rows_until("a", 5), made.rows_until("a", 4)) == (120, 100)
    assert (made.rows_until("b", 0), made.rows_until("b", -1), made.rows_until("c", 9)) == (3, 0, 0)


def test_a_batch_that_is_written_again_counts_as_it_was_written_last() -> None:
    made = written(batch("a", 0, orders=100), batch("a", 1, orders=20), batch("a", 1, orders=30))
    assert made.rows_until("a", 1) == 130
    made.add(batch("a", 2, orders=1))
    assert made.rows_until("a", 2) == 131
