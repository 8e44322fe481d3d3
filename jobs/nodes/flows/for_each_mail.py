"""Sends an e-mail for each row, and passes the row on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, field_validator

from jobs.nodes import base
from jobs.nodes.base import REJECTED, Flow, NodeContext
from jobs.nodes.connections.mail_address import mail_address
from jobs.nodes.form import connection_field, hints
from jobs.nodes.places import TemplateText, place_names, text_filled
from jobs.nodes.sinks.http_delivery import columns_check
from jobs.nodes.user_python.arrow_schema import handed_schema, refuse_twice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Not within a place: a column's name may hold a comma.
_COMMA = re.compile(r",(?![^{}]*\})")


class ForEachMailConfig(base.Config):
    connection: str = connection_field("smtp")
    to: TemplateText = Field(
        min_length=1,
        max_length=2000,
        description="Who gets the mail: addresses with a comma between; ${column} stands for the row's value, one address or nothing.",
        examples=["ops@example.com", "${email}, ops@example.com"],
    )
    subject: TemplateText = Field(
        min_length=1,
        max_length=1000,
        pattern=r"^[^\r\n]*$",
        description="The subject; ${column} stands for the row's value.",
        examples=["Order ${id} is late"],
        json_schema_extra=hints(allowed="one line"),
    )
    text: TemplateText = Field(
        min_length=1,
        max_length=100_000,
        description="The text of the mail; ${column} stands for the row's value.",
        examples=["Order ${id} of ${customer} is late."],
        json_schema_extra=hints("textarea"),
    )
    rows_per_mail: int = Field(
        1,
        ge=1,
        le=1000,
        description="Rows that one mail tells of, at most: its text once for each, its subject of the first. Rows whose mails go to "
        "others stand in mails of their own. If the server refuses a mail, all its rows are rejected.",
        examples=[1, 50],
    )
    mails_per_minute: int = Field(
        60,
        ge=1,
        le=100_000,
        description="Mails a minute, at most; one task sends all, and waits.",
        examples=[60],
        json_schema_extra=hints(advanced=True),
    )
    timeout_seconds: float = Field(
        30, gt=0, le=600, description="How long to wait for an answer.", examples=[30], json_schema_extra=hints(advanced=True)
    )
    attempts: int = Field(
        5, ge=1, le=20, description="How often to try a mail before giving up.", examples=[5], json_schema_extra=hints(advanced=True)
    )

    @field_validator("to")
    @classmethod
    def _addresses_hold(cls, to: str) -> str:
        """Those with places are known with their rows only."""
        for part in to_parts(to):
            if not place_names(part):
                mail_address(text_filled(part, lambda name: None))
        return to

    def columns_used(self) -> dict[str, str]:
        """Each column that a template names, and the field that names it first."""
        named = [(field, name) for field in ("to", "subject", "text") for name in place_names(getattr(self, field))]
        return {name: field for field, name in reversed(named)}


def to_parts(to: str) -> list[str]:
    """The addresses of `to`, places unfilled."""
    return [part.strip() for part in _COMMA.split(to)]


class ForEachMail(Flow[ForEachMailConfig]):
    """Sends an e-mail for each row and passes the row on as it is; a row whose mail is refused is rejected.

    At least once: the mails of a batch are sent before its rows go further, once however many sinks read them, and again where the
    batch, or its task, is begun again. A mail that is sent again has the Message-ID it had, made of job, node, generation, batch and the
    row's place in it, while the batch keeps its rows and their order. A preview and a test of the job send nothing.
    """

    type = "flow.for_each_mail"
    title = "For each: e-mail"
    icon = "mail"
    Config = ForEachMailConfig
    connection_kinds = ("smtp",)
    rejects_rows: ClassVar[bool] = True
    computes_once: ClassVar[bool] = True
    acts: ClassVar[bool] = True
    summary_template = "{to}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"mails_per_minute", "timeout_seconds", "attempts"})
    own_places: ClassVar[Mapping[str, frozenset[str] | None]] = {"to": None, "subject": None, "text": None}

    def waits_for(self, context: NodeContext[ForEachMailConfig]) -> str:
        """Also while a mail is tried again; why stands in brackets then."""
        from jobs.nodes.retry_note import RetryNote

        if silent := self.needs_to_begin(context):
            return silent
        words = RetryNote.of(context.work_dir).words() if context.is_run else ""
        return f"smtp {context.config.connection} ({words})" if words else ""

    def needs_to_begin(self, context: NodeContext[ForEachMailConfig]) -> str:
        from jobs.nodes.connections.smtp_client import smtp_silent

        return smtp_silent(context.connection(context.config.connection)) if context.is_run else ""

    def plain_fault(self, context: NodeContext[ForEachMailConfig]) -> str:
        return "its mails are sent by Pipeline Web itself"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[ForEachMailConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        (frame,) = frames["in"]
        refuse_twice(frame)
        columns_check(frame.columns, context.config.columns_used())
        handed_schema(frame.schema, context.time_zone, "goes through the mail")
        if not context.is_run:
            return frame.withColumn(REJECTED, F.lit(None).cast("string"))
        from jobs.nodes.flows.mail_sending import rows_mailed

        return rows_mailed(frame, context, context.connection(context.config.connection))
