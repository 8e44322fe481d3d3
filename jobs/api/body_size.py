"""Bodies that come in pieces, as of a client that does not know beforehand how much it sends."""

import os
from collections.abc import Mapping
from typing import IO, Any

from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http.response import HttpResponseBase


class SizedBodies(ASGIHandler):
    """Answers as Django does, which takes a form for empty whose request does not name its size: here that is known once all is read."""

    def create_request(self, scope: Mapping[str, Any], body_file: IO[bytes]) -> tuple[ASGIRequest, None] | tuple[None, HttpResponseBase]:
        headers = list(scope["headers"])
        if not any(name.lower() == b"content-length" for name, _ in headers):
            headers.append((b"content-length", str(body_file.seek(0, os.SEEK_END)).encode()))
            body_file.seek(0)
        return super().create_request({**scope, "headers": headers}, body_file)
