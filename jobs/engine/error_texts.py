"""What an error says: the texts of Python's chain of causes and of Java's, and the one sentence out of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JJavaError

_NOISE = re.compile(r"^(?:\[(?:STREAM_FAILED|FOREACH_BATCH_USER_FUNCTION_ERROR)\].*|Py4JJavaError.*|An error occurred while calling.*)$")


def links_of(error: BaseException | None) -> Iterator[BaseException]:
    """`error` and its causes, the innermost last."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def texts_of(error: BaseException) -> Iterator[str]:
    """What each of them says, also of the JVM's."""
    for link in links_of(error):
        yield str(link)
        if isinstance(link, Py4JJavaError):
            java: Any = link.java_exception
            while java is not None:
                yield str(java.toString())
                java = java.getCause()


def first_sentence(error: BaseException) -> str:
    """The innermost cause that says something, its first line without class names and states."""
    lines: list[str] = []
    for text in texts_of(error):
        first = next((line.strip() for line in text.splitlines() if line.strip() and not _NOISE.match(line.strip())), "")
        if first:
            lines.append(first)
    known = [line for line in lines if "[" in line and "SQLSTATE" in line]
    line = (known or lines or [type(error).__name__])[-1]
    line = re.sub(r"^(?:[\w$]+\.)+[\w$]+(?:Exception|Error): ", "", line)
    line = less_advice(re.sub(r"\s*SQLSTATE: \w+.*$", "", line))
    return re.sub(r"^\[[A-Z_.]+\] ", "", line)[:500]


def less_advice(sentence: str) -> str:
    """Without Spark's advice to set what a job cannot set."""
    return re.sub(r"\s*If necessary,? set \S+ to \S+(?: to bypass this error)?\.?", "", sentence)
