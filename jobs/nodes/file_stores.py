"""The kinds of file stores that an administrator allows, by name: each a protocol that fsspec knows, and what its library is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

from jobs.nodes.allowed_lists import AllowedName, allowed_entry, allowed_list
from jobs.nodes.base import Limits

#: They reach this machine's own disk or memory, stand before another store, or have a kind of connection of their own.
_REFUSED = frozenset(
    {
        *("file", "local", "asynclocal", "memory", "data", "git", "s3", "s3a"),
        *("dir", "generic", "reference", "zip", "tar", "libarchive", "dask", "async_wrapper", "asyncwrapper"),
        *("cached", "blockcache", "filecache", "simplecache"),
    }
)


class FileStore(BaseModel):
    """One entry of the file that FILE_STORES names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=80)
    protocol: str = Field(pattern=r"^[a-z][a-z0-9_+-]*$", max_length=40)
    #: What every connection's library is told; no user changes it.
    options: Mapping[str, Any] = Field(default_factory=dict)
    #: Which further options a user fills in, such as host and username.
    fields: list[str] = Field(default_factory=list, max_length=30)
    #: Which option the secret is, such as password; empty where there is none.
    secret: str = Field("", max_length=80)
    #: Whether the secret is JSON, such as the key file of a service account.
    secret_is_json: bool = False

    @field_validator("protocol")
    @classmethod
    def _is_a_store(cls, protocol: str) -> str:
        if protocol in _REFUSED:
            raise ValueError(f"{protocol} is no store of files elsewhere, or has a kind of connection of its own")
        return protocol

    @model_validator(mode="after")
    def _each_once(self) -> FileStore:
        given = [*self.options, *self.fields, *([self.secret] if self.secret else [])]
        if twice := sorted({name for name in given if given.count(name) > 1}):
            raise ValueError(f"{', '.join(twice)} stands in more than one of options, fields and secret")
        return self


_FILE: TypeAdapter[dict[AllowedName, FileStore]] = TypeAdapter(dict[AllowedName, FileStore])


def file_stores(limits: Limits) -> Mapping[str, FileStore]:
    """Name → kind of store, none where the administrator allows none; NodeError where the file cannot be read as such."""
    return allowed_list(limits.file_stores, _FILE, what="file stores", setting="FILE_STORES", field="store")


def file_store(name: str, limits: Limits) -> FileStore:
    """NodeError where it is not allowed."""
    return allowed_entry(name, file_stores(limits), what="file store", setting="FILE_STORES", field="store")
