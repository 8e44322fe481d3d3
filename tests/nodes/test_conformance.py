"""Every node type and connection kind that the registry knows is described well enough to be used without its source."""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from jobs.dag.catalogue import NodeTypeSpec
from jobs.nodes.base import Source
from jobs.nodes.registry import CONNECTION_KINDS, NODE_TYPES, REGISTRY, NodeRegistry
from tests.nodes.case_files import types_with_cases

SPECS = list(REGISTRY.catalogue().values())
WIDGETS = {"expression", "sql", "column", "columns", "connection", "path", "code", "duration", "textarea", "mapping"}


def fields_of(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fields of a form and of the rows of its lists."""
    for name, field in schema["properties"].items():
        yield name, field
        if "properties" in field.get("items", {}):
            yield from fields_of(field["items"])


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.type)
def test_a_node_type_is_available_and_says_what_it_does(spec: NodeTypeSpec):
    assert spec.available, spec.unavailable_reason
    assert spec.type.split(".")[0] == spec.family
    assert spec.help.endswith(".")
    assert len(spec.help) <= 140
    assert spec.title
    assert spec.icon
    assert spec.ports
    assert spec.job_types


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.family != "flow"], ids=lambda spec: spec.type)
def test_a_source_or_sink_states_boundedness_and_guarantee(spec: NodeTypeSpec):
    text = spec.guarantee.lower()
    assert "bounded" in text
    assert "exactly once" in text or "at least once" in text
    node_type = REGISTRY.get(spec.type)
    assert node_type is not None
    assert getattr(node_type, "guarantee", "") in text
    if issubclass(node_type, Source):
        assert spec.boundedness in ("bounded", "unbounded", "both")


def schemas() -> list[Any]:
    kinds = [pytest.param(kind.schema(), id=name) for name, kind in REGISTRY.connection_kinds().items()]
    return [pytest.param(spec.schema, id=spec.type) for spec in SPECS] + kinds


@pytest.mark.parametrize("schema", schemas())
def test_every_field_is_described_with_examples_and_has_a_default_or_is_required(schema: dict[str, Any]):
    Draft202012Validator.check_schema(schema)
    required = set(schema.get("required", []))
    for name, field in fields_of(schema):
        assert field.get("description", "").endswith("."), f"{name} needs a description that ends with a full stop"
        assert field.get("examples"), f"{name} needs examples"
        assert field.get("x-widget") in WIDGETS | {None}
        for example in field["examples"]:
            Draft202012Validator({key: value for key, value in field.items() if key != "default"}).validate(example)
    for name, field in schema["properties"].items():
        assert name in required or "default" in field, f"{name} needs a default, or must be required"


@pytest.mark.parametrize("schema", schemas())
def test_a_form_has_one_level_and_a_list_holds_flat_rows(schema: dict[str, Any]):
    assert "$ref" not in json.dumps(schema)
    for name, field in fields_of(schema):
        assert field.get("type") != "object", f"{name} would nest"
    for field in schema["properties"].values():
        for inner in field.get("items", {}).get("properties", {}).values():
            assert inner.get("type") not in ("array", "object")


@pytest.mark.parametrize("schema", schemas())
def test_a_field_takes_one_kind_of_value_or_none(schema: dict[str, Any]):
    """Of two kinds the form would ask first which one it is to be."""
    for name, field in fields_of(schema):
        kinds = [choice for choice in field.get("anyOf", []) if choice.get("type") != "null"]
        assert len(kinds) < 2, name


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.type)
def test_fields_are_numbered_in_the_order_they_are_written(spec: NodeTypeSpec):
    orders = [field["x-order"] for field in spec.schema["properties"].values()]
    assert orders == sorted(orders)
    assert all(field["title"] for field in spec.schema["properties"].values())


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.type)
def test_defaults_written_in_are_valid_and_stay_as_they_are(spec: NodeTypeSpec):
    node_type = REGISTRY.get(spec.type)
    assert node_type is not None
    resolved = spec.resolved_config({})
    assert spec.resolved_config(resolved) == resolved
    assert {problem.code for problem in spec.config_problems({})} <= {"config.missing", "config.invalid"}
    json.dumps(resolved)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.type)
def test_every_node_type_has_cases(spec: NodeTypeSpec):
    assert spec.type in types_with_cases(), f"add tests/nodes/cases/{spec.type}.yml"


def test_an_unknown_field_and_a_missing_one_are_problems_on_their_place():
    spec = REGISTRY.catalogue()["flow.compute_columns"]
    problems = spec.config_problems({"columns": [{"name": "x", "expresion": "1"}], "a/b": 1})
    assert [(problem.code, problem.pointer, problem.message) for problem in problems] == [
        ("config.missing", "/columns/0/expression", "columns 1: expression is required"),
        ("config.invalid", "/columns/0/expresion", 'there is no setting called "expresion"; did you mean "expression"?'),
        ("config.invalid", "/a~1b", 'there is no setting called "a/b"; there is columns'),
    ]


def test_a_field_that_waits_for_a_parameter_is_not_judged_yet():
    spec = REGISTRY.catalogue()["sink.print"]
    assert spec.config_problems({"rows": "${shown}"}) == []
    assert spec.config_problems({"rows": "$${shown}"}) != []
    assert spec.resolved_config({"rows": "${shown}"}) == {"rows": "${shown}"}


def test_a_type_that_cannot_be_imported_is_shown_as_missing_with_the_reason():
    registry = NodeRegistry({"source.broken": "no_such_package:Source"}, {}, plugins=tuple)
    spec = registry.catalogue()["source.broken"]
    assert not spec.available
    assert "No module named 'no_such_package'" in spec.unavailable_reason
    assert [port.name for port in spec.ports] == ["out"]
    assert spec.config_problems({})[0].code == "node.unavailable"
    assert spec.resolved_config({"a": 1}) == {"a": 1}
    assert registry.get("source.broken") is None


def test_a_plugin_adds_a_type_but_cannot_replace_one_of_ours():
    points = (
        EntryPoint("sink.print", "os:path", "pipeline_web.nodes"),
        EntryPoint("flow.other", "jobs.nodes.flows.filter_rows:FilterRows", "pipeline_web.nodes"),
        EntryPoint("sink.odd", "os:getcwd", "pipeline_web.nodes"),
    )
    catalogue = NodeRegistry(NODE_TYPES, {}, plugins=lambda: points).catalogue()
    assert catalogue["sink.print"].available
    assert 'its class says it is "flow.filter_rows"' in catalogue["flow.other"].unavailable_reason
    assert "does not name a class below Source, Flow or Sink" in catalogue["sink.odd"].unavailable_reason


@pytest.mark.slow
def test_the_catalogue_is_made_without_importing_spark():
    load = "from jobs.nodes.registry import REGISTRY; REGISTRY.catalogue(); REGISTRY.connection_kinds()"
    code = f"import sys; {load}; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", list(CONNECTION_KINDS))
def test_a_connection_kind_keeps_secrets_apart_from_its_settings(name: str):
    kind = REGISTRY.connection_kinds()[name]
    assert kind.kind == name
    assert kind.title
    assert kind.icon
    assert not set(kind.secrets) & set(kind.Config.model_fields)
