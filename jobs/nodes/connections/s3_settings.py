"""What a user sets on an S3 connection, and where that leads."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from jobs.nodes import base
from jobs.nodes.connections.server_fields import certificate_field
from jobs.nodes.form import hints


class S3Settings(base.Config):
    endpoint: str = Field(
        "",
        max_length=500,
        pattern=r"^(https?://[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?/?)?$",
        description="The address of the store, with https://; empty means Amazon S3 in the region.",
        examples=["https://minio.example.com:9000"],
        json_schema_extra=hints(allowed="an address that begins with https:// or http://, without a path"),
    )
    region: str = Field(
        "us-east-1",
        max_length=50,
        pattern=r"^[a-z0-9-]+$",
        description="The region that requests are signed for; many stores take any.",
        examples=["eu-central-1"],
        json_schema_extra=hints(allowed="the name of a region, such as eu-central-1"),
    )
    bucket: str = Field(
        pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
        description="The bucket, which has to exist.",
        examples=["lake"],
        json_schema_extra=hints(allowed="3 to 63 small letters, digits, dots and hyphens"),
    )
    folder: str = Field(
        "",
        max_length=500,
        description="The folder of the bucket below which jobs read and write; empty means the whole bucket.",
        examples=["plant-7/incoming"],
    )
    key_id: str = Field(
        "",
        max_length=200,
        description="The id of the access key; the key itself is a secret.",
        examples=["AKIAIOSFODNN7EXAMPLE"],
        json_schema_extra=hints(when="sign_in=key"),
    )
    sign_in: Literal["key", "none"] = Field(
        "key",
        description="Whether requests are signed with a key; a public bucket can be read without one.",
        examples=["key"],
        json_schema_extra=hints(advanced=True),
    )
    bucket_in_host: bool = Field(
        False,
        description="The bucket stands before the host's name in the address of a request, instead of behind it.",
        examples=[False],
        json_schema_extra=hints(advanced=True),
    )
    certificate_authority: str = certificate_field()

    @field_validator("folder")
    @classmethod
    def _stays_below(cls, folder: str) -> str:
        if any(part in (".", "..") for part in folder.split("/")):
            raise ValueError("a folder has no . or .. in it: name it from the top of the bucket")
        return folder

    @field_validator("endpoint")
    @classmethod
    def _whole_address(cls, endpoint: str) -> str:
        """Digits that are no address by themselves become one, which nobody checked, once a bucket of digits stands before them."""
        host = urlsplit(endpoint).hostname or ""
        if host and not any(sign.isalpha() for sign in host):
            try:
                IPv4Address(host)
            except ValueError:
                raise ValueError(f"{host} is neither a name nor a whole address: correct it") from None
        return endpoint

    @property
    def address(self) -> str:
        return (self.endpoint or f"https://s3.{self.region}.amazonaws.com").rstrip("/")

    @property
    def host(self) -> str:
        return urlsplit(self.address).hostname or ""

    @property
    def asked_host(self) -> str:
        """Where requests go. A bucket stands before a name only, and under TLS only where a certificate for all of them can cover it."""
        is_name = any(sign.isalpha() for sign in self.host)
        in_host = self.bucket_in_host and is_name and not (self.secure and "." in self.bucket)
        return f"{self.bucket}.{self.host}" if in_host else self.host

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or (443 if self.secure else 80)

    @property
    def secure(self) -> bool:
        return self.address.startswith("https://")
