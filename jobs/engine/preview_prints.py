"""What a person's Python prints while a preview computes its rows, kept short."""

from __future__ import annotations

import logging

from jobs.nodes.user_python.prints import PRINTED

#: Of all that is printed: a browser has to show it.
MOST_CHARACTERS = 64_000


class PreviewPrints(logging.Handler):
    """Tables of one preview compute the same rows anew: what a node prints again is kept once."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[tuple[str, str], str] = {}
        self._room = MOST_CHARACTERS

    def logger(self) -> logging.Logger:
        """For the nodes of one preview: what they print comes here, all else goes where a job's messages go."""
        own = logging.Logger("pipeline.preview", logging.INFO)
        own.addHandler(self)
        return own

    def emit(self, record: logging.LogRecord) -> None:
        message, node_id = record.getMessage(), str(getattr(record, "node_id", ""))
        if not message.startswith(PRINTED):
            logging.getLogger("pipeline.job").handle(record)
            return
        text = message.removeprefix(PRINTED)
        if self._room > 0 and (node_id, text) not in self._texts:
            self._texts[node_id, text] = text if len(text) <= self._room else f"{text[: self._room]} …"
            self._room -= len(text)

    def found(self) -> list[dict[str, str]]:
        """[{"node_id", "text"}], in the order in which it was printed."""
        return [{"node_id": node_id, "text": text} for (node_id, _), text in self._texts.items()]
