"""From a document to a Plan: everything is resolved, or every problem is told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobs.dag.document import DagDocument
from jobs.engine.compiler import PlanInvalid, plan_compile, settings_resolve
from jobs.engine.plan import Locations, Plan, Settings
from jobs.nodes.base import Limits
from jobs.nodes.registry import REGISTRY
from tests.engine.graphs import document, files, keep, numbers


def compiled(read: DagDocument, **parameters: Any) -> Plan:
    return plan_compile(
        read,
        job_uid="uid",
        generation="generation",
        attempt=3,
        fresh=True,
        parameters=parameters,
        settings=Settings(),
        connections={},
        locations=Locations(Path("live"), Path("work")),
        limits=Limits(),
        registry=REGISTRY,
    )


def test_steps_stand_in_the_order_in_which_rows_flow() -> None:
    plan = compiled(document({"z": numbers(), "m": keep("true"), "a": files("out")}, "z>m, m>a"))
    assert [step.node_id for step in plan.steps] == ["z", "m", "a"]
    assert plan.steps[1].inputs == {"in": (("z", "out"),)}
    assert plan.steps[1].edges == {"in": ("e1",)}


def test_parameters_are_filled_in_with_their_types() -> None:
    nodes = {"gen": ("source.generator", {"total_rows": "${rows}"}), "big": keep("value > ${least}"), "out": files("out")}
    parameters = {"rows": {"type": "integer"}, "least": {"type": "number", "default": 2.5}}
    plan = compiled(document(nodes, "gen>big, big>out", parameters=parameters), rows="7")
    configs = {step.node_id: step.config.model_dump() for step in plan.steps}
    assert (configs["gen"]["total_rows"], configs["big"]["condition"]) == (7, "value > 2.5")


def test_a_parameter_that_is_all_of_a_text_is_the_text_of_its_value() -> None:
    nodes = {"gen": numbers(), "big": keep("${all}"), "out": ("sink.file", {"path": "${day}", "partition_by": ["${part}", "id"]})}
    parameters = {"day": {"type": "integer", "default": 7}, "part": {"type": "number"}, "all": {"type": "boolean", "default": True}}
    plan = compiled(document(nodes, "gen>big, big>out", parameters=parameters), day=20260102, part=2.5)
    configs = {step.node_id: step.config.model_dump() for step in plan.steps}
    assert configs["out"]["path"] == "20260102"
    assert configs["out"]["partition_by"] == ("2.5", "id")
    assert configs["big"]["condition"] == "true"


def test_a_parameter_without_a_value_is_a_problem() -> None:
    read = document(
        {"gen": ("source.generator", {"total_rows": "${rows}"}), "out": files("out")}, "gen>out", parameters={"rows": {"type": "integer"}}
    )
    with pytest.raises(PlanInvalid) as caught:
        compiled(read)
    assert [problem.code for problem in caught.value.problems] == ["parameter.missing"]


def test_a_document_with_problems_never_becomes_a_plan() -> None:
    with pytest.raises(PlanInvalid) as caught:
        compiled(document({"gen": ("source.generator", {"total_rows": -1}), "out": files("out")}, "gen>out"))
    assert caught.value.problems[0].pointer == "/nodes/gen/config/total_rows"


def test_a_value_that_only_fails_once_filled_in_is_a_problem_on_its_field() -> None:
    read = document(
        {"gen": ("source.generator", {"total_rows": "${rows}"}), "out": files("out")}, "gen>out", parameters={"rows": {"type": "integer"}}
    )
    with pytest.raises(PlanInvalid) as caught:
        compiled(read, rows=-5)
    assert (caught.value.problems[0].node_id, caught.value.problems[0].pointer) == ("gen", "/nodes/gen/config/total_rows")
    assert caught.value.problems[0].message == '"Gen": total rows must be greater than or equal to 0'


def test_config_stands_over_the_document_and_the_document_over_the_default() -> None:
    read = document({"gen": numbers(), "out": files("out")}, "gen>out", settings={"checkpoint_interval": "30s", "parallelism": 4})
    settings = settings_resolve(read, {"checkpoint.interval": "1500"}, Settings(retry_interval=9.0))
    assert (settings.checkpoint_interval, settings.parallelism, settings.retry_interval) == (1.5, 4, 9.0)
    assert settings.trigger_interval == 0.1


def test_a_job_that_says_nothing_of_its_checkpoints_keeps_the_defaults() -> None:
    given = Settings(checkpoint_rows=500, checkpoint_on_cancel="delete")
    settings = settings_resolve(document({"gen": numbers(), "out": files("out")}, "gen>out"), {}, given)
    assert settings == replace(given, trigger_interval=0.1)
    before = Settings()
    assert (before.checkpoint_interval, before.checkpoint_rows, before.checkpoint_timeout) == (60.0, 0, 300.0)
    assert (before.checkpoint_tolerable_failures, before.checkpoint_on_cancel, before.checkpoint_on_completion) == (-1, "keep", "keep")


def test_config_and_document_say_when_checkpoints_are_taken() -> None:
    written = {"checkpoint_rows": 1000, "checkpoint_each_page": True, "checkpoint_timeout": "2 min", "checkpoint_min_pause": "500ms"}
    read = document({"gen": numbers(), "out": files("out")}, "gen>out", settings=written)
    settings = settings_resolve(read, {"checkpoint.min.pause": "2000", "checkpoint.on.cancel": "DELETE", "checkpoint.each.page": "false"})
    assert (settings.checkpoint_rows, settings.checkpoint_timeout, settings.checkpoint_min_pause) == (1000, 120.0, 2.0)
    assert (settings.checkpoint_each_page, settings.checkpoint_on_cancel) == (False, "delete")


def test_a_config_value_that_is_no_number_is_named() -> None:
    read = document({"gen": numbers(), "out": files("out")}, "gen>out")
    with pytest.raises(ValueError, match='"parallelism" must be a whole number, not "many"'):
        settings_resolve(read, {"parallelism": "many"})
