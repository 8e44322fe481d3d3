"""The OpenAPI schema: operations named by their address, the token beside the session, and the live messages among the types."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from pydantic import TypeAdapter

from jobs.broadcast import ExecutionMessage, OverviewMessage

_LIVE: dict[str, Any] = {"ExecutionMessage": ExecutionMessage, "OverviewMessage": OverviewMessage}


class AddressedAutoSchema(AutoSchema):
    """An operation is called by its path and method, such as `jobs_job_name_draft_put`: unique by itself."""

    def get_operation_id(self) -> str:
        words = self.path.replace("{", "").replace("}", "").replace("-", "_").strip("/").split("/")
        return "_".join([*words[1:], self.method.lower()])


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "jobs.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer"}


def live_messages(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add what the sockets send to the schema's components, so that one generator makes all of the browser's types."""
    schemas = result["components"]["schemas"]
    for name, message in _LIVE.items():
        schema = TypeAdapter(message).json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        for part, definition in schema.pop("$defs", {}).items():
            schemas.setdefault(part, definition)
        schemas[name] = schema
    return result
