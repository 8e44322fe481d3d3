"""Addresses of e-mail, as they may stand on an envelope and in a header."""

from __future__ import annotations

import re

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"{_ATOM}(\.{_ATOM})*@{_LABEL}(\.{_LABEL})*")
_LONGEST = 254


def mail_address(text: str) -> str:
    """`text`, a domain of other letters written as ASCII; ValueError where it is no single plain address, such as jo@example.com."""
    local, at, domain = text.strip().rpartition("@")
    try:
        address = f"{local}{at}{domain.encode('idna').decode()}"
    except UnicodeError:
        address = ""
    if len(address) > _LONGEST or not _ADDRESS.fullmatch(address):
        raise ValueError(f"{text.strip()[:100]!r} is no e-mail address; write one such as jo@example.com")
    return address
