"""What tests/nodes/cases/*.yml hold, and the frames that a case begins with."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


@cache
def _files() -> list[dict[str, Any]]:
    return [
        yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        for file in sorted((Path(__file__).parent / "cases").glob("*.yml"))
    ]


def types_with_cases() -> set[str]:
    return {file["type"] for file in _files()}


def cases() -> list[Any]:
    found = []
    for spec in _files():
        found += [pytest.param(spec["type"], case, id=f"{spec['type']}: {case['name']}") for case in spec.get("cases", [])]
    return found


def inputs_of(case: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Frames by port: those of a lone port `in` are written without its name."""
    given = case.get("input", [])
    if isinstance(given, dict) and "schema" not in given:
        return {port: [frame] for port, frame in given.items()}
    return {"in": given if isinstance(given, list) else [given]}


def frame_of(spark: SparkSession, given: dict[str, Any]) -> DataFrame:
    """Rows as JSON values, read into the schema by Spark itself, so that times and decimals may be written as text.

    `as`: columns that expressions over the others then become, such as nested ones.
    """
    columns = re.findall(r"(`[^`]+`|\w+) (\w+(?:\([^)]*\)|<[^>]*>)?)(?:, |$)", given["schema"])
    if not given["rows"]:
        return spark.createDataFrame([], given["schema"])
    texts = [tuple(None if value is None else str(value) for value in row) for row in given["rows"]]
    raw = spark.createDataFrame(texts, ", ".join(f"`{part}` string" for part in range(len(columns))))
    frame = raw.selectExpr(*(f"CAST(`{part}` AS {declared}) AS `{name.strip('`')}`" for part, (name, declared) in enumerate(columns)))
    return frame.withColumns({name: F.expr(text) for name, text in given.get("as", {}).items()})
