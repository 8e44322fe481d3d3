"""Twenty streams at a 5 s trigger in one worker: memory of all processes, and how fast a page still answers.

`python -m benchmarks.twenty_streams` reads watched folders, by Spark's own connector; with `generator`, a source written in
Python, of which each stream holds a process of its own.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.installation import Installation, installation, percentile, stream, until

STREAMS = 20
MINUTES = 1.0
ASKED = 100


def memory(place: Installation) -> dict[str, float]:
    """GiB of the product's processes by program; pages that several share are counted once (proportional set size)."""
    found: defaultdict[str, float] = defaultdict(float)
    for pid in place.product.processes():
        try:
            shares = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except OSError:  # it ended meanwhile
            continue
        program = words[2] if words[1:2] == ["-m"] else Path(words[0]).name
        found[program] += int(shares[1]) / 2**20 if shares else 0
    return found


def answer(place: Installation) -> float:
    began = time.monotonic()
    place.ask("GET", "/api/jobs")
    return time.monotonic() - began


def feed(folder: Path, ended: threading.Event) -> None:
    """A file of fifty rows into each stream's folder, again and again."""
    number = 0
    while not ended.wait(5):
        rows = "\n".join(str(number * 50 + row) for row in range(50))
        for name in folder.iterdir():
            part = name / f".{number}.csv"
            part.write_text(f"id\n{rows}\n")
            part.rename(name / f"{number}.csv")
        number += 1


def document(name: str, *, generator: bool) -> dict[str, Any]:
    found = stream(name, table=name.replace("-", "_"), trigger="5s")
    if not generator:
        columns = [{"name": "id", "type": "long"}]
        found["nodes"]["numbers"].update(type="source.file", config={"path": f"streams/{name}", "columns": columns})
    return found


def main(*, generator: bool) -> None:
    ended = threading.Event()
    with installation() as place:
        names = [f"stream-{number}" for number in range(STREAMS)]
        folder = place.product.data / "files" / "streams"
        for name in names:
            (folder / name).mkdir(parents=True)
            place.ask("POST", "/api/jobs", document(name, generator=generator))
        threading.Thread(target=feed, args=(folder, ended), daemon=True).start()
        started = [place.ask("POST", f"/api/jobs/{name}/start", {})["execution_id"] for name in names]
        until(lambda: all(place.status(one) == "RUNNING" for one in started), seconds=300, pause=1)
        time.sleep(MINUTES * 60)
        figures = [answer(place) for _ in range(ASKED)]
        held = memory(place)
        ended.set()
        print(f"{STREAMS} streams: {sum(held.values()):.2f} GiB in all (aim below 3)")
        print(", ".join(f"{program} {size:.2f}" for program, size in sorted(held.items(), key=lambda one: -one[1])))
        print(
            f"the list of jobs: p50 {percentile(figures, 0.5) * 1000:.0f} ms, p95 {percentile(figures, 0.95) * 1000:.0f} ms (aim below 100)"
        )


if __name__ == "__main__":
    main(generator="generator" in sys.argv[1:])
