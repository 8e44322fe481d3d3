"""Makes `.venv` from a hashed lock and hands over to a module in it: `python3 scripts/bootstrap.py LOCK MODULE [argument …]`.

Needs only the standard library and runs with any Python from 3.8 on, so that a machine whose default Python does
not fit gets an answer in one line and not a traceback.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import MutableMapping

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ROOT / "requirements"
#: The Python versions that PySpark and the locked wheels were tried with, best first.
WANTED = ("3.12", "3.11")
LEAST_JAVA = 17


def output_of(*command: str) -> str:
    """What a program says on both streams, or nothing when it cannot be run or fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def version_of(python: str) -> str:
    return output_of(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()


def installer(debian: str, fedora: str, mac: str) -> str:
    """The command that installs a package on this machine."""
    if sys.platform == "darwin":
        return "brew install " + mac
    sudo = "" if os.getuid() == 0 else "sudo "
    if shutil.which("dnf"):
        return sudo + "dnf install " + fedora
    return sudo + "apt-get install " + debian


def debian_offers(package: str) -> bool:
    return bool(re.search(r"Candidate: \d", output_of("apt-cache", "policy", package)))


def fitting_pythons() -> list[str]:
    # Where uv puts those it installs, which a shell that is open already may not look through.
    own = [os.path.expanduser("~/.local/bin/python" + version) for version in WANTED]
    candidates = [sys.executable] + [shutil.which("python" + version) for version in WANTED] + own
    return [python for python in candidates if python and version_of(python) in WANTED]


def python_problem(pythons: list[str]) -> str:
    if not pythons:
        return "Python 3.11 or 3.12 is needed, and this machine has {0}{1}".format(sys.version.split()[0], python_remedy())
    if not any(has_venv(python) for python in pythons):
        version = version_of(pythons[0])
        command = installer("python{0}-venv".format(version), "python{0}".format(version), "python@{0}".format(version))
        return "The venv module of Python {0} is missing: {1}".format(version, command)
    return ""


def python_remedy() -> str:
    """How to get one: by the machine's packages, or where they offer none, as in Debian 13, by uv."""
    offered = next(("python" + version for version in WANTED if debian_offers("python" + version)), "")
    if not offered and debian_offers("python3"):
        by_uv = installer("pipx", "pipx", "pipx") + " && pipx run uv python install 3.12"
        return ", whose packages offer neither: {0} (it comes from GitHub), or take Debian 12 or Ubuntu 24.04".format(by_uv)
    # A fresh container knows no packages at all.
    named = "{0} {0}-venv".format(offered or "python3")
    command = installer(named, "python3.12", "python@3.12")
    return ": " + (command if offered else command.replace("apt-get install", "apt-get update && apt-get install"))


def has_venv(python: str) -> bool:
    return bool(output_of(python, "-c", "import venv, ensurepip; print('there')"))


def java_problem() -> str:
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    found = re.search(r'version "(\d+)', output_of(java, "-version"))
    if found and int(found.group(1)) >= LEAST_JAVA:
        return ""
    package = "openjdk-17-jdk-headless" if debian_offers("openjdk-17-jdk-headless") else "openjdk-21-jdk-headless"
    command = installer(package, "java-21-openjdk-devel", "openjdk@21")
    seen = "this machine has Java {0}".format(found.group(1)) if found else "none was found"
    return "A JDK {0} or newer is needed, and {1}{2}: {3}".format(LEAST_JAVA, seen, " in JAVA_HOME" if home else "", command)


def digest_of(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def environment_is_current(lock: Path) -> bool:
    stamp = VENV / ("installed-" + lock.stem)
    wanted = digest_of([lock, REQUIREMENTS / "uv.lock"])
    return PYTHON.exists() and stamp.is_file() and stamp.read_text() == wanted and version_of(str(PYTHON)) in WANTED


def environment_make(lock: Path, pythons: list[str]) -> None:
    """Create `.venv` if there is none that works, put the installer into it, then everything the lock names."""
    python = next(python for python in pythons if has_venv(python))
    if version_of(str(PYTHON)) not in WANTED or not output_of(str(PYTHON), "-m", "pip", "--version"):
        say("Making .venv with Python {0}".format(version_of(python)))
        subprocess.run([python, "-m", "venv", "--clear", str(VENV)], check=True)
    say("Installing what {0} names".format(lock.relative_to(ROOT)))
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    subprocess.run([*pip, "-r", str(REQUIREMENTS / "uv.lock")], check=True)
    uv = [str(VENV / "bin" / "uv"), "pip", "install", "--quiet", "--python", str(PYTHON), "--require-hashes"]
    subprocess.run([*uv, "-r", str(lock)], check=True, env=installer_environment())
    (VENV / ("installed-" + lock.stem)).write_text(digest_of([lock, REQUIREMENTS / "uv.lock"]))


def installer_environment() -> dict[str, str]:
    """uv does not read pip's settings: an index or a certificate given to pip counts for uv too."""
    environment = dict(os.environ)
    for pip_name, uv_name in (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_CERT", "SSL_CERT_FILE")):
        if os.environ.get(pip_name):
            environment.setdefault(uv_name, os.environ[pip_name])
    environment.setdefault("UV_HTTP_TIMEOUT", "180")
    return environment


def bytecode_keep(environment: MutableMapping[str, str]) -> None:
    """Whoever wants none beside the sources gets it in `.venv`: without any, each of many processes takes seconds more to begin."""
    if environment.pop("PYTHONDONTWRITEBYTECODE", ""):
        environment.setdefault("PYTHONPYCACHEPREFIX", str(VENV / "bytecode"))


def say(words: str) -> None:
    sys.stdout.write("· {0}\n".format(words))
    sys.stdout.flush()


def main() -> int:
    lock, module, arguments = REQUIREMENTS / (sys.argv[1] + ".lock"), sys.argv[2], sys.argv[3:]
    current = environment_is_current(lock)
    pythons = [] if current else fitting_pythons()
    problems = ["" if current else python_problem(pythons), java_problem()]
    if any(problems):
        for problem in filter(None, problems):
            sys.stderr.write(problem + "\n")
        return 1
    if not current:
        try:
            environment_make(lock, pythons)
        except subprocess.CalledProcessError as error:
            sys.stderr.write("Installing failed (see above): {0}\n".format(" ".join(error.cmd[:4])))
            return 1
    os.chdir(str(ROOT))
    bytecode_keep(os.environ)
    os.execv(str(PYTHON), [str(PYTHON), "-m", module, *arguments])


if __name__ == "__main__":
    sys.exit(main())
