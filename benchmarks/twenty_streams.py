"""Twenty streams at a 5 s trigger in one worker: memory of all processes, and how fast a page still answers.

`python -m benchmarks.twenty_streams`
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from benchmarks.installation import Installation, installation, percentile, stream, until

STREAMS = 20
MINUTES = 1.0
ASKED = 100


def memory(place: Installation) -> float:
    """GiB of all the product's processes; pages that several share are counted once (proportional set size)."""
    found = 0
    for pid in place.product.processes():
        try:
            shares = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
        except OSError:  # it ended meanwhile
            continue
        found += int(shares[1]) if shares else 0
    return found / 2**20


def answer(place: Installation) -> float:
    began = time.monotonic()
    place.ask("GET", "/api/jobs")
    return time.monotonic() - began


def main() -> None:
    with installation() as place:
        names = [f"stream-{number}" for number in range(STREAMS)]
        for name in names:
            place.ask("POST", "/api/jobs", stream(name, table=name.replace("-", "_"), trigger="5s"))
        started = [place.ask("POST", f"/api/jobs/{name}/start", {})["execution_id"] for name in names]
        until(lambda: all(place.status(one) == "RUNNING" for one in started), seconds=300, pause=1)
        time.sleep(MINUTES * 60)
        figures = [answer(place) for _ in range(ASKED)]
        print(f"{STREAMS} streams: {memory(place):.2f} GiB in all (aim below 3)")
        print(
            f"the list of jobs: p50 {percentile(figures, 0.5) * 1000:.0f} ms, p95 {percentile(figures, 0.95) * 1000:.0f} ms (aim below 100)"
        )


if __name__ == "__main__":
    main()
