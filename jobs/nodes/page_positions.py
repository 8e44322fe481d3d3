"""Where a walk through the pages of an API is to go on, as a person sets it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jobs.nodes.hand_positions import Wanted, Way, only_value, whole_number, wrong
from jobs.nodes.page_styles import CHAINED
from jobs.nodes.page_walk import Position

if TYPE_CHECKING:
    from jobs.nodes.base import NodeContext
    from jobs.nodes.sources.http_api_config import HttpApiConfig


@dataclass(frozen=True)
class PagePositions:
    """The next page's number, how many records are passed over, or the cursor or address that the API handed out."""

    ways: tuple[Way, ...] = ("values",)

    def settable(self, position: Any, config: HttpApiConfig) -> dict[str, Any]:
        if config.paging == "page":
            return {"page": position["page"]}
        if config.paging == "offset":
            return {"offset": position.get("cursor", config.first_offset)}
        return {"cursor": position.get("cursor")} if config.paging in CHAINED else {}

    def moved(self, position: Any, wanted: Wanted, context: NodeContext[HttpApiConfig]) -> Any:
        """What a walk remembers of the pages behind it is forgotten; an API that tells a total is read until a page is empty."""
        config = context.config
        before = Position.of_offset(position)
        fresh = replace(
            before, rows=0, total=None, done=False, last="", landmark="", landmark_page=0, walked=0, batch=(), empty=0, recent=()
        )
        if config.paging == "page":
            return replace(fresh, page=whole_number(only_value(wanted, "page"), "page"), by_hand=True).as_offset()
        if config.paging == "offset":
            offset = whole_number(only_value(wanted, "offset"), "offset")
            return replace(fresh, cursor=offset, rows=max(0, offset - config.first_offset)).as_offset()
        cursor = only_value(wanted, "cursor")
        if cursor is not None and not (isinstance(cursor, str) and cursor):
            raise wrong("the cursor is a text, or null for the first page")
        return replace(fresh, cursor=cursor, rows=before.rows).as_offset()
