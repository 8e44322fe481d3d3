"""What `run_job --live` finds in its folder: a position to go on from, or one that it must leave alone."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobs.driver.run_folder import run_keep, run_to_keep
from jobs.engine.compiler import PlanInvalid
from tests.engine.graphs import document

NUMBERS = ("source.generator", {"total_rows": 10})
PRINT: tuple[str, dict[str, Any]] = ("sink.print", {})
SUMS = ("flow.aggregate", {"group_by": ["id"], "aggregates": [{"name": "n", "function": "count"}]})


def drawn(*, job_type: str = "STREAMING", name: str = "numbers", **nodes: Any) -> Any:
    found = {"gen": NUMBERS, "some": ("flow.filter_rows", {"condition": "id > 1"}), "out": PRINT, **nodes}
    return document(found, "gen>some, some>out", type=job_type, name=name)


def refusal(root: Path, *given: Any) -> list[str]:
    with pytest.raises(PlanInvalid) as refused:
        run_to_keep(root, *given)
    return [problem.message for problem in refused.value.problems]


def test_a_document_goes_on_where_it_was(tmp_path: Path) -> None:
    first, warnings = run_to_keep(tmp_path, drawn(), {})
    assert not warnings
    run_keep(tmp_path, first)
    assert run_to_keep(tmp_path, drawn(), {}) == (first, ())


def test_a_change_that_is_harmless_is_told(tmp_path: Path) -> None:
    first, _ = run_to_keep(tmp_path, drawn(), {})
    run_keep(tmp_path, first)
    again, warnings = run_to_keep(tmp_path, drawn(some=("flow.filter_rows", {"condition": "id > 2"})), {})
    assert again.generation == first.generation
    assert [change.code for change in warnings] == ["rows"]


def test_a_change_that_gives_wrong_numbers_is_refused(tmp_path: Path) -> None:
    run_keep(tmp_path, run_to_keep(tmp_path, drawn(), {})[0])
    obstacle, way_out = refusal(tmp_path, drawn(some=SUMS), {})
    assert '"Some": It keeps state and is new in a query that goes on' in obstacle
    assert "made by another drawing: go on with the document that made it, or name another folder" in way_out


def test_a_document_of_another_name_is_refused(tmp_path: Path) -> None:
    run_keep(tmp_path, run_to_keep(tmp_path, drawn(), {})[0])
    assert 'belongs to "numbers"' in refusal(tmp_path, drawn(name="others"), {})[0]


def test_a_source_that_was_taken_out_does_not_come_back(tmp_path: Path) -> None:
    def united(*sources: str) -> Any:
        nodes = dict.fromkeys(sources, NUMBERS) | {"all": ("flow.union", {}), "out": PRINT}
        return document(nodes, ", ".join([*(f"{source}>all" for source in sources), "all>out"]), type="STREAMING", name="numbers")

    for sources in [("one", "two", "three"), ("one", "two")]:
        run_keep(tmp_path, run_to_keep(tmp_path, united(*sources), {})[0])
    assert "taken out and comes back" in refusal(tmp_path, united("one", "two", "three"), {})[0]


def test_a_folder_of_an_older_release_goes_on_and_then_knows_its_document(tmp_path: Path) -> None:
    (tmp_path / "run_job.json").write_text(json.dumps({"job": "numbers", "generation": "of-old"}))
    run, _ = run_to_keep(tmp_path, drawn(), {})
    assert run.generation == "of-old"
    run_keep(tmp_path, run)
    assert refusal(tmp_path, drawn(some=SUMS), {})


@pytest.mark.parametrize(("is_completed", "goes_on"), [(True, False), (False, True)])
def test_what_reads_everything_at_once_begins_anew_once_it_is_completed(tmp_path: Path, is_completed: bool, goes_on: bool) -> None:
    first, _ = run_to_keep(tmp_path, drawn(job_type="SQL_TASK"), {})
    run_keep(tmp_path, replace(first, is_completed=is_completed))
    again, _ = run_to_keep(tmp_path, drawn(job_type="SQL_TASK"), {})
    assert (again.generation == first.generation) == goes_on
    assert not again.is_completed
