"""Keys: those that are given, and those that an embedded installation makes for itself, once; and the name that its disk keeps."""

import os
import secrets
import socket
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from pathlib import Path

from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured


def encryption_keys(given: Iterable[str]) -> list[str]:
    """The keys in `given` without spaces around them; ImproperlyConfigured where one is none, by its number and not by its text.

    One that is mistyped would otherwise be found by the first secret that is opened, and keep the good ones from opening it too.
    """
    keys = [key for text in given if (key := text.strip())]
    for number, key in enumerate(keys, 1):
        try:
            Fernet(key)
        except ValueError:
            raise ImproperlyConfigured(
                f"ENCRYPTION_KEYS: key {number} of {len(keys)} is no Fernet key (32 bytes in URL-safe base64):"
                " openssl rand -base64 32 | tr '+/' '-_' makes one"
            ) from None
    return keys


def key_read_or_created(path: Path) -> str:
    """The key kept in `path`; made on first use. 32 random bytes, URL-safe base64: a Fernet key."""
    return _read_or_created(path, lambda: urlsafe_b64encode(secrets.token_bytes(32)).decode())


def disk_name(path: Path | None) -> str:
    """What this machine's disk is called: as the machine, or as it was called when `path` was written, on first use.

    An embedded installation is on one machine, whose name may follow the network: its disk keeps the one it had at first.
    """
    return _read_or_created(path, socket.gethostname) if path else socket.gethostname()


def _read_or_created(path: Path, made: Callable[[], str]) -> str:
    """What is kept in `path` (mode 600), else what is `made`.

    Its folder, and the one in which that stands, are made for this account alone.

    Two processes may start at once: the file is created exclusively, and the loser reads what the winner wrote.
    """
    if not path.exists():
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(made())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
