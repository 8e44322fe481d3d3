"""Sample rows of a draft's sources, as they are sent."""

from datetime import datetime
from typing import Any

from jobs.dag.samples import SampleColumn
from jobs.selectors.shapes.base import Shape


class SampleOut(Shape):
    """Rows that previews take instead of reading a source. `by_hand`: a person wrote or changed them.

    `columns`: as SQL writes them, or one by one; "" where nobody said them. `revision` is the ETag.
    """

    columns: str | list[SampleColumn]
    rows: list[dict[str, Any]]
    by_hand: bool
    taken_at: datetime
    taken_by: str
    revision: str


class SamplesOut(Shape):
    """`samples`: source id → its rows. A source that is not named is read."""

    samples: dict[str, SampleOut]
