"""What waits at the sources when a checkpoint is taken: offsets tell it, and for a source with a buffer the buffer alone."""

from datetime import UTC, datetime

from checkpoints.told import Told
from jobs.engine.events import BatchCommitted, BufferStands


def batch(query: str, behind: dict[str, int]) -> BatchCommitted:
    return BatchCommitted(query, 1, datetime(2026, 1, 1, tzinfo=UTC), 10, 1.0, 1.0, {}, {}, behind=behind)


def test_what_waits_is_the_buffers_and_what_offsets_tell():
    told = Told()
    assert told.backlog is None
    told.hear(batch("a", {"kafka": 7, "mqtt": 0}))
    told.hear(batch("b", {"kafka": 3}))
    assert told.backlog == 10
    told.hear(BufferStands("mqtt", 40, 0, "OK"))
    assert told.backlog == 50
    told.hear(batch("a", {"kafka": 0, "mqtt": 0}))
    told.hear(BufferStands("mqtt", 5, 0, "OK"))
    assert told.backlog == 8


def test_what_a_checkpoint_is_given_stays_as_it_was():
    told = Told()
    told.hear(batch("a", {"kafka": 7}))
    given = told.as_it_stands()
    told.hear(batch("a", {"kafka": 0}))
    assert (given.backlog, told.backlog) == (7, 0)
