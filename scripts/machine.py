"""What tests need from the machine beyond Python and Java: installed where that is possible, else said."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.servers.browser import browser_program
from tests.servers.mariadb import mariadb_missing
from tests.servers.mosquitto import mosquitto_missing
from tests.servers.postgres import postgres_folder
from tests.servers.rabbitmq import rabbitmq_missing
from tests.servers.sftp import sftp_missing


@dataclass(frozen=True)
class Need:
    package: str
    why: str
    there: Callable[[], bool]
    #: Where the machine's packages have none of that name.
    otherwise: str = ""


def cjk_font_is_there() -> bool:
    return any(Path("/usr/share/fonts").rglob("NotoSansCJK*")) or any(Path("/usr/share/fonts").rglob("*wqy*"))


NEEDS = [
    Need("mosquitto", "MQTT messages are read from it and written to it", lambda: not mosquitto_missing()),
    Need("rabbitmq-server", "messages are read from it and written to it", lambda: not rabbitmq_missing()),
    Need("postgresql", "the suite runs a second time on it", lambda: postgres_folder() is not None),
    Need("mariadb-server", "database nodes are tested on it", lambda: not mariadb_missing()),
    Need("openssh-server", "files are read from it by SFTP", lambda: not sftp_missing()),
    # Without windows a browser takes a third less of a processor.
    Need("chromium-headless-shell", "the browser tests drive it", lambda: browser_program() is not None, otherwise="chromium"),
    Need("fonts-noto-cjk", "pages in Chinese are looked at", cjk_font_is_there),
]


def missing_packages_install() -> None:
    """As root on Debian or Ubuntu: install what is missing. Elsewhere: say what is missing and what that means."""
    missing = [need for need in NEEDS if not need.there()]
    if not missing:
        return
    if os.getuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=environment, check=False)
        packages = list(map(package_of, missing))
        print(f"· Installing {', '.join(packages)}", flush=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], env=environment, check=False)
        if browser_program() is None:
            # Ubuntu's package is only a pointer to a snap, which a container cannot run.
            subprocess.run([sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"], check=False)
        missing = [need for need in missing if not need.there()]
    for need in missing:
        package = package_of(need)
        print(f"· Not on this machine: {package} ({need.why}); those tests are skipped. To install: apt-get install {package}")


def package_of(need: Need) -> str:
    """As the machine's lists of packages name it."""
    if not need.otherwise:
        return need.package
    asked = ["apt-cache", "show", need.package]
    is_known = shutil.which("apt-cache") and subprocess.run(asked, capture_output=True, check=False).returncode == 0
    return need.package if is_known else need.otherwise
