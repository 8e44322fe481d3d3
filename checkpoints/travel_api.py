"""Checkpoints that travel: out as an archive, in from an archive or from another job."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, BinaryIO, Literal, cast

from django.core.files.uploadedfile import UploadedFile
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from pydantic import Field
from rest_framework.exceptions import ParseError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from checkpoints.archive_upload import ArchiveUploadHandler
from jobs.api.base import ApiView, answer, body_read, described
from jobs.api.parsers import BoundedJsonParser
from jobs.models import Role
from jobs.nodes.hand_positions import Wanted
from jobs.selectors.checkpoint_positions import PositionMoveOut, PositionsOut, SourcePositionOut, checkpoint_positions_out
from jobs.selectors.checkpoints import checkpoint_get, checkpoint_out
from jobs.selectors.jobs import job_get
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.checkpoint import CheckpointOut
from jobs.services.access import role_check
from jobs.services.checkpoint_arrivals import checkpoint_copy, checkpoint_import
from jobs.services.checkpoint_positions import positions_edit, positions_plan
from jobs.services.checkpoints import checkpoint_export


class CheckpointArrival(Body):
    """Either `multipart/form-data` with an archive as the field `file`, or this: the row id of a checkpoint of another job."""

    checkpoint: int


class PositionWanted(Body):
    """`to`: earliest or latest that there is, the first from `time` on, or `values`, written as the position itself is."""

    to: Literal["earliest", "latest", "time", "values"]
    time: str = Field("", max_length=40)
    values: dict[str, Any] = {}


class PositionsEdit(Body):
    """By node id; sources that are not named stay where they are."""

    sources: dict[str, PositionWanted]
    dry_run: bool = True


class SourcePositionsOut(Shape):
    results: list[SourcePositionOut]


class CheckpointPositionsView(ApiView):
    @described("Where its sources stand, and how each can be set elsewhere", responds=SourcePositionsOut, tag="checkpoints")
    def get(self, request: Request, checkpoint_id: int) -> Response:
        """The position of each source of the job in the checkpoint, and in which ways it can be set, or why it cannot."""
        checkpoint = checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id)
        return answer(SourcePositionsOut(results=checkpoint_positions_out(checkpoint)))

    @described(
        "Where sources would stand, or, without dry_run, a savepoint in which they do",
        takes=PositionsEdit,
        responds=PositionsOut,
        tag="checkpoints",
    )
    def post(self, request: Request, checkpoint_id: int) -> Response:
        """Shows positions before and after; without `dry_run` makes a copy of the checkpoint, as a savepoint, with those after."""
        checkpoint = checkpoint_get(user=self.user(), checkpoint_id=checkpoint_id)
        body = body_read(request, PositionsEdit)
        wanted = {node_id: Wanted(one.to, one.time, one.values) for node_id, one in body.sources.items()}
        before = checkpoint.state_data.get("sources", {})
        made = None
        if body.dry_run:
            after = positions_plan(checkpoint=checkpoint, user=self.user(), wanted=wanted)[1]
        else:
            made = positions_edit(checkpoint=checkpoint, user=self.user(), wanted=wanted)
            after = made.state_data["sources"]
        moves = [PositionMoveOut(node_id=node_id, before=before.get(node_id), after=after.get(node_id)) for node_id in wanted]
        return answer(PositionsOut(dry_run=body.dry_run, sources=moves, checkpoint=checkpoint_out(made) if made else None))


class CheckpointArchiveView(ApiView):
    @described("The checkpoint as one archive (tar), to be imported elsewhere", responds=OpenApiTypes.BINARY, tag="checkpoints")
    def get(self, request: Request, checkpoint_id: int) -> HttpResponseBase:
        """The files of the checkpoint, their checksums and the document of its version, for operators, for what nodes keep are rows."""
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
        """Checks every file of what is brought and keeps it as a savepoint of the job; nothing is started."""
        job = job_get(user=self.user(), job_name=job_name)
        if request.content_type.startswith("multipart/"):
            role_check(user=self.user(), project=job.project_id, role=Role.EDITOR)
            file = request.FILES.get("file")
            if not isinstance(file, UploadedFile) or file.file is None:
                raise ParseError('send the archive as the field "file"')
            return answer(checkpoint_out(checkpoint_import(job=job, user=self.user(), archive=cast(BinaryIO, file.file))), status=201)
        body = body_read(request, CheckpointArrival)
        origin = checkpoint_get(user=self.user(), checkpoint_id=body.checkpoint)
        return answer(checkpoint_out(checkpoint_copy(job=job, user=self.user(), checkpoint=origin)), status=201)
