"""Writes the API's description and the browser's types made from it. As a script: `python -m scripts.api_types`."""

import subprocess
import sys
from pathlib import Path

from scripts.frontend import FRONTEND, FrontendBroken, frontend_install, node_folder

ROOT = FRONTEND.parent
DESCRIPTION = FRONTEND / "openapi.json"
TYPES = FRONTEND / "src" / "api" / "schema.gen.ts"


def api_types_write(description: Path, types: Path) -> None:
    """Export the OpenAPI description, then make the types from it; raises FrontendBroken."""
    frontend_install()
    _run([sys.executable, "manage.py", "spectacular", "--format", "openapi-json", "--file", str(description)], ROOT)
    program = FRONTEND / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
    _run([str(node_folder() / "bin" / "node"), str(program), str(description), "-o", str(types)], FRONTEND)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FrontendBroken(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-4000:]}")


if __name__ == "__main__":
    api_types_write(DESCRIPTION, TYPES)
