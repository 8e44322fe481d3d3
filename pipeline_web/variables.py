"""The variables that configure an installation: the environment, or what a parent handed over a pipe.

A driver process must not carry the database address or the keys in its environment, because Spark's workers
inherit that. It calls `receive` before Django is set up; everything else reads `VARIABLES`.
"""

import json
import os
from pathlib import Path
from typing import IO

VARIABLES: dict[str, str] = dict(os.environ)

#: What a driver needs and must not inherit by environment.
HANDED_OVER = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ENCRYPTION_KEYS")


def receive(stream: IO[str]) -> None:
    """Read one line of JSON `{name: value}` and let it stand over the environment."""
    VARIABLES.update(json.loads(stream.readline()))


def running_variables(data_dir: Path) -> dict[str, str]:
    """What `make run` chose for the product that runs on `data_dir` (port, Redis): so commands in another terminal find it."""
    try:
        return dict(json.loads((data_dir / "running.json").read_text()))
    except (OSError, ValueError):
        return {}
