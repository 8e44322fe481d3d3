"""Exit code 0 when the web process on this host answers; for a container's health check."""

import http.client
import os


def main() -> int:
    # The name must be one that Django accepts; any of them will do.
    host = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].lstrip(".").replace("*", "localhost")
    try:
        connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT", "8000")), timeout=4)
        connection.request("GET", "/healthz", headers={"Host": host})
        return 0 if connection.getresponse().status == 200 else 1
    except OSError:
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
