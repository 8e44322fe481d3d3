"""`make check`: the quick gate. Style, types, layers and unit tests of both halves, some steps at a time."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scripts.bundle import BundleTooLarge, bundle_check
from scripts.frontend import FRONTEND, FrontendBroken, frontend_build, frontend_install, node_folder

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
#: What needs neither Spark, nor a server beyond Redis, nor a browser, and takes moments.
UNIT = "not spark and not server and not postgres and not e2e and not slow and not disk"
#: Each part a third of their time: they run beside each other.
NODES, ROWS = ("tests/nodes", "tests/dag", "tests/live", "tests/reporting"), ("tests/api", "tests/checkpoints")
#: Properties are tried with as many examples here; with all of them in `make test`.
FEWER_EXAMPLES = ["--hypothesis-profile", "quick"]
#: Unchanged files are not looked at again; a clean checkout has none of these.
ESLINT_CACHE = ["--cache", "--cache-strategy", "content", "--cache-location", "node_modules/.cache/eslint"]
TSC_CACHE = ["--incremental", "--tsBuildInfoFile", "node_modules/.cache/tsc.tsbuildinfo"]
PASSED = FRONTEND / "node_modules" / ".cache" / "passed"
#: All that the tests of the browser's half read.
FRONTEND_INPUTS = ("src", "package-lock.json", "tsconfig.json", "vite.config.ts")


@dataclass(frozen=True)
class Step:
    name: str
    command: Sequence[str]
    cwd: Path = ROOT
    #: What its outcome depends on, below `cwd`: it is not run again while that is as it was when it passed. Without any, always.
    inputs: Sequence[str] = ()

    @property
    def mark(self) -> Path:
        """The file that holds what its inputs were when it passed."""
        return PASSED / self.name

    def digest(self) -> str:
        """Of the contents of its inputs."""
        found = hashlib.sha256()
        for path in sorted(file for name in self.inputs for file in _files(self.cwd / name)):
            found.update(f"{path.relative_to(self.cwd)} {path.stat().st_size}\n".encode() + path.read_bytes())
        return found.hexdigest()


@dataclass(frozen=True)
class Result:
    step: Step
    code: int
    seconds: float
    output: str


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def python_steps(options: Sequence[str] = ()) -> list[Step]:
    """`options`: of each run of unit tests."""
    tool = Path(PYTHON).parent
    unit_tests = [PYTHON, "-m", "pytest", "-q", "-m", UNIT, *options]
    return [
        Step("mypy", [PYTHON, "-m", "mypy"]),
        Step("unit tests of nodes and reports", [*unit_tests, *NODES]),
        Step("unit tests of rows", [*unit_tests, *ROWS]),
        Step("other unit tests", [*unit_tests, *(f"--ignore={folder}" for folder in (*NODES, *ROWS))]),
        Step("ruff check", [str(tool / "ruff"), "check", "."]),
        Step("ruff format", [str(tool / "ruff"), "format", "--check", "."]),
        Step("layers", [str(tool / "lint-imports"), "--no-cache"]),
    ]


def frontend_steps() -> list[Step]:
    node = str(node_folder() / "bin" / "node")
    return [
        Step("eslint", [node, "node_modules/eslint/bin/eslint.js", ".", "--max-warnings", "0", *ESLINT_CACHE], FRONTEND),
        Step("tsc", [node, "node_modules/typescript/bin/tsc", "--noEmit", "-p", ".", *TSC_CACHE], FRONTEND),
        Step("vitest", [node, "node_modules/vitest/vitest.mjs", "run"], FRONTEND, FRONTEND_INPUTS),
    ]


def step_run(step: Step, *, gently: bool = False) -> Result:
    digest = step.digest() if step.inputs else ""
    if digest and step.mark.exists() and step.mark.read_text() == digest:
        print(f"ok   {step.name} (nothing changed since it passed)", flush=True)
        return Result(step, 0, 0.0, "")
    began = time.monotonic()
    environment = {**os.environ, "FORCE_COLOR": "0", "PYTHONUNBUFFERED": "1"}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = ["nice", "-n", "3", *step.command] if gently else step.command
    done = subprocess.run(command, cwd=step.cwd, env=environment, check=False, **streams)
    result = Result(step, done.returncode, time.monotonic() - began, done.stdout)
    print(f"{'ok  ' if result.code == 0 else 'FAIL'} {step.name} ({result.seconds:.1f} s)", flush=True)
    if digest and result.code == 0:
        PASSED.mkdir(parents=True, exist_ok=True)
        step.mark.write_text(digest)
    return result


def bundle_problem() -> str:
    """Why the built front end does not pass; empty when it does."""
    try:
        frontend_build()
        print(bundle_check(FRONTEND / "dist"), flush=True)
    except (FrontendBroken, BundleTooLarge) as error:
        return str(error)
    return ""


def checks_run(test_options: Sequence[str] = (), *, gently: bool = False) -> bool:
    """Whether all passed. `test_options`: of pytest; `gently`: what runs beside them, and is waited for, has the processors first."""
    began = time.monotonic()
    try:
        frontend_install()
    except FrontendBroken as error:
        print(error)
        return False
    # Two more than there are processors: unit tests wait, too, and nothing else is left behind the longest of them.
    with ThreadPoolExecutor(max_workers=2 + max(2, os.cpu_count() or 2)) as pool:
        results = list(pool.map(partial(step_run, gently=gently), python_steps(test_options) + frontend_steps()))
    problem = bundle_problem()
    for result in results:
        if result.code:
            print(f"\n── {result.step.name} ──\n{result.output}")
    if problem:
        print(f"\n── bundle ──\n{problem}")
    passed = not problem and not any(result.code for result in results)
    print(f"\n{'All checks passed' if passed else 'Checks failed'} in {time.monotonic() - began:.0f} s", flush=True)
    return passed


if __name__ == "__main__":
    raise SystemExit(0 if checks_run(FEWER_EXAMPLES) else 1)
