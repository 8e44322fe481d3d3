"""The form of `source.http_api`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.columns import ColumnField
from jobs.nodes.form import connection_field, hints
from jobs.nodes.json_pointer import JsonPointer
from jobs.nodes.places import JsonTemplate, TemplateText, place_names

#: What the reading fills in itself, in path, parameters and body.
PLACES = frozenset({"cursor", "page", "offset", "page_size", "now"})
_PARAMETER_NAME = r"^[^\s&=?#]*$"
_PAGED = "paging=page|offset|cursor|next_link|link_header|until_empty"


class QueryParameter(base.Config):
    name: str = Field(min_length=1, max_length=100, pattern=_PARAMETER_NAME, description="Name of the parameter.", examples=["year"])
    value: TemplateText = Field("", max_length=2000, description="Its value.", examples=["2013", "${now}"])


class HttpApiConfig(base.Config):
    connection: str = connection_field("http_api")
    path: TemplateText = Field(
        "",
        max_length=2000,
        pattern=r"^[^\s?#\\]*$",
        description="What follows the connection's base address, without parameters. ${page}, ${cursor} and the like may stand in it.",
        examples=["flights", "orders/${page}"],
    )
    method: Literal["GET", "POST"] = Field("GET", description="POST sends a body.", examples=["POST"], json_schema_extra=hints(half=True))
    paging: Literal["page", "offset", "cursor", "next_link", "link_header", "until_empty", "none"] = Field(
        "page",
        description="How the next page is asked for; until empty the request stays the same.",
        examples=["page", "cursor"],
        json_schema_extra=hints(half=True),
    )
    body: TemplateText = Field(
        "",
        max_length=100_000,
        description=(
            "JSON to send. ${cursor}, ${page}, ${offset}, ${page_size}, ${now} (when the reading began, in UTC) and the job's parameters "
            "may stand in it, as in path and parameters; a member that is only ${cursor} is left out of the first request."
        ),
        examples=['{"after": "${cursor}", "limit": "${page_size}"}'],
        json_schema_extra=hints("textarea", when="method=POST"),
    )
    cursor_parameter: str = Field(
        "cursor",
        pattern=_PARAMETER_NAME,
        description="Parameter of the cursor.",
        examples=["cursor", "after"],
        json_schema_extra=hints(when="paging=cursor", half=True),
    )
    cursor_pointer: JsonPointer = Field(
        "/next_cursor",
        description="JSON pointer to the next page's cursor, or address; nothing there, or the same again on an empty page, ends it.",
        examples=["/next_cursor", "/links/next"],
        json_schema_extra=hints(when="paging=cursor", half=True),
    )
    offset_parameter: str = Field(
        "offset",
        pattern=_PARAMETER_NAME,
        description="Parameter of the number of records to pass over; the parameter of the page size is then the limit.",
        examples=["offset", "skip"],
        json_schema_extra=hints(when="paging=offset"),
    )
    link_pointer: JsonPointer = Field(
        "/next",
        description="JSON pointer to the next page's address; nothing there means the last page.",
        examples=["/next", "/links/next"],
        json_schema_extra=hints(when="paging=next_link"),
    )
    page_size: int = Field(
        1000, ge=1, le=100_000, description="Records a page.", examples=[1000], json_schema_extra=hints(when=_PAGED, half=True)
    )
    records_pointer: JsonPointer = Field(
        "",
        description="Where in a page the list of records is, as a JSON pointer; empty: the page is the list.",
        examples=["/results", "/data/items"],
        json_schema_extra=hints(half=True),
    )
    columns: tuple[ColumnField, ...] = Field(
        (),
        description="The fields of a record that become columns; empty takes names and types from the first page with records.",
        examples=[[{"name": "carrier", "type": "string"}, {"name": "dep_delay", "type": "double"}]],
        json_schema_extra=hints("columns"),
    )
    parameters: tuple[QueryParameter, ...] = Field(
        (),
        description="Further parameters of every request.",
        examples=[[{"name": "year", "value": "2013"}]],
        json_schema_extra=hints("mapping"),
    )
    total_pointer: JsonPointer = Field(
        "",
        description="JSON pointer to the number of all records, for the progress and the end; empty when there is none.",
        examples=["/total"],
        json_schema_extra=hints(advanced=True),
    )
    pages_per_batch: int = Field(
        1,
        ge=1,
        le=1000,
        description="Pages that make up one batch and one checkpoint; by number and by offset they are fetched at once.",
        examples=[1, 10],
        json_schema_extra=hints(advanced=True, when=_PAGED),
    )
    page_parameter: str = Field(
        "page",
        pattern=_PARAMETER_NAME,
        description="Parameter of the page's number.",
        examples=["page"],
        json_schema_extra=hints(advanced=True, when="paging=page", half=True),
    )
    first_page: int = Field(
        1,
        ge=0,
        le=1_000_000,
        description="Number of the first page.",
        examples=[0, 1],
        json_schema_extra=hints(advanced=True, when="paging=page", half=True),
    )
    first_offset: int = Field(
        0,
        ge=0,
        le=1_000_000_000,
        description="Offset of the first record.",
        examples=[0, 1],
        json_schema_extra=hints(advanced=True, when="paging=offset"),
    )
    link_hosts: tuple[str, ...] = Field(
        (),
        max_length=20,
        description="Hosts, if need be with a port, that a next page may be on besides the connection's; sign-in data is not sent there.",
        examples=[["pages.example.com"], ["pages.example.com:8443"]],
        json_schema_extra=hints(advanced=True, when="paging=next_link|link_header"),
    )
    page_size_parameter: str = Field(
        "page_size",
        pattern=_PARAMETER_NAME,
        description="Parameter of the page size; empty sends none.",
        examples=["page_size", "limit"],
        json_schema_extra=hints(advanced=True, when=_PAGED),
    )
    concurrency: int = Field(
        8,
        ge=1,
        le=20,
        description="Requests at once, at most.",
        examples=[4],
        json_schema_extra=hints(advanced=True, when="paging=page|offset", half=True),
    )
    requests_per_second: float | None = Field(
        None,
        gt=0,
        le=10_000,
        description="At most; empty sets no limit.",
        examples=[5, 0.5],
        json_schema_extra=hints(advanced=True, half=True),
    )
    most_pages: int = Field(
        1_000_000,
        ge=1,
        le=1_000_000_000,
        description="An API with more pages than this is taken for one that does not end.",
        examples=[10_000],
        json_schema_extra=hints(advanced=True, when=_PAGED),
    )
    timeout_seconds: float = Field(
        30, gt=0, le=600, description="How long to wait for an answer.", examples=[30], json_schema_extra=hints(advanced=True, half=True)
    )
    attempts: int = Field(
        5,
        ge=1,
        le=20,
        description="How often to try a request before giving up.",
        examples=[5],
        json_schema_extra=hints(advanced=True, half=True),
    )

    @model_validator(mode="after")
    def _paging_is_complete(self) -> HttpApiConfig:
        used = self.places_used()
        if self.paging == "page" and not (self.page_parameter or "page" in used or "offset" in used):
            raise ValueError("paging by number needs a page parameter")
        if self.paging == "offset" and not (self.offset_parameter or "offset" in used):
            raise ValueError("paging by offset needs an offset parameter")
        if self.paging == "cursor" and not ((self.cursor_parameter or "cursor" in used) and self.cursor_pointer):
            raise ValueError("paging by cursor needs a cursor parameter and a cursor pointer")
        if self.paging == "next_link" and not self.link_pointer:
            raise ValueError("paging by link needs the pointer to it")
        if self.paging == "until_empty" and not self.columns and not used & {"page", "offset"}:
            raise ValueError("list the columns: asking for them could take records that are handed out only once")
        return self

    @model_validator(mode="after")
    def _body_is_json(self) -> HttpApiConfig:
        if self.method == "GET" and self.body:
            raise ValueError("a body has no meaning for GET: choose POST, or leave it empty")
        if self.body and not JsonTemplate(self.body).is_json():
            raise ValueError("the body must be JSON")
        return self

    def places_used(self) -> frozenset[str]:
        texts = (self.path, self.body, *(parameter.value for parameter in self.parameters))
        return frozenset(name for text in texts for name in place_names(text))
