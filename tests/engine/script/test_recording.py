"""What a flow asks of PySpark, recorded and run as a script, gives what the flow gives: every case of every flow."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession, functions

from jobs.engine.script.recording import name_given, recorded
from jobs.nodes.base import Routed
from tests.nodes.case_files import cases, frame_of, inputs_of
from tests.nodes.conftest import Build, build, root  # noqa: F401

pytestmark = pytest.mark.spark
#: They hand Python functions of their own to Spark.
_NOT_RECORDED = {"flow.python", "flow.stateful"}


def _flows() -> list[Any]:
    return [
        case
        for case in cases()
        if case.values[0].startswith("flow.")
        and "error" not in case.values[1]
        and case.values[0] not in _NOT_RECORDED
        and not case.values[1].get("context", {}).get("is_run")  # a script is no run
    ]


@pytest.mark.parametrize(("type_name", "case"), _flows())
def test_a_flow_recorded(spark: SparkSession, build: Build, type_name: str, case: dict[str, Any]):  # noqa: F811
    inputs = {port: [frame_of(spark, given) for given in frames] for port, frames in inputs_of(case).items()}
    names = {port: tuple(given.get("node", "") for given in frames) for port, frames in inputs_of(case).items()}
    built = build(type_name, case.get("config", {}), input_names=names, **case.get("context", {}))
    known = {}
    for port, frames in inputs.items():
        for number, frame in enumerate(frames):
            known[f"{port}_{number}"] = name_given(frame, f"{port}_{number}")
    with recorded() as recording:
        done = built.node.apply(inputs, built.context)
        ports = {"out": done} if isinstance(done, DataFrame) else done
        if isinstance(done, Routed):
            ports = {port: done.frame.filter(chosen).drop(*done.helpers) for port, chosen in done.ports.items()}
        codes = {port: recording.code_of(frame).text() for port, frame in ports.items()}
    scope = {"spark": spark, "F": functions, **known}
    exec("\n".join([*sorted(recording.imports), *recording.lines]), scope)
    for port, code in codes.items():
        again = eval(code, scope)
        assert again.schema == ports[port].schema
        if "sample" not in type_name:
            assert sorted(map(str, again.collect())) == sorted(map(str, ports[port].collect()))
