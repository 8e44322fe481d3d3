"""Stores of files besides S3: SFTP servers, Google's and Azure's, whatever fsspec reaches and an administrator allows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, ClassVar

from pydantic import Field, field_validator

from jobs.nodes import base
from jobs.nodes.allowed_lists import choice_offered
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, check_steps
from jobs.nodes.connections.reach import is_silent, name_resolve, port_reach
from jobs.nodes.file_stores import FileStore, file_store, file_stores
from jobs.nodes.node_error import SignInRefused
from jobs.nodes.stores.kinds import StoreKind
from jobs.nodes.stores.store import Store, Stored, StoredGone, everywhere

_PORTS = {"sftp": 22, "ssh": 22, "ftp": 21, "smb": 445, "webhdfs": 50070}
#: What libraries call the time of the last change.
_MODIFIED = ("mtime", "LastModified", "last_modified", "updated", "modified", "modify", "ModTime", "time")
#: Errors by which libraries refuse a sign-in, where they have one of their own.
_SIGN_IN = frozenset({"AuthenticationException", "BadAuthenticationType", "HostKeyUnknown"})
_SIGN_IN |= {"ClientAuthenticationError", "HttpError401", "RefreshError", "LogonFailure"}


class StoreOption(base.Config):
    name: str = Field(min_length=1, max_length=80, description="Name of the option.", examples=["host"])
    value: str = Field("", max_length=2000, description="Its value.", examples=["files.example.com"])


class FileStoreSettings(base.Config):
    store: str = Field(
        min_length=1, max_length=40, description="Which kind of store: one of those that the administrator allows.", examples=["sftp"]
    )
    options: tuple[StoreOption, ...] = Field(
        (),
        max_length=30,
        description="What this kind of store wants to know, such as its host and who signs in; what is empty is not told.",
        examples=[[{"name": "host", "value": "files.example.com"}, {"name": "username", "value": "pipeline"}]],
    )
    folder: str = Field(
        min_length=1,
        max_length=500,
        description="The folder, or the bucket and folder, below which jobs read.",
        examples=["/upload/plant-7"],
    )

    @field_validator("folder")
    @classmethod
    def _stays_below(cls, folder: str) -> str:
        if any(part in (".", "..") for part in folder.split("/")) or "\x00" in folder or "://" in folder or not folder.strip("/"):
            raise ValueError("name a folder from the top of the store, without . or .. in it and without an address")
        return folder


class FileStoreConnection(StoreKind):
    kind = "file_store"
    title = "File store"
    icon = "folders"
    Config = FileStoreSettings
    secrets: ClassVar[Mapping[str, str]] = {"secret": "Password or key"}
    secrets_of_lines: ClassVar[frozenset[str]] = frozenset({"secret"})

    @classmethod
    def form(cls, limits: Limits) -> dict[str, Any]:
        stores = file_stores(limits)
        if not stores:
            raise NodeError("no further file store is allowed here; an administrator lists them in the file that FILE_STORES names")
        form = cls.schema()
        asked = {name: {"options": [{"name": field, "value": ""} for field in store.fields]} for name, store in stores.items()}
        choice_offered(form, "store", {name: store.title for name, store in stores.items()}, asked)
        return form

    def open(self, settings: ConnectionSettings, limits: Limits) -> Store:
        typed = FileStoreSettings.model_validate(settings.config)
        return _opened(settings, typed, file_store(typed.store, limits))

    def called(self, settings: ConnectionSettings) -> str:
        return f"{settings.config['store']} {settings.name}"

    def is_silent(self, settings: ConnectionSettings, limits: Limits) -> bool:
        place = _place(FileStoreSettings.model_validate(settings.config), file_store(settings.config["store"], limits))
        return place is not None and is_silent(*place)

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Kind, name and port where it has a host, sign-in, folder; stops at the first that fails."""
        typed = FileStoreSettings.model_validate(settings.config)
        tried: list[FsspecStore] = []

        def allowed() -> str:
            store = file_store(typed.store, limits)
            _library(store)
            return f"{store.title} is allowed, by {store.protocol}"

        def signed_in() -> str:
            tried.append(_opened(settings, typed, file_store(typed.store, limits)))
            return "the store takes the sign-in"

        def listed() -> str:
            return f"{typed.folder} is there, with {tried[0].count()} files and folders in it"

        steps = [("kind", allowed)]
        with suppress(NodeError):  # the step before says so
            if place := _place(typed, file_store(typed.store, limits)):
                steps += [("name", lambda: name_resolve(place[0])), ("port", lambda: port_reach(*place))]
        return check_steps(*steps, ("sign-in", signed_in), ("listing", listed))


class FsspecStore(Store):
    """A store of whatever protocol."""

    def __init__(self, title: str, files: Any, base_folder: str) -> None:
        super().__init__(title, files, base_folder)
        if not files.async_impl:
            self.at_once = 1  # one line, which no two requests may use at a time

    def find(self, folder: str, enters: Callable[[str], bool] = everywhere) -> list[Stored]:
        """Folder by folder: fsspec's own walk takes one that cannot be listed, and with it a store that went away, for an empty one."""
        path, act = self._path(folder), f'listing "{folder or "/"}"'
        self._files.invalidate_cache()
        try:
            entry = self._done(act, lambda: self._files.info(path))
            if entry["type"] == "file":
                return self._stored({path: entry})
        except StoredGone:
            return []
        return self._stored(self._below(path, enters))

    def _below(self, path: str, enters: Callable[[str], bool]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        folders = [path]
        while folders:
            folder = folders.pop()
            for entry in self._listed(folder):
                name = str(entry["name"]).rstrip("/")
                if entry["type"] != "directory":
                    found[name] = entry
                elif name != folder and enters(name.rpartition("/")[2]):
                    folders.append(name)
        return found

    def _listed(self, path: str) -> list[dict[str, Any]]:
        """What lies in the folder itself; nothing where it is gone by now."""
        try:
            act = f'listing "{path[len(self._base) + 1 :] or "/"}"'
            return self._done(act, lambda: list(self._files.ls(path, detail=True)))
        except StoredGone:
            return []

    def move(self, name: str, target: str) -> None:
        path = self._path(target)
        self._done(f'writing "{target}"', lambda: self._files.makedirs(path.rpartition("/")[0], exist_ok=True))
        self._was_there(f'writing "{target}"', lambda: self._files.mv(self._path(name), path))

    def count(self) -> int:
        """Of what lies in the folder itself; NodeError where there is no such folder."""
        return self._done("listing the folder", lambda: len(self._files.ls(self._path(""), detail=False)))

    def meaning(self, error: Exception) -> NodeError | None:
        if isinstance(error, PermissionError):
            return NodeError("the store forbids it; have the right granted", permanent=True, kind="user")
        if type(error).__name__ in _SIGN_IN:
            return SignInRefused(f"the sign-in was refused ({error}); correct the connection", permanent=True, kind="user")
        if isinstance(error, NotImplementedError):
            return NodeError("this kind of store cannot do it; choose another way", permanent=True, kind="user")
        return None

    def is_taken(self, error: Exception) -> bool:
        return isinstance(error, FileExistsError)

    def modified(self, entry: dict[str, Any]) -> float:
        value = next((entry[name] for name in _MODIFIED if entry.get(name) is not None), None)
        if value is None:
            value = self._files.modified(entry["name"])
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        return float(value.timestamp() if isinstance(value, datetime) else value)


def _opened(settings: ConnectionSettings, typed: FileStoreSettings, store: FileStore) -> FsspecStore:
    """Some libraries sign in at once. NodeError where the store refuses, SystemAway where it does not answer."""
    library, title = _library(store), FileStoreConnection().called(settings)
    told = {**store.options, **_given(typed, store), **_secret(settings, store)}
    over_ssh = store.protocol in ("sftp", "ssh")
    if over_ssh:
        from jobs.nodes.stores.sftp import sftp_options, sftp_patience

        told = sftp_options(told)
    try:
        files = library(**told, skip_instance_cache=True)
        if over_ssh:
            sftp_patience(files)
    except (TypeError, ValueError) as error:
        words = f'connecting to "{settings.name}": {" ".join(str(error).split())}; correct the options of the connection'
        raise NodeError(words, permanent=True, kind="user", field="options") from error
    except Exception as error:  # each library has errors of its own
        raise FsspecStore(title, library, "").told("connecting", error) from error
    return FsspecStore(title, files, files._strip_protocol(typed.folder).rstrip("/"))


def _library(store: FileStore) -> Any:
    """The class behind the protocol; NodeError where its package is not installed."""
    import fsspec

    try:
        return fsspec.get_filesystem_class(store.protocol)
    except (ImportError, ValueError) as error:
        words = f"{store.title} needs a package that is not installed ({error}); have an administrator install it"
        raise NodeError(words, permanent=True, kind="user", field="store") from error


def _given(typed: FileStoreSettings, store: FileStore) -> dict[str, Any]:
    given = {option.name: option.value.strip() for option in typed.options if option.value.strip()}
    if strange := sorted(given.keys() - set(store.fields)):
        words = f"{store.title} takes no {', '.join(strange)} here; it takes {', '.join(store.fields) or 'nothing'}"
        raise NodeError(words, permanent=True, kind="user", field="options")
    return {name: int(value) if name == "port" and value.isdecimal() else value for name, value in given.items()}


def _secret(settings: ConnectionSettings, store: FileStore) -> dict[str, Any]:
    secret = settings.secrets.get("secret", "")
    if not store.secret or not secret:
        return {}
    if not store.secret_is_json:
        return {store.secret: secret}
    try:
        return {store.secret: json.loads(secret)}
    except ValueError:
        raise NodeError(f"the secret of {store.title} has to be JSON; enter it again", permanent=True, kind="user") from None


def _place(typed: FileStoreSettings, store: FileStore) -> tuple[str, int] | None:
    """The host and port of a store that has them."""
    told = {**store.options, **_given(typed, store)}
    port = told.get("port") or _PORTS.get(store.protocol)
    return (str(told["host"]), int(port)) if told.get("host") and port else None
