"""Rules that rows have to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add, or_
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import REJECTED, Flow, NodeContext, NodeError
from jobs.nodes.columns import column
from jobs.nodes.config_refused import ConfigRefused, place_of_second
from jobs.nodes.expressions import expression, expressions_of
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.groups import PicksRows
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.worker_errors import node_error_raised

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SHOWN_CHARACTERS = 500
_BREAKS_ONE = 'it breaks the rule "{name}"'
_BREAKS_SEVERAL = "it breaks the rules {names}"


class Rule(base.Config):
    name: ColumnName = Field(description="What the rule is called in the log and beside a rejected row.", examples=["delay is known"])
    condition: str = Field(
        min_length=1,
        description="A Spark SQL expression; a row for which it is false or null breaks the rule.",
        examples=["dep_delay is not null"],
        json_schema_extra=hints("expression"),
    )
    action: Literal["warn", "drop", "fail"] = Field(
        "drop",
        description="What a broken rule does: the row goes on and is counted, the row is rejected, or the job fails.",
        examples=["warn"],
    )


class ExpectationsConfig(base.Config):
    rules: tuple[Rule, ...] = Field(
        min_length=1,
        max_length=100,
        description="All rules are asked of each row; how many rows break each stands on the page of a run, and in the log of every batch.",
        examples=[[{"name": "delay is known", "condition": "dep_delay is not null", "action": "warn"}]],
        json_schema_extra=hints("mapping"),
    )
    report_column: str = Field(
        "",
        max_length=255,
        pattern=r"^[^\r\n]*$",
        description="A column for the names of the rules with warn that a row breaks; empty adds none.",
        examples=["warnings"],
    )

    @model_validator(mode="after")
    def _each_rule_once(self) -> ExpectationsConfig:
        names = [rule.name for rule in self.rules]
        if (second := place_of_second(names)) is not None:
            raise ConfigRefused(f'two rules are called "{names[second]}": give each its own name', "rules", second, "name")
        return self


class Expectations(PicksRows, Flow[ExpectationsConfig]):
    """Asks named rules of each row: who breaks one is counted, rejected, or ends the job."""

    type = "flow.expectations"
    title = "Expectations"
    icon = "checklist"
    Config = ExpectationsConfig
    real_time: ClassVar[bool] = True
    rejects_rows: ClassVar[bool] = True
    summary_template = "{rules}"

    def picks(self, config: ExpectationsConfig) -> bool:
        return any(rule.action == "drop" for rule in config.rules)

    def tallies(self, config: ExpectationsConfig) -> Mapping[str, Column]:
        return {rule.name: _broken(rule) for rule in config.rules}

    def tally_words(self, config: ExpectationsConfig, name: str) -> str:
        return next(f'the rule "{rule.name}" ({rule.action})' for rule in config.rules if rule.name == name)

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[ExpectationsConfig]) -> DataFrame:

        (frame,) = frames["in"]
        config = context.config
        for number, rule in enumerate(config.rules):
            with expressions_of(rule.name, f"rules/{number}/condition", frame):
                frame.filter(expression(rule.condition))  # as it is written: what Spark says of it is about that
        reason = _reason(frame, config, context.node_id).alias(REJECTED)
        kept = [column(name) for name in frame.columns]
        if not config.report_column:
            return frame.select(*kept, reason)
        if config.report_column.lower() in {name.lower() for name in frame.columns}:
            message = f"there is a column {config.report_column} already: choose another"
            raise NodeError(message, permanent=True, kind="user", field="report_column")
        return frame.select(*kept, _warned(config.rules).alias(config.report_column), reason)


def rule_broken(name: str) -> str:
    """How it is told that a row ends the job."""
    return f'a row breaks the rule "{name}": '


def _broken(rule: Rule) -> Column:
    from pyspark.sql import functions as F

    return ~F.coalesce(expression(rule.condition), F.lit(False))


def _reason(frame: DataFrame, config: ExpectationsConfig, node_id: str) -> Column:
    """Null where the row goes on. A broken rule that fails raises here, where every row is looked at anyhow."""
    from pyspark.sql import functions as F

    row = F.substring(F.to_json(F.struct(*(column(name) for name in frame.columns)), JSON_AS_WRITTEN), 1, _SHOWN_CHARACTERS)
    reason = _dropped([rule for rule in config.rules if rule.action == "drop"])
    for rule in reversed([rule for rule in config.rules if rule.action == "fail"]):
        words = F.concat(F.lit(rule_broken(rule.name)), row, F.lit("; mend the data, or let the rule warn or drop"))
        reason = F.when(_broken(rule), node_error_raised(words, node_id)).otherwise(reason)
    return reason


def _dropped(rules: Sequence[Rule]) -> Column:
    """The names of all `rules` that a row breaks, in words; null where it breaks none."""
    from pyspark.sql import functions as F

    if not rules:
        return F.lit(None).cast("string")
    if len(rules) == 1:
        return F.when(_broken(rules[0]), F.lit(_BREAKS_ONE.format(name=rules[0].name)))
    broken = [_broken(rule) for rule in rules]
    one, several = _BREAKS_ONE.partition('"{name}"')[0], _BREAKS_SEVERAL.partition("{names}")[0]
    begun = F.when(reduce(add, (is_broken.cast("int") for is_broken in broken)) == 1, F.lit(one)).otherwise(F.lit(several))
    # A function over a list, such as `array_compact`, Spark would not compile: the whole stage fell into three.
    names = F.concat_ws(", ", *(F.when(is_broken, F.lit(f'"{rule.name}"')) for is_broken, rule in zip(broken, rules, strict=True)))
    return F.when(reduce(or_, broken), F.concat(begun, names))  # words for those that break one alone


def _warned(rules: Sequence[Rule]) -> Column:
    """The names of those with warn that a row breaks."""
    from pyspark.sql import functions as F

    warned = [F.when(_broken(rule), F.lit(rule.name)).otherwise(F.lit("")) for rule in rules if rule.action == "warn"]
    return F.array_remove(F.array(*warned), "") if warned else F.array().cast("array<string>")
