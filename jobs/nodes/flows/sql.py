"""One SQL query over the inputs, each a table under its node's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from jobs.dag.catalogue import Port
from jobs.nodes import base
from jobs.nodes.base import Caution, Flow, NodeContext
from jobs.nodes.form import hints
from jobs.nodes.groups import PicksRows
from jobs.nodes.queries import selected, table_word
from jobs.nodes.query_inputs import own_names, query_tables, table_names, told_by_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


#: Functions of Spark that make one value of many rows.
_AGGREGATES = (
    r"any|any_value|approx_count_distinct|approx_percentile|approx_top_k\w*|array_agg|avg|bit_and|bit_or|bit_xor|bitmap_\w+_agg|bool_and|"
    r"bool_or|collect_list|collect_set|corr|count|count_if|count_min_sketch|covar_pop|covar_samp|every|first|first_value|"
    r"histogram_numeric|hll_\w+_agg|kll_\w+_agg\w*|kurtosis|last|last_value|listagg|max|max_by|mean|median|min|min_by|mode|percentile|"
    r"percentile_approx|percentile_cont|percentile_disc|regr_\w+|schema_of_variant_agg|skewness|some|std|stddev|stddev_pop|stddev_samp|"
    r"string_agg|sum|theta_\w+_agg|tuple_\w+_agg\w*|try_avg|try_sum|var_pop|var_samp|variance|vector_avg|vector_sum"
)
#: MINUS in front of a query, which a column of that name never stands in front of.
_MINUS = r"\bminus\b\s*(?:\b(?:all|distinct)\b\s*)?(?:\b(?:select|values|table|with)\b|(?:\(\s*)+(?:select|values|table|with|from)\b)"
#: MINUS in front of a query that begins with FROM: its table is named before its columns, or the query before it has had its own FROM.
_MINUS_FROM = re.compile(
    r"\bminus\s+(?:(?:all|distinct)\s+)?from\s+[\w.]+\s+select\b"
    r"|\bfrom\b(?:\([^()]*\)|(?!\bselect\b)[^()])*\bminus\s+(?:(?:all|distinct)\s+)?from\b"
)
#: Words of a query that looks at several rows at once; strings, quoted names and comments are taken out first.
_ACROSS_ROWS = re.compile(
    rf"\b(?:(?:group\s+by|join|distinct|intersect|except)\b|over\s*\(|(?:{_AGGREGATES})\s*\()"
    r"|\bunion\b(?!\s+all\b)|\b(?:order|sort)\s+by\b|(?:\)|\bnulls)\s*over\b|\btablesample\b"
    r"|(?:\bin|\bexists|[=<>])\s*\(\s*(?:select|with)\b"
    rf"|{_MINUS}",
    re.IGNORECASE,
)
_GROUPED = re.compile(rf"\b(?:(?:group\s+by|distinct)\b|(?:{_AGGREGATES})\s*\()|\bunion\b(?!\s+all\b)", re.IGNORECASE)
_PICKS = re.compile(r"\b(?:where|having)\b", re.IGNORECASE)
#: Columns that are left out, which are no rows that are left out.
_COLUMNS_EXCEPT = re.compile(r"\*\s*except\s*\([^()]*\)", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\b(?!\s+values\b)", re.IGNORECASE)
#: What stands behind FROM, up to the clause that follows it.
_BEHIND_FROM = re.compile(
    r"[(),]|\|>|\b(?:where|group|order|sort|cluster|distribute|having|qualify|window|limit|offset|union|intersect|except|minus|lateral\s+view|"
    r"pivot|unpivot|select|map|reduce|insert|join|cross|inner|left|right|full|natural|semi|anti)\b",
    re.IGNORECASE,
)
#: Functions whose arguments have a FROM of their own, as in extract(year FROM time).
_FROM_WITHIN = re.compile(r"\b(?:extract|trim|substr|substring|overlay)\s*\([^()]*", re.IGNORECASE)
#: Where a query stands in brackets as a table does, or as a whole.
_TABLE_WITHIN = re.compile(r"(?:^|\)|\b(?:as|from|join|union\s+all(?:\s+by\s+name)?))\s*(?:\(\s*)+", re.IGNORECASE)
#: A query within an expression; columns may be called so, too.
_QUERY_WITHIN = re.compile(r"\(\s*(?:select|with|from|table)\b(?!\s*(?:[,)]|as\b))", re.IGNORECASE)
#: Rows that are written out within an expression, and a query that reads what stands beside it.
_ROWS_WITHIN = re.compile(r"\(\s*values\b|\blateral\b(?!\s+view\b)", re.IGNORECASE)
#: What a query reads, by name.
_READ = re.compile(r"(?:\b(?:from|join)|\(\s*table)\s+(?!as\b)([\w.]+)", re.IGNORECASE)
#: Comparisons within a row, in words that stand for more elsewhere.
_WITHIN_ROW = re.compile(r"\bis\s+(?:not\s+)?distinct\s+from\b|(?<=like)\s+(?:any|some|all)\b", re.IGNORECASE)
#: Names in back quotes that count no less: a function's, and that of a table that is read.
_QUOTED_NAME = r"`(?P<function>\w+)`(?=\s*\()|(?P<reads>\b(?:from|join)\s+)`(?P<table>[^`]+)`"
_QUOTED_OR_COMMENT = re.compile(
    _QUOTED_NAME + r"|'(?:[^'\\]|\\.)*'|`[^`]*`|\"(?:[^\"\\]|\\.)*\"|--[^\n]*|/\*.*?\*/", re.DOTALL | re.IGNORECASE
)

_WORD = re.compile(r"\|>|\w+|\S")
#: LIMIT ALL takes all there are.
_ALL_TAKEN = re.compile(r"\blimit\s+all\b")
#: Behind these a column or a table is named, which may be called limit or offset; behind all else a clause of that name may begin.
_BEFORE_NAME = re.compile(
    r"all|and|as|between|both|by|case|cross|distinct|div|else|escape|except|exists|filter|for|from|having|ilike|in|intersect|is|join|"
    r"lateral|leading|like|minus|not|on|or|outer|over|partition|regexp|rlike|select|some|table|then|trailing|union|using|view|when|where|"
    r"window|with|[.,(\[=<>!+\-*/%|&^~:]"
)
#: These go on behind a name, and begin no number of rows.
_BEHIND_NAME = re.compile(
    r"and|anti|as|asc|between|cluster|collate|cross|desc|distribute|div|else|end|escape|except|for|from|full|group|having|ilike|in|inner|"
    r"intersect|is|join|lateral|like|limit|minus|natural|not|nulls|offset|on|or|order|over|pivot|qualify|regexp|rlike|select|semi|sort|"
    r"tablesample|then|union|unpivot|using|when|where|window|\|>|[.,)\]=<>!*/%|&^:]"
)


class SqlConfig(base.Config):
    query: str = Field(
        min_length=1,
        max_length=100_000,
        description="A Spark SQL query. Inputs are tables by their nodes' names, in small letters with _ for blanks, or as they are in "
        "`back quotes`; a lone one is input, and one from a port of its own has that behind its name: parts_late.",
        examples=["SELECT f.carrier, a.name, avg(f.dep_delay) AS delay FROM flights f JOIN airlines a USING (carrier) GROUP BY ALL"],
        json_schema_extra=hints("sql"),
    )


class SqlFlow(PicksRows, Flow[SqlConfig]):
    """Runs one SQL query over one or more inputs."""

    type = "flow.sql"
    title = "SQL"
    icon = "sql"
    Config = SqlConfig
    real_time: ClassVar[bool] = True
    ports = (Port("in", "input", many=True), Port("out", "output"))
    changes_row_count: ClassVar[bool] = True
    summary_template = "{query}"
    reads_names: ClassVar[bool] = True

    def reads_within(self, config: SqlConfig) -> bool:
        within = _TABLE_WITHIN.sub(" ", _bare(config.query))
        return (_QUERY_WITHIN.search(within) or _ROWS_WITHIN.search(within)) is not None

    def is_stateful(self, config: SqlConfig) -> bool:
        """Grouping, joining, sorting and the like reach across the batches of an input, and so does what reads it twice, or looks
        things up in another."""
        bare = _COLUMNS_EXCEPT.sub("*", _bare(config.query))
        plain = _FROM_WITHIN.sub("", bare.lower())
        read = _READ.findall(plain)
        is_across = _ACROSS_ROWS.search(bare) or _MINUS_FROM.search(plain)
        looks_up = len({*read} - {"values"}) > 1 and _QUERY_WITHIN.search(_TABLE_WITHIN.sub(" ", plain))
        return bool(is_across or looks_up) or _lists_tables(plain) or len(read) > len(set(read)) or _takes_some(config.query)

    def output_mode(self, config: SqlConfig) -> Literal["append", "update"]:
        return "update" if _GROUPED.search(_bare(config.query)) else "append"

    def picks(self, config: SqlConfig) -> bool:
        """Of a query that groups what it picks before is no group yet."""
        picking = {word.lower() for word in _PICKS.findall(_bare(config.query))}
        return "having" in picking or (bool(picking) and self.output_mode(config) == "append")

    def cautions(self, context: NodeContext[SqlConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        return [*_told_by_order(context), *self._growing(context, arriving)]

    def _growing(self, context: NodeContext[SqlConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        """A lone input can only be joined with rows that are written out: a stream reads none of its inputs twice."""
        grows = _GROUPED.search(_bare(context.config.query)) or (len(arriving) > 1 and self.is_stateful(context.config))
        if context.bounded or not grows:
            return ()
        message = (
            "a stream remembers for ever what this query groups, joins or makes distinct; the nodes Window aggregate, Join and "
            "Deduplicate forget it by the rows' time"
        )
        return [Caution("query", message)]

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[SqlConfig]) -> DataFrame:
        inputs = frames["in"]
        query = context.config.query
        tables = query_tables(context.input_names.get("in", ()), context.input_ports.get("in", ()), inputs)
        return selected(query, tables, drawn=context.is_drawn)


def _told_by_order(context: NodeContext[SqlConfig]) -> Iterator[Caution]:
    """Of tables that the query reads and an edge drawn anew may swap."""
    nodes, read = context.input_names.get("in", ()), set(_READ.findall(_bare(context.config.query).lower()))
    names, own = table_names(nodes, len(nodes)), own_names(nodes, context.input_ports.get("in", ()))
    for places in told_by_order(nodes):
        alike = [names[place] for place in places]
        if read.isdisjoint(alike):
            continue
        tables, by_names = " and ".join(alike), [own[place] for place in places]
        message = (
            f"an edge drawn anew may swap {tables}, which nothing but their edges' order tells apart: give their nodes names of their own"
        )
        if all(by_names) and set(names).isdisjoint(by_names):
            better = " and ".join(map(table_word, by_names))
            message = f"an edge drawn anew may swap {tables}, which nothing but their edges' order tells apart: write {better}"
        yield Caution("query", message, "inputs.alike")


def _bare(query: str) -> str:
    """Without what its words might be mistaken for."""
    return _WITHIN_ROW.sub(" = ", _QUOTED_OR_COMMENT.sub(_name_alone, query))


def _name_alone(quoted: re.Match[str]) -> str:
    return quoted["function"] or (quoted["reads"] + re.sub(r"\W", "_", quoted["table"]) if quoted["table"] else " ")


def _takes_some(query: str) -> bool:
    """Whether a LIMIT or an OFFSET stands there as a clause: behind something whole, and before a number in whatever form."""
    words = _WORD.findall(_ALL_TAKEN.sub(" ", _QUOTED_OR_COMMENT.sub(_stand_in, query).lower()))
    return any(
        word in ("limit", "offset") and not _BEFORE_NAME.fullmatch(before) and not _BEHIND_NAME.fullmatch(behind)
        for before, word, behind in zip(words, words[1:], words[2:], strict=False)
    )


def _stand_in(quoted: re.Match[str]) -> str:
    """One word for a text or a name in quotes, and none for a comment."""
    return " " if quoted.group().startswith(("--", "/*")) else f"{quoted['reads'] or ''} _ "


def _lists_tables(query: str) -> bool:
    """Whether a FROM names several tables with commas between them, which joins them."""
    return any(_has_comma(query, found.end()) for found in _FROM.finditer(query))


def _has_comma(query: str, begin: int) -> bool:
    """Whether one stands outside of brackets between `begin` and the clause that follows."""
    depth = 0
    for token in _BEHIND_FROM.finditer(query, begin):
        match token.group():
            case "(":
                depth += 1
            case ")":
                depth -= 1
            case "," if depth == 0:
                return True
            case _ if depth == 0:
                return False
        if depth < 0:
            return False
    return False
