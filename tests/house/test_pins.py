"""What is installed is pinned, and the pins name no place."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
PYTHON_LOCKS = [lock for lock in LOCKS if lock.name != "jars.lock"]


@pytest.mark.parametrize("lock", [*LOCKS, ROOT / "frontend" / "package-lock.json"], ids=lambda lock: lock.name)
def test_a_lock_names_no_host_and_no_folder(lock: Path) -> None:
    found = re.search(r'"resolved"|\bfile:|/home/|/root/|--(extra-)?index-url|--find-links', lock.read_text())
    assert found is None, found


@pytest.mark.parametrize("lock", PYTHON_LOCKS, ids=lambda lock: lock.name)
def test_every_python_requirement_has_a_version_and_hashes(lock: Path) -> None:
    entries = [entry for entry in re.split(r"\n(?=\S)", lock.read_text()) if entry.strip()]
    assert entries
    for entry in entries:
        name, *hashes = entry.replace("\\\n", "\n").split("\n")
        assert re.match(r"^[a-z0-9._-]+==\S+", name), name
        assert any("--hash=sha256:" in line for line in hashes), name


def test_tests_run_on_the_versions_that_the_product_runs_on() -> None:
    def versions(lock: str) -> dict[str, str]:
        found = re.findall(r"^([a-z0-9._-]+)==([^\s;]+)[^\n]*", (ROOT / "requirements" / lock).read_text(), flags=re.M)
        return dict(found)

    test = versions("test.lock")
    assert {name: test.get(name) for name in versions("run.lock")} == versions("run.lock")


def test_every_direct_requirement_is_in_its_lock() -> None:
    for name in ("run", "test", "uv"):
        locked = (ROOT / "requirements" / f"{name}.lock").read_text()
        for line in (ROOT / "requirements" / f"{name}.in").read_text().splitlines():
            if line and not line.startswith(("#", "-r")):
                requirement = Requirement(line)
                pinned = re.search(rf"^{re.escape(requirement.name)}==([^\s;]+)", locked, flags=re.M)
                assert pinned, f"{line} is not in {name}.lock: make locks"
                assert requirement.specifier.contains(pinned.group(1)), f"{name}.lock is older than {name}.in: make locks"


def test_each_jar_of_ivy_has_a_checksum() -> None:
    ivy, lock = ((ROOT / "requirements" / name).read_text() for name in ("ivy.xml", "jars.lock"))
    wanted = {f"{name}-{version}.jar" for name, version in re.findall(r'name="([^"]+)" rev="([^"]+)"', ivy)}
    assert wanted == {line.split()[1] for line in lock.splitlines()}


def test_mantine_has_one_version() -> None:
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    versions = {entry["version"] for path, entry in packages.items() if "/@mantine/" in f"/{path}"}
    assert len(versions) == 1


def test_no_tracked_file_names_a_folder_outside_the_repository() -> None:
    own = "tests/house/test_pins.py"
    outside = re.compile(r"\.\./shared/\w+\.md|/work/(main|shared)|/tmp/w/")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    wrong = []
    for name in filter(None, tracked):
        path = ROOT / name
        if name != own and path.suffix not in {".png", ".woff2", ".zip", ".parquet"} and path.is_file():
            wrong += [f"{name}: {found.group()}" for found in [outside.search(path.read_text(errors="replace"))] if found]
    assert not wrong, "\n".join(wrong)
