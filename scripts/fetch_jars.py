"""Fetches the jars of requirements/ivy.xml into a folder, by the Ivy in the PySpark wheel; does nothing when they are there."""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements"


class JarsUnavailable(Exception):
    """The jars could not be fetched, or are not the ones that jars.lock names; the message says which."""


def expected_jars(lock: Path) -> dict[str, str]:
    """File name → SHA-256, from a file in the format of `sha256sum`."""
    pairs = (line.split() for line in lock.read_text().splitlines() if line.strip())
    return {name: digest for digest, name in pairs}


def jars_are_there(folder: Path, expected: dict[str, str]) -> bool:
    return all((folder / name).is_file() and _digest(folder / name) == digest for name, digest in expected.items())


def jars_fetch(folder: Path, *, ivy_file: Path = REQUIREMENTS / "ivy.xml", lock: Path = REQUIREMENTS / "jars.lock") -> bool:
    """Make `folder` hold exactly the locked jars. True if something had to be fetched; raises JarsUnavailable."""
    expected = expected_jars(lock)
    if jars_are_there(folder, expected):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="jars-") as work:
        fetched = Path(work) / "fetched"
        _retrieve(ivy_file, Path(work) / "cache", fetched)
        for name, digest in expected.items():
            if not (fetched / name).is_file():
                raise JarsUnavailable(f"{name}: not among the fetched jars; do ivy.xml and jars.lock name the same versions?")
            if _digest(fetched / name) != digest:
                raise JarsUnavailable(f"{name}: its checksum is not the one in jars.lock")
            (fetched / name).replace(folder / name)
    for jar in folder.glob("*.jar"):
        if jar.name not in expected:
            jar.unlink()
    return True


def _retrieve(ivy_file: Path, cache: Path, target: Path) -> None:
    jars = Path(pyspark.__file__).parent / "jars"
    java = shutil.which("java")
    if java is None:
        raise JarsUnavailable("java is not on the PATH")
    quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]  # half of the work: it waits for the network more than it computes
    command = [java, *quick, "-cp", f"{jars}/*", "org.apache.ivy.Main", "-warn", "-cache", str(cache), "-ivy", str(ivy_file)]
    pattern = str(target / "[artifact]-[revision].[ext]")
    done = subprocess.run([*command, "-retrieve", pattern], capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise JarsUnavailable(f"fetching Spark's jars failed; is the network reachable?\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    try:
        jars_fetch(folder.resolve())
    except JarsUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
