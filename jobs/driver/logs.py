"""The log of one attempt: JSON lines `{"time", "level", "attempt", "node_id", "message"}` in a file of its own."""

import json
import logging
import traceback
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler

from jobs.selectors.logs import log_folder

MAX_BYTES = 20 * 1024 * 1024
OLDER_KEPT = 2


class JsonLines(logging.Formatter):
    def __init__(self, attempt: int) -> None:
        super().__init__()
        self._attempt = attempt

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + "".join(traceback.format_exception(*record.exc_info))
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "attempt": self._attempt,
            "node_id": getattr(record, "node_id", ""),
            "message": message,
        }
        return json.dumps(line, ensure_ascii=False)


def attempt_logger(execution_id: str, attempt: int) -> logging.Logger:
    """A logger that nobody else knows; give it to `attempt_logger_close` at the end. Where it cannot write, the driver's log has it all."""
    logger = logging.Logger(f"execution.{execution_id}.{attempt}", logging.INFO)
    try:
        handler: logging.Handler = _file_handler(execution_id, attempt)
    except OSError as error:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
        logging.getLogger(__name__).error("the log of execution %s cannot be written: %s", execution_id, error)
    logger.addHandler(handler)
    return logger


def _file_handler(execution_id: str, attempt: int) -> logging.Handler:
    folder = log_folder(execution_id)
    folder.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(
        folder / f"attempt-{attempt}.jsonl", maxBytes=MAX_BYTES, backupCount=OLDER_KEPT, encoding="utf-8", errors="replace"
    )
    handler.setFormatter(JsonLines(attempt))
    return handler


def attempt_logger_close(logger: logging.Logger) -> None:
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
