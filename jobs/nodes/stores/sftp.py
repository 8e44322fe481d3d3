"""What SFTP servers are told: a server is known by its key, and nothing that this machine may have of its own signs in."""

from __future__ import annotations

import io
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import paramiko

from jobs.nodes.base import NodeError
from jobs.nodes.connections.lines_alive import keep_alive

_SECONDS = 10
#: A server that says nothing for so long in the middle of a transfer is away.
_SILENT_SECONDS = 60
_KEYS = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)


class HostKeyUnknown(paramiko.SSHException):
    """The server is another than the one that was named."""


def sftp_options(told: Mapping[str, Any]) -> dict[str, Any]:
    """As paramiko takes them. `host_key`: the server's, as ssh-keyscan prints it; `private_key`: text of a key, in PEM or OpenSSH's form.

    NodeError on `options` where one of them is none.
    """
    found = {"timeout": _SECONDS, "banner_timeout": _SECONDS, "auth_timeout": _SECONDS, **told}
    found |= {"look_for_keys": False, "allow_agent": False}
    if host_key := found.pop("host_key", ""):
        found["host_key_policy"] = _OnlyThis(*_key_parts(str(host_key)))
    if private_key := found.pop("private_key", ""):
        found["pkey"] = _private_key(str(private_key), found.pop("passphrase", None))
    return found


def sftp_patience(files: Any) -> None:
    """Of a store that is connected: without a limit a server that freezes would be waited for without an end."""
    files.ftp.get_channel().settimeout(_SILENT_SECONDS)
    keep_alive(files.client.get_transport().sock)


def _key_parts(line: str) -> tuple[str, str]:
    parts = line.split()
    for kind, key in pairwise(parts):
        if kind.startswith(("ssh-", "ecdsa-")):
            return kind, key
    raise NodeError(
        'the host key is none: enter it as ssh-keyscan prints it, "ssh-ed25519 AAAA…"', permanent=True, kind="user", field="options"
    )


def _private_key(text: str, passphrase: str | None) -> paramiko.PKey:
    for kind in _KEYS:
        try:
            return kind.from_private_key(io.StringIO(text), passphrase)
        except paramiko.PasswordRequiredException:
            raise NodeError("the private key has a passphrase: enter one without", permanent=True, kind="user", field="options") from None
        except (paramiko.SSHException, ValueError, IndexError):
            continue
    raise NodeError(
        "the secret is no private key: enter the whole file, with its first and last line", permanent=True, kind="user", field="options"
    )


class _OnlyThis(paramiko.MissingHostKeyPolicy):
    def __init__(self, kind: str, key: str) -> None:
        self._known = (kind, key)

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        if (key.get_name(), key.get_base64()) != self._known:
            raise HostKeyUnknown(f"the server shows another key, {key.get_name()} {key.get_base64()}")
