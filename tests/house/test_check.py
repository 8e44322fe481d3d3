"""What `make check` runs, and what it need not run again."""

import sys
from pathlib import Path

import pytest

from scripts import check
from scripts.check import Step, step_run


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Step:
    """Fails where its input says so, and counts its runs."""
    monkeypatch.setattr(check, "PASSED", tmp_path / "passed")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "input").write_text("good")
    code = "open('runs', 'a').write('x'); raise SystemExit(open('src/input').read() == 'bad')"
    return Step("a step", [sys.executable, "-S", "-c", code], tmp_path, ("src",))


def outcome(step: Step, content: str) -> tuple[int, int]:
    (step.cwd / "src" / "input").write_text(content)
    code = step_run(step).code
    return code, len((step.cwd / "runs").read_text())


def test_a_step_whose_inputs_are_as_they_were_when_it_passed_is_not_run_again(step: Step):
    assert [outcome(step, content) for content in ("good", "good", "other", "good")] == [(0, 1), (0, 1), (0, 2), (0, 3)]


def test_a_step_that_failed_is_run_again(step: Step):
    assert [outcome(step, content) for content in ("bad", "bad", "good")] == [(1, 1), (1, 2), (0, 3)]
