"""Secrets of connections, encrypted at rest; the first key encrypts, every key decrypts."""

import json
from collections.abc import Mapping

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class SecretsUnreadable(Exception):
    """No key of this installation opens them: the key was changed or lost."""


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])


def secret_encrypt(values: Mapping[str, str]) -> str:
    """One opaque text of all `values`; "" for none."""
    return _keys().encrypt(json.dumps(dict(values)).encode()).decode() if values else ""


def secret_decrypt(text: str) -> dict[str, str]:
    """The values in `text`; SecretsUnreadable where no key fits."""
    if not text:
        return {}
    try:
        values: dict[str, str] = json.loads(_keys().decrypt(text.encode()))
    except InvalidToken:
        raise _unreadable() from None
    return values


def secret_rotate(text: str) -> str:
    """The values in `text` under the first key; SecretsUnreadable where no key fits."""
    try:
        return _keys().rotate(text.encode()).decode() if text else ""
    except InvalidToken:
        raise _unreadable() from None


def _unreadable() -> SecretsUnreadable:
    return SecretsUnreadable("the secrets cannot be opened with this installation's keys: enter them again")
