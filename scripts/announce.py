"""Waits until the product is ready and prints a sign-in link: the last words of a start."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

PATIENCE_SECONDS = 180


def main() -> int:
    address = f"http://{os.environ['PIPELINE_LOCAL_ADDRESS']}/readyz"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not answers(address):
        if time.monotonic() > deadline:
            print(
                f"Not ready after {PATIENCE_SECONDS} s: {address} says why, the logs above too. The sign-in link still works:", flush=True
            )
            break
        time.sleep(0.2)
    return subprocess.run([sys.executable, "manage.py", "sign_in_link"], check=False).returncode


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    raise SystemExit(main())
