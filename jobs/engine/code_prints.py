"""What a person's Python prints in a preview or a test, kept short."""

from __future__ import annotations

import logging

from jobs.nodes.user_python.prints import PRINTED

#: Of all that is printed in a preview: a browser has to show it.
MOST_CHARACTERS = 64_000


class CodePrints(logging.Handler):
    """Rows may be computed more than once, as each table of a preview does: what a node prints again is kept once.

    `most`: so many characters are kept. What else nodes tell goes to the logger `elsewhere`.
    """

    def __init__(self, most: int = MOST_CHARACTERS, *, elsewhere: str = "pipeline.job") -> None:
        super().__init__()
        self._elsewhere = logging.getLogger(elsewhere)
        self._texts: dict[tuple[str, str], str] = {}
        self._room = most

    def logger(self) -> logging.Logger:
        """For the nodes."""
        own = logging.Logger("pipeline.prints", logging.INFO)
        own.addHandler(self)
        return own

    def emit(self, record: logging.LogRecord) -> None:
        message, node_id = record.getMessage(), str(getattr(record, "node_id", ""))
        if not message.startswith(PRINTED):
            self._elsewhere.handle(record)
            return
        text = message.removeprefix(PRINTED)
        if self._room > 0 and (node_id, text) not in self._texts:
            self._texts[node_id, text] = text if len(text) <= self._room else f"{text[: self._room]} …"
            self._room -= len(text)

    def found(self) -> list[dict[str, str]]:
        """[{"node_id", "text"}], in the order in which it was printed."""
        return [{"node_id": node_id, "text": text} for (node_id, _), text in self._texts.items()]
