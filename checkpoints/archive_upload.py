"""Uploads of archives: into one file without a name, which goes with the process that holds it, and no larger than is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from jobs.api.errors import TooLarge
from jobs.selectors.installation import largest_upload
from jobs.selectors.refusals import Conflict


@contextmanager
def _kept() -> Iterator[None]:
    """Conflict where its disk is full, or takes nothing."""
    try:
        yield
    except OSError as error:
        raise Conflict(f"the upload cannot be kept here: {error.strerror or error}", code="checkpoint.storage") from error


class ArchiveUploadHandler(FileUploadHandler):
    """Takes the files of one request. TooLarge ends it as soon as more comes than any archive may have."""

    chunk_size = 1 << 20

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        with _kept():
            self._file = TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115  closed with the request
        self._left = largest_upload()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self._left -= len(raw_data)
        if self._left < 0:
            self._file.close()
            raise TooLarge(f"an archive has at most {settings.CHECKPOINT_ARCHIVE_BYTES:,} bytes")
        with _kept():
            self._file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile[bytes]:
        with _kept():
            self._file.seek(0)
        return UploadedFile(file=self._file, name=self.file_name, content_type=self.content_type, size=file_size)
