"""The last words of a failure: how it goes on once that is mended. They differ between a run that ends and a table that is read again."""

from __future__ import annotations

START_AND_GO_ON = ", then start again: it goes on where it was"
START_AGAIN = ", then start again"
GOES_ON = ": it goes on where it was"
JOB_GOES_ON = ": the job goes on where it was"


def without_start(failure: str) -> str:
    """`failure`, in the words that end a run, where nothing is to be started: what it is about is tried again by itself."""
    for ending in (START_AND_GO_ON, START_AGAIN, GOES_ON, JOB_GOES_ON):
        if failure.endswith(ending):
            return failure.removesuffix(ending)
    return failure
