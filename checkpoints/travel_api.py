"""Checkpoints that travel: out as an archive, in from an archive or from another job."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import ParseError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from checkpoints.archive_upload import ArchiveUploadHandler
from jobs.api.base import ApiView, answer, body_read, described
from jobs.api.parsers import BoundedJsonParser
from jobs.selectors.checkpoints import checkpoint_get, checkpoint_out
from jobs.selectors.jobs import job_get
from jobs.selectors.shapes.base import Body
from jobs.selectors.shapes.checkpoint import CheckpointOut
from jobs.services.checkpoint_arrivals import checkpoint_copy, checkpoint_import
from jobs.services.checkpoints import checkpoint_export


class CheckpointArrival(Body):
    """Either `multipart/form-data` with an archive as the field `file`, or this: the row id of a checkpoint of another job."""

    checkpoint: int


class CheckpointArchiveView(ApiView):
    @described("The checkpoint as one archive (tar), to be imported elsewhere", responds=OpenApiTypes.BINARY, tag="checkpoints")
    def get(self, request: Request, checkpoint_id: int) -> HttpResponseBase:
        checkpoint = checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id)
        archive = checkpoint_export(checkpoint=checkpoint, user=self.user())
        chunks = archive.chunks()
        # Django gathers a plain iterator whole before an asynchronous server sends any of it.
        told: Any = _awaited(chunks) if isinstance(request._request, ASGIRequest) else chunks
        response = StreamingHttpResponse(told, content_type="application/x-tar")
        response["Content-Length"] = str(archive.size)
        name = f"{checkpoint.execution.job_name}-checkpoint-{checkpoint.checkpoint_id}.tar"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


async def _awaited(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        yield chunk


class CheckpointImportView(ApiView):
    parser_classes = [MultiPartParser, BoundedJsonParser]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Said before anything of the body is read: the proof of where a request comes from is looked for in it too."""
        request.upload_handlers = [ArchiveUploadHandler(request)]
        return super().dispatch(request, *args, **kwargs)

    @described(
        "Bring a checkpoint here, from an archive or from another job: a savepoint with an identity of its own",
        takes=CheckpointArrival,
        responds=CheckpointOut,
        status=201,
        tag="checkpoints",
    )
    def post(self, request: Request, job_name: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        if request.content_type.startswith("multipart/"):
            file = request.FILES.get("file")
            if not isinstance(file, UploadedFile) or file.file is None:
                raise ParseError('send the archive as the field "file"')
            return answer(checkpoint_out(checkpoint_import(job=job, user=self.user(), archive=cast(BinaryIO, file.file))), status=201)
        body = body_read(request, CheckpointArrival)
        origin = checkpoint_get(user=self.user(), checkpoint_id=body.checkpoint)
        return answer(checkpoint_out(checkpoint_copy(job=job, user=self.user(), checkpoint=origin)), status=201)
