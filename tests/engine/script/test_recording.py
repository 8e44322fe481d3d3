"""What a flow asks of PySpark, recorded and run as a script, gives what the flow gives: every case of every flow."""

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession, functions

from jobs.engine.script.recording import name_given, recorded
from jobs.nodes.base import REJECTED, Routed
from tests.nodes.case_files import cases, frame_of, inputs_of
from tests.nodes.conftest import Build, build, root  # noqa: F401

pytestmark = pytest.mark.spark
#: Their cases are those of a look, in which they call nobody and do not wait; a script does: see test_script_processes.
_ACTING = {"flow.for_each", "flow.for_each_mail", "flow.for_each_python", "flow.rate_limit"}


#: Of each flow in the quick run.
_FEW = 2


def _flows() -> list[Any]:
    chosen = [
        case
        for case in cases()
        if case.values[0].startswith("flow.")
        and case.values[0] not in _ACTING
        and "error" not in case.values[1]
        and not case.values[1].get("context", {}).get("is_run")  # a script is no run
    ]
    by_flow = groupby(chosen, key=lambda case: case.values[0])
    return [_left_to_faults(case, number >= _FEW) for _, of_flow in by_flow for number, case in enumerate(of_flow)]


def _left_to_faults(case: Any, is_left: bool) -> Any:
    return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.faults] if is_left else case.marks)


def _shown(frame: DataFrame) -> list[str]:
    """Without the clock, which a reason may name."""
    return sorted(re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00:00", "now", str(row)) for row in frame.collect())


def _columns(frame: DataFrame) -> list[Any]:
    """Without what only this product reads of the column REJECTED."""
    return [(field.name, field.dataType, field.nullable, field.name == REJECTED or field.metadata) for field in frame.schema.fields]


def _by_port(done: Any) -> Any:
    if isinstance(done, Routed):
        return {port: done.frame.filter(chosen).drop(*done.helpers) for port, chosen in done.ports.items()}
    return {"out": done} if isinstance(done, DataFrame) else done


@pytest.mark.parametrize(("type_name", "case"), _flows())
def test_a_flow_recorded(spark: SparkSession, build: Build, type_name: str, case: dict[str, Any], tmp_path: Path):  # noqa: F811
    inputs = {port: [frame_of(spark, given) for given in frames] for port, frames in inputs_of(case).items()}
    names = {port: tuple(given.get("node", "") for given in frames) for port, frames in inputs_of(case).items()}
    built = build(type_name, case.get("config", {}), input_names=names, for_script=True, **case.get("context", {}))
    run = build(type_name, case.get("config", {}), input_names=names, **case.get("context", {}))
    expected = _by_port(run.node.apply(inputs, run.context))
    known = {}
    for port, frames in inputs.items():
        for number, frame in enumerate(frames):
            known[f"{port}_{number}"] = name_given(frame, f"{port}_{number}")
    with recorded() as recording:
        ports = _by_port(built.node.apply(inputs, built.context))
        codes = {port: recording.code_of(frame).text() for port, frame in ports.items()}
    scope = {"__name__": "__main__", "spark": spark, "F": functions, **known}
    place = tmp_path / "script.py"  # where Python finds the lines that raise
    taken = recording.taken
    first = ["from __future__ import annotations", *sorted(recording.imports | taken.imports)]
    place.write_text("\n".join([*first, *taken.texts(), *recording.lines]), encoding="utf-8")
    exec(compile(place.read_text(encoding="utf-8"), str(place), "exec"), scope)
    for port, code in codes.items():
        again = eval(code, scope)
        assert _columns(again) == _columns(expected[port])
        if "sample" not in type_name:
            assert _shown(again) == _shown(expected[port])
