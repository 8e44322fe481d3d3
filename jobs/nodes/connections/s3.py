"""Amazon S3, and every store that speaks its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from botocore.parsers import ResponseParserError
from s3fs import S3FileSystem

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep
from jobs.nodes.connections.reach import line_try
from jobs.nodes.connections.s3_check import s3_check
from jobs.nodes.connections.s3_settings import S3Settings
from jobs.nodes.durable_text import certificates_place
from jobs.nodes.http_guard import checked_addresses, first_reached
from jobs.nodes.http_guard_async import GuardedResolver
from jobs.nodes.node_error import SignInRefused, SystemAway
from jobs.nodes.stores.kinds import StoreKind
from jobs.nodes.stores.store import Store

_CONNECT_SECONDS, _READ_SECONDS, _SILENT_SECONDS = 5, 60, 3
_SIGN_IN = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "AuthorizationHeaderMalformed"}
_TAKEN = {"PreconditionFailed", "ConditionalRequestConflict"}


class S3Connection(StoreKind):
    kind = "s3"
    title = "S3 storage"
    icon = "bucket"
    Config = S3Settings
    secrets: ClassVar[Mapping[str, str]] = {"secret_key": "Secret key"}
    secrets_when: ClassVar[Mapping[str, str]] = {"secret_key": "sign_in=key"}

    def open(self, settings: ConnectionSettings, limits: Limits) -> Store:
        typed = S3Settings.model_validate(settings.config)
        checked_addresses(typed.asked_host, typed.port, limits)
        return S3Store(f"s3 {settings.name}", _files(typed, settings, limits), f"{typed.bucket}/{typed.folder.strip('/')}")

    def is_silent(self, settings: ConnectionSettings, limits: Limits) -> bool:
        typed = S3Settings.model_validate(settings.config)
        try:
            addresses = checked_addresses(typed.asked_host, typed.port, limits)
            first_reached(addresses, lambda address: line_try(address, typed.port, seconds=_SILENT_SECONDS))
            return False
        except NodeError as error:  # an address that is not allowed is not silent
            return not error.permanent
        except OSError:
            return True

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        return s3_check(S3Settings.model_validate(settings.config), limits, lambda: self.open(settings, limits))


class S3Store(Store):
    def meaning(self, error: Exception) -> NodeError | None:
        code = _code(error)
        if code in _SIGN_IN:
            words = "the sign-in was refused; correct key id, secret key or region"
            return SignInRefused(words, permanent=True, kind="user", field="sign-in")
        if code == "RequestTimeTooSkewed":
            return _refused("sign-in", "the clocks of this machine and the store differ; set them right")
        if code == "NoSuchBucket":
            return _refused("bucket", "the bucket does not exist; make it, or name another")
        if code == "PermanentRedirect":
            return _refused("bucket", "the bucket is in another region; correct the region")
        if isinstance(error, ResponseParserError):  # its text holds what was answered, by whomever
            return SystemAway("what answers does not speak S3's protocol; check that the store runs and can be reached")
        if isinstance(error, PermissionError):
            return _refused("right", "the key may not do this; have the right granted")
        return None

    def is_taken(self, error: Exception) -> bool:
        return isinstance(error, FileExistsError) or _code(error) in _TAKEN


def _refused(field: str, message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user", field=field)


def _code(error: Exception) -> str:
    """What S3 calls its error: s3fs hands it over as the cause of Python's nearest."""
    response = getattr(error, "response", None) or getattr(error.__cause__, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def _files(typed: S3Settings, settings: ConnectionSettings, limits: Limits) -> S3FileSystem:
    """Signed with the connection's key and nothing that this machine may have of its own; no proxy, which would get around the guard."""
    signed = typed.sign_in == "key"
    client: dict[str, Any] = {"region_name": typed.region}
    if typed.certificate_authority:
        client["verify"] = str(certificates_place(typed.certificate_authority, Path(limits.data_dir)))
    return S3FileSystem(
        anon=not signed,
        key=typed.key_id if signed else None,
        secret=settings.secrets.get("secret_key", "") if signed else None,
        endpoint_url=typed.address if typed.endpoint else None,
        client_kwargs=client,
        config_kwargs={
            "s3": {"addressing_style": "virtual" if typed.bucket_in_host else "path" if typed.endpoint else "auto"},
            "connect_timeout": _CONNECT_SECONDS,
            "read_timeout": _READ_SECONDS,
            "retries": {"total_max_attempts": 2, "mode": "standard"},
            "request_checksum_calculation": "when_required",  # many stores know no others
            "response_checksum_validation": "when_required",
            "proxies": {},
            "connector_args": {"resolver": GuardedResolver(limits)},
        },
        skip_instance_cache=True,
        use_listings_cache=False,
    )
