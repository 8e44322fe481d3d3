"""Runs tests/nodes/cases/*.yml: input rows or files and a config in, rows, rejected rows or an error out."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import REJECTED, Batch, NodeError, Routed
from jobs.nodes.misfits import reason_told
from tests.nodes.case_files import cases, frame_of, inputs_of
from tests.nodes.conftest import Build, Built

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("type_name", "case"), cases())
def test_case(spark: SparkSession, build: Build, root: Path, type_name: str, case: dict[str, Any]):
    for name, content in case.get("files", {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")
    if "error" in case:
        with pytest.raises(Exception, match=case["error"]) as caught:
            _check(_run(spark, build, type_name, case), case | {"expected": []})
        if "permanent" in case:
            assert isinstance(caught.value, NodeError)
            assert caught.value.permanent is case["permanent"]
            assert caught.value.field == case.get("field", caught.value.field)
        return
    _check(_run(spark, build, type_name, case), case)


def _check(done: DataFrame | Routed, case: dict[str, Any]) -> None:
    """One frame, or with `ports` the rows of each port in the order of the ports."""
    if isinstance(done, Routed):
        assert list(done.ports) == list(case["ports"])
        for port, expected in case["ports"].items():
            _compare(done.frame.filter(done.ports[port]).drop(*done.helpers), {"expected": expected})
    else:
        _compare(done, case)


def _run(spark: SparkSession, build: Build, type_name: str, case: dict[str, Any]) -> DataFrame | Routed:
    inputs = {port: [frame_of(spark, given) for given in frames] for port, frames in inputs_of(case).items()}
    names = {port: tuple(given.get("node", "") for given in frames) for port, frames in inputs_of(case).items()}
    built = build(type_name, case.get("config", {}), input_names=names, **case.get("context", {}))
    match type_name.split(".")[0]:
        case "source":
            return built.node.read(spark, built.context)
        case "flow":
            return built.node.apply(inputs, built.context)
        case _:
            return _written(spark, built, inputs["in"])


def _written(spark: SparkSession, built: Built, batches: list[DataFrame]) -> DataFrame:
    built.node.begin(spark, batches[0].schema, built.context)
    printed: list[str] = []
    for number, frame in enumerate(batches):
        printed += built.node.write(frame, Batch(number, "node", first_of_fresh_generation=number == 0), built.context).printed
    built.node.close(built.context)
    if built.node.type == "sink.file":
        target = built.context.limits.file_roots[0] / built.context.config.path
        reader = spark.read.format(built.context.config.format)
        return (reader.options(header="true", escape='"') if built.context.config.format == "csv" else reader).load(str(target))
    return spark.createDataFrame([(line,) for line in printed], "line string")


def _compare(frame: DataFrame, case: dict[str, Any]) -> None:
    """Rows as text, in any order unless `ordered`; `columns` checks names and types."""
    rejects = REJECTED in frame.columns
    good = frame.filter(f"{REJECTED} IS NULL").drop(REJECTED) if rejects else frame
    if "columns" in case:
        assert ", ".join(f"{name} {declared}" for name, declared in good.dtypes) == case["columns"]
    rows = [[_text(value) for value in row] for row in good.collect()]
    expected = [[_text(value) for value in row] for row in case["expected"]]
    assert (rows if case.get("ordered") else sorted(rows, key=str)) == (expected if case.get("ordered") else sorted(expected, key=str))
    reasons = sorted(row[0] for row in frame.select(reason_told(frame)).collect() if row[0] is not None) if rejects else []
    assert len(reasons) == len(case.get("rejected", []))
    for reason, wanted in zip(reasons, sorted(case.get("rejected", [])), strict=True):
        assert wanted in reason


def _text(value: Any) -> str | None:
    if isinstance(value, float):
        return f"{value:g}"
    return None if value is None else str(value)
