"""Whether a text is one XML element: Spark's parser leaves unread what stands behind the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

_ATTRIBUTES = r"""(?:\s+[^\s=<>/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*"""
#: One element whose end is the first of its name: it needs no second look.
_PLAIN = rf"(?s)\A\s*(?:<\?xml.*?\?>\s*)?<([^\s/>!?]+){_ATTRIBUTES}\s*>(?>.*?</\1\s*>)\s*\z"
_BEFORE_ROOT = r"(?s)\A\s*(?:(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)\s*)*"


def more_than_one_root(text: Column) -> Column:
    """Whether elements or text stand behind the element that `text` begins with.

    Within an element of ours each is one of its children, which Spark's wildcard lists; text beside them is its value.
    """
    from pyspark.sql import functions as F

    within = F.concat(F.lit("<all>"), F.regexp_replace(text, _BEFORE_ROOT, ""), F.lit("</all>"))
    found = F.from_xml(within, "xs_any array<string>, _VALUE string", {"mode": "PERMISSIVE"})
    is_one = (F.size(found.getField("xs_any")) == 1) & found.getField("_VALUE").isNull()
    return ~text.rlike(_PLAIN) & ~F.coalesce(is_one, F.lit(False))
