"""Budgets and single doors that no linter checks."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("pipeline_web", "jobs", "checkpoints", "scripts")
LONGEST_FUNCTION = 40
LONGEST_FILE = 300
VAGUE_NAMES = {"utils", "helpers", "common", "manager", "misc", "util", "helper"}


def product_files() -> Iterator[Path]:
    for package in PACKAGES:
        yield from (path for path in sorted((ROOT / package).rglob("*.py")) if "migrations" not in path.parts)


def frontend_files() -> Iterator[Path]:
    for pattern in ("*.ts", "*.tsx", "*.css"):
        for path in sorted((ROOT / "frontend" / "src").rglob(pattern)):
            if ".gen." not in path.name and not re.search(r"\.(test|spec)\.", path.name):
                yield path


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(parsed(path)))


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def calls(path: Path) -> Iterator[tuple[int, str]]:
    """Every call of a dotted name, as (line, `a.b.c`); links that are not names (calls, subscripts) are left out."""
    for node in nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names: list[str] = []
            link: ast.expr = node.func
            while not isinstance(link, ast.Name):
                if isinstance(link, ast.Attribute):
                    names.append(link.attr)
                    link = link.value
                elif isinstance(link, ast.Call):
                    link = link.func
                elif isinstance(link, ast.Subscript):
                    link = link.value
                else:
                    break
            yield node.lineno, ".".join(reversed(names))


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of code: the docstring is not counted."""
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    docstring = first.end_lineno - first.lineno + 1 if documented and first.end_lineno else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring


def test_no_function_is_longer_than_its_budget() -> None:
    long = [
        f"{shown(path)}:{node.lineno} {node.name} has {lines_of(node)} lines"
        for path in product_files()
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > LONGEST_FUNCTION
    ]
    assert not long, "\n".join(long)


def test_no_file_is_longer_than_its_budget() -> None:
    long = [
        f"{shown(path)} has {count} lines"
        for path in [*product_files(), *frontend_files()]
        if (count := len(path.read_text().splitlines())) > LONGEST_FILE
    ]
    assert not long, "\n".join(long)


def test_every_module_starts_with_a_sentence() -> None:
    silent = [shown(path) for path in product_files() if parsed(path).body and not ast.get_docstring(parsed(path))]
    assert not silent, "\n".join(silent)


def test_no_file_has_a_name_that_says_nothing() -> None:
    vague = [shown(path) for path in [*product_files(), *frontend_files()] if path.stem in VAGUE_NAMES or path.parent.name in VAGUE_NAMES]
    assert not vague, "\n".join(vague)


def test_only_services_change_rows() -> None:
    writes = re.compile(r"objects\b.*\.(create|bulk_create|update|bulk_update|delete|get_or_create|update_or_create)$|(^|\.)save$")
    elsewhere = {"services", "models", "apps.py", "scripts", "nodes", "engine"}  # the last two know no rows: their `save` is Spark's
    # A store of checkpoints that is a table holds files there, no facts.
    writers = {Path("checkpoints/services.py"), Path("checkpoints/cleaning.py"), Path("checkpoints/database_storage.py")}
    wrong = [
        f"{shown(path)}:{line} {name}"
        for path in product_files()
        if not elsewhere & set(path.relative_to(ROOT).parts) and path.relative_to(ROOT) not in writers
        for line, name in calls(path)
        if writes.search(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_queue_puts_work_on_celery() -> None:
    enqueues = re.compile(r"(^|\.)(delay|apply_async|send_task|control\.broadcast)$")
    wrong = [
        f"{shown(path)}:{line} {name}"
        for path in product_files()
        if path.relative_to(ROOT) != Path("jobs/queue.py")
        for line, name in calls(path)
        if enqueues.search(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_module_of_checkpoints_has_its_layer() -> None:
    layers = (ROOT / "pyproject.toml").read_text()
    modules = {path.stem for path in (ROOT / "checkpoints").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    without = {name for name in modules - {"__init__", "apps", "migrations", "management"} if f"checkpoints.{name})" not in layers}
    without -= {name for name in without if f'"checkpoints.{name}"' in layers}
    assert not without, f"name them in the layers of pyproject.toml: {sorted(without)}"
