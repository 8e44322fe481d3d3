"""A person's Spark SQL expression as a column, without the functions that call into the JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError

if TYPE_CHECKING:
    from pyspark.sql import Column

#: They call any static Java method, such as System.exit.
_REFLECTIVE = frozenset({"reflect", "java_method", "try_reflect"})
_REFLECTIVE_WORD = re.compile("|".join(_REFLECTIVE), re.IGNORECASE)


def expression(text: str) -> Column:
    """`text` as a column. A syntax error is Spark's ParseException; a reflective function a permanent NodeError."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    if _REFLECTIVE_WORD.search(text):
        session: Any = SparkSession.getActiveSession()
        refuse_reflection(session._jsparkSession.sessionState().sqlParser().parseExpression(text))
    return F.expr(text)


def refuse_reflection(tree: Any) -> None:
    """NodeError if the parsed JVM `tree` (a plan or an expression) calls a reflective function anywhere."""
    for node in _nodes(tree):
        if node.getClass().getSimpleName() == "UnresolvedFunction" and node.nameParts().last().lower() in _REFLECTIVE:
            name = node.nameParts().last()
            raise NodeError(f"the function {name} is not allowed: it calls into the JVM", permanent=True, kind="user")


def _nodes(tree: Any) -> Iterator[Any]:
    """Every expression and plan below `tree`; `innerChildren` holds subqueries and common table expressions."""
    yield tree
    parts = [tree.children(), tree.innerChildren()]
    if hasattr(tree, "expressions") and "plans" in tree.getClass().getName():
        parts.append(tree.expressions())
    for part in parts:
        for index in range(part.size()):
            child = part.apply(index)
            if "TreeNode" in str(child.getClass().getGenericSuperclass()) or hasattr(child, "children"):
                yield from _nodes(child)
