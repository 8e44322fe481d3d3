"""Waits until the product is ready and prints a sign-in link: the last words of a start."""

import os
import time
import urllib.error
import urllib.request

import django
from django.core.management import call_command

PATIENCE_SECONDS = 180
#: This machine's own address: no proxy that the environment names could reach it.
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeline_web.settings")
    django.setup()
    address = f"http://{os.environ['PIPELINE_LOCAL_ADDRESS']}/readyz"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not answers(address):
        if time.monotonic() > deadline:
            print(
                f"Not ready after {PATIENCE_SECONDS} s: {address} says why, the logs above too. The sign-in link still works:", flush=True
            )
            break
        time.sleep(0.2)
    call_command("sign_in_link")
    return 0


def answers(address: str) -> bool:
    try:
        with _DIRECTLY.open(address, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    raise SystemExit(main())
