"""What of Spark SQL a person may write: expressions and queries over the rows at hand, nothing that reaches beyond them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError
from jobs.nodes.function_options import FUNCTIONS_WITH_OPTIONS, options_check
from jobs.nodes.node_error import reworded
from jobs.nodes.patterns import pattern_read, time_pattern_check

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: They call any static Java method, such as System.exit.
_REFLECTIVE = frozenset({"reflect", "java_method", "try_reflect"})
#: Their second argument is a regular expression.
_PATTERNED = (
    "rlike",
    "regexp",
    "regexp_like",
    "regexp_count",
    "regexp_extract",
    "regexp_extract_all",
    "regexp_instr",
    "regexp_replace",
    "regexp_substr",
    "split",
)
#: Their second argument is a pattern by which times are written, or read.
_WRITES_TIMES = ("date_format", "from_unixtime")
_READS_TIMES = (
    "to_date",
    "try_to_date",
    "to_timestamp",
    "try_to_timestamp",
    "to_timestamp_ltz",
    "to_timestamp_ntz",
    "unix_timestamp",
    "to_unix_timestamp",
)
#: Function in small letters → what a pattern that is written out has to be.
_PATTERN_CHECKS: Mapping[str, Callable[[SparkSession, str], object]] = {
    **dict.fromkeys(_PATTERNED, pattern_read),
    **dict.fromkeys(_WRITES_TIMES, partial(time_pattern_check, parsing=False)),
    **dict.fromkeys(_READS_TIMES, partial(time_pattern_check, parsing=True)),
}
#: Without one of these words an expression holds no reflective call, no subquery, no pattern and no options that reach a file, and need
#: not be parsed twice.
_SUSPECT = re.compile(
    r"\b(?:reflect|java_method|try_reflect|identifier|select|from|values|table|with|"
    rf"{'|'.join((*FUNCTIONS_WITH_OPTIONS, *_PATTERN_CHECKS))})\b",
    re.IGNORECASE,
)
_QUERY_PLAN = "org.apache.spark.sql.catalyst.plans.QueryPlan"
_PLAN_EXPRESSION = "org.apache.spark.sql.catalyst.expressions.PlanExpression"
#: What a query may be made of. A list of what is allowed, because commands are many and grow with every Spark.
_QUERY_PARTS = frozenset(
    [
        "Project",
        "Filter",
        "Aggregate",
        "UnresolvedHaving",
        "UnresolvedQualify",
        "Sort",
        "GlobalLimit",
        "LocalLimit",
        "Offset",
        "Join",
        "LateralJoin",
        "AsOfJoin",
        "SubqueryAlias",
        "Generate",
        "Distinct",
        "Deduplicate",
        "Union",
        "Intersect",
        "Except",
        "Pivot",
        "Unpivot",
        "OneRowRelation",
        "UnresolvedInlineTable",
        "LocalRelation",  # a parsed one is what VALUES lists
        "UnresolvedSubqueryColumnAliases",
        "Window",
        "WithWindowDefinition",
        "UnresolvedWith",
        "Sample",
        "UnresolvedHint",
        "UnresolvedRelation",
        "UnresolvedTableValuedFunction",
        "Tail",
        "Repartition",
        "RepartitionByExpression",
        "UnresolvedOrderByAll",
        "PipeOperator",
    ]
)
_BEGINNINGS = ("SELECT", "WITH", "FROM", "VALUES", "(")
_TABLE_FUNCTIONS = frozenset(
    [
        "range",
        "explode",
        "explode_outer",
        "posexplode",
        "posexplode_outer",
        "inline",
        "inline_outer",
        "stack",
        "json_tuple",
        "variant_explode",
        "variant_explode_outer",
    ]
)


#: Whether a node's expressions are those of a drawing.
_drawn: ContextVar[bool] = ContextVar("drawn", default=False)


@contextmanager
def drawn_expressions(drawn: bool) -> Iterator[None]:
    """What is read within is told to who draws it, if `drawn`: what was published goes on as Spark takes it."""
    token = _drawn.set(drawn)
    try:
        yield
    finally:
        _drawn.reset(token)


class ExpressionRefused(NodeError):
    """What Spark says of one of a node's several expressions, its cause; `place` tells which, `columns` are those it may use."""

    def __init__(self, place: str, field: str, columns: Sequence[str], cause: Exception) -> None:
        super().__init__(f"{place}: {str(cause).strip().splitlines()[0]}", permanent=True, kind="user", field=field)
        self.place = place
        self.columns = tuple(columns)
        self.__cause__ = cause


@contextmanager
def expressions_of(place: str, field: str, frame: DataFrame) -> Iterator[None]:
    """What is wrong with an expression over `frame` is told with its place, as in "line 3", on the config's `field`."""
    from pyspark.errors import PySparkException

    try:
        yield
    except NodeError as error:
        raise reworded(error, f"{place}: {error.message}", field) from error
    except PySparkException as error:
        raise ExpressionRefused(place, field, frame.columns, error) from error


def expression(text: str) -> Column:
    """`text` as a column.

    A syntax error is Spark's ParseException; a reflective function, an option that reaches a file, a subquery or a broken regular
    expression a permanent NodeError, and within `drawn_expressions` a name of its own.
    """
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    if _drawn.get() or _SUSPECT.search(text):
        session = SparkSession.active()
        parsed = _parser(session).parseExpression(text)
        if _drawn.get():
            _refuse_unfinished(parsed)
        for node in _nodes(parsed) if _SUSPECT.search(text) else ():
            _refuse_reaching(node)
            _refuse_broken_pattern(session, node)
            if _is(node, _PLAN_EXPRESSION):
                raise NodeError("a subquery is not allowed in an expression: use a SQL node", permanent=True, kind="user")
    return F.expr(text)


def _refuse_unfinished(parsed: Any) -> None:
    """NodeError for `a > 1 and`: Spark takes the last word for the name of what stands before it, which nobody reads.

    And for `x -> x + 1`, of which Spark says but that it cannot ask for its type.
    """
    kind = parsed.getClass().getSimpleName()
    if kind in ("Alias", "MultiAlias"):
        name = parsed.name() if kind == "Alias" else parsed.names().mkString(", ")
        raise _refused(f'its last word, "{name}", would be a name for what stands before it, and do nothing: finish it, or leave that out')
    if kind == "LambdaFunction":
        raise _refused("an arrow alone makes no value: hand it to a function, as in transform(list, x -> x + 1)")


def check_query(spark: SparkSession, query: str, tables: Collection[str]) -> None:
    """NodeError unless `query` is one query over `tables` alone: no command, file, catalog table, script or call into the JVM."""
    plan = _parser(spark).parsePlan(query)
    known = {table.lower() for table in tables} | set(_common_table_names(plan))
    for node in _nodes(plan):
        _refuse_reaching(node)
        _refuse_broken_pattern(spark, node)
        if not _is(node, _QUERY_PLAN):
            continue
        name = node.getClass().getSimpleName()
        if name not in _QUERY_PARTS:
            begins = query.split(maxsplit=1)[0].upper()
            told = name if begins.startswith(_BEGINNINGS) else begins
            raise _refused(f"only a query over the inputs is allowed here, not {told}: begin with SELECT or WITH")
        if name == "UnresolvedRelation" and _dotted(node.multipartIdentifier()).lower() not in known:
            raise _refused(f'there is no input "{_dotted(node.multipartIdentifier())}": the inputs are {", ".join(sorted(tables))}')
        if name == "UnresolvedTableValuedFunction" and _dotted(node.name()).lower() not in _TABLE_FUNCTIONS:
            raise _refused(f"the table function {_dotted(node.name())} is not allowed here")


def _common_table_names(plan: Any) -> Iterator[str]:
    """Names that WITH gives; each stands before its subquery in the plan's own list."""
    for node in _nodes(plan):
        if _is(node, _QUERY_PLAN) and node.getClass().getSimpleName() == "UnresolvedWith":
            relations = node.cteRelations()
            yield from (str(relations.apply(index)._1()).lower() for index in range(relations.size()))


def _refuse_reaching(node: Any) -> None:
    """NodeError for a call that reaches into the JVM, or by its options a file or an address."""
    if node.getClass().getSimpleName().endswith("UnresolvedIdentifier"):
        raise _refused("IDENTIFIER is not allowed here: write the name itself")
    if node.getClass().getSimpleName() != "UnresolvedFunction":
        return
    name = str(node.nameParts().last())
    if name.lower() in _REFLECTIVE:
        raise _refused(f"the function {name} is not allowed: it calls into the JVM")
    options_check(name.lower(), node)


def _refuse_broken_pattern(spark: SparkSession, node: Any) -> None:
    """NodeError for a pattern that is written out and is none: Spark itself says so only once it sees rows."""
    name = node.getClass().getSimpleName().lower()
    if name == "unresolvedfunction":
        name = str(node.nameParts().last()).lower()
    check = _PATTERN_CHECKS.get(name)
    if check is None or node.children().size() < 2:
        return
    pattern = node.children().apply(1)
    if pattern.getClass().getSimpleName() == "Literal" and pattern.dataType().simpleString() == "string" and pattern.value() is not None:
        check(spark, pattern.value().toString())


def _nodes(tree: Any) -> Iterator[Any]:
    """Every plan and expression of a parsed tree, subqueries and WITH included."""
    yield tree
    parts = [tree.children(), tree.innerChildren(), *_aside(tree)]
    if _is(tree, _QUERY_PLAN):
        parts.append(tree.expressions())
    elif _is(tree, _PLAN_EXPRESSION):
        yield from _nodes(tree.plan())
    for part in parts:
        for index in range(part.size()):
            yield from _nodes(part.apply(index))


def _aside(tree: Any) -> Iterator[Any]:
    """What Spark counts among nobody's children: windows that have a name, and what |> SET puts into a column's place."""
    name = tree.getClass().getSimpleName()
    if name == "WithWindowDefinition":
        yield tree.windowDefinitions().values().toSeq()
    elif name == "UnresolvedStarExceptOrReplace" and tree.replacements().isDefined():
        yield tree.replacements().get()


def _is(node: Any, class_name: str) -> bool:
    from py4j.java_gateway import is_instance_of
    from pyspark.sql import SparkSession

    return bool(is_instance_of(SparkSession.active().sparkContext._gateway, node, class_name))


def _parser(spark: SparkSession) -> Any:
    session: Any = spark
    return session._jsparkSession.sessionState().sqlParser()


def _dotted(parts: Any) -> str:
    return ".".join(str(parts.apply(index)) for index in range(parts.size()))


def _refused(message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user")
