"""That a request is tried again and again: said by the process that sends it to the driver, by a file in the node's folder."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

_LONGEST_WORDS = 300


@dataclass(frozen=True)
class RetryNote:
    """The newest word counts, of whatever task it is. One written on another host is not found: nothing is told then."""

    place: Path

    @classmethod
    def of(cls, work_dir: Path) -> RetryNote:
        return cls(work_dir.resolve() / "tried_again.json")

    def tell(self, words: str, seconds: float) -> None:
        """`words` hold for `seconds` from now, unless they are taken back before."""
        part = self.place.with_name(f".{uuid4().hex}")
        with suppress(OSError):
            self.place.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps({"words": words[:_LONGEST_WORDS], "until": time.time() + seconds}), encoding="utf-8")
            part.replace(self.place)

    def clear(self) -> None:
        with suppress(OSError):
            self.place.unlink(missing_ok=True)

    def reason(self, act: str) -> str:
        """The words without `act`, with which they begin, and without what to do about it."""
        return self.words().removeprefix(f"{act}: ").partition("; ")[0]

    def words(self) -> str:
        """What is tried again now; "" where nothing is."""
        try:
            told = json.loads(self.place.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ""
        return str(told["words"]) if time.time() < told["until"] else ""
