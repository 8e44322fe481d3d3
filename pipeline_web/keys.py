"""Keys that an embedded installation makes for itself, once."""

import os
import secrets
from base64 import urlsafe_b64encode
from pathlib import Path


def key_read_or_created(path: Path) -> str:
    """The key kept in `path` (mode 600); made on first use. 32 random bytes, URL-safe base64: a Fernet key.

    Its folder, and the one in which that stands, are made for this account alone.

    Two processes may start at once: the file is created exclusively, and the loser reads the winner's key.
    """
    if not path.exists():
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(urlsafe_b64encode(secrets.token_bytes(32)).decode())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
