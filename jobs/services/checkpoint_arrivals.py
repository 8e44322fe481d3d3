"""Checkpoints that come from elsewhere: each becomes a savepoint of a job, with an identity of its own.

Files come first, rows last: what a crash leaves is a folder that no row stands for, which the clean-up takes away.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from pydantic import TypeAdapter, ValidationError

from checkpoints.archive_facts import Taken
from checkpoints.archive_reading import ArchiveLimits, ArchiveRefused, archive_unpack, unpacked_check
from checkpoints.copying import checkpoint_copy_files, positions_by_node
from checkpoints.cut import CutDamaged, folder_remove, partial_of, rename_into_place
from checkpoints.files import Brought, files_bring
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import Checkpoint
from checkpoints.services import checkpoint_adopt, root_take
from checkpoints.spark_folder import FolderDamaged
from checkpoints.state_data import state_moved
from checkpoints.storage import checkpoint_folder, storage_key
from checkpoints.storages import opened
from checkpoints.stores.base import StorageFailed
from checkpoints.stores.local import LOCAL
from jobs.dag.document import DagDocument, canonical_json, parse_document
from jobs.engine.plan import Settings
from jobs.models import Execution, ExecutionStatus, Job, Role, TriggeredBy
from jobs.selectors.checkpoint_travel import checkpoint_taken
from jobs.selectors.refusals import Conflict, Invalid
from jobs.services.access import role_check
from jobs.services.audit import audit_record

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Way = Literal["ARCHIVE", "COPY", "POSITIONS"]
_ACTS: Mapping[Way, str] = {
    "ARCHIVE": "checkpoint imported",
    "COPY": "checkpoint copied from another job",
    "POSITIONS": "positions edited",
}


@dataclass(frozen=True)
class Arrival:
    """Where a checkpoint came from. `checkpoint`: its row, where that is in this installation. `before`: node → position it had there.

    `taken`: when it was taken, ISO 8601.
    """

    way: Way
    by: str
    job_uid: str
    job_name: str
    project: str
    execution_id: str
    version: int
    checkpoint_id: int
    checkpoint: int | None
    taken: str
    read_earlier: tuple[str, ...]
    before: Mapping[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        return {**asdict(self), "read_earlier": list(self.read_earlier)}


def checkpoint_import(*, job: Job, user: "User", archive: BinaryIO) -> Checkpoint:
    """A savepoint of `job` from an archive. Invalid says what is wrong with that; then nothing of it is kept.

    For editors: state that anybody could have written is what the job goes on with.
    """
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    limits = ArchiveLimits(settings.CHECKPOINT_ARCHIVE_BYTES, settings.CHECKPOINT_ARCHIVE_FILES)

    def fill(folder: Path) -> Taken:
        facts = archive_unpack(archive, folder, limits)
        unpacked_check(folder, facts)
        return facts

    try:
        return arrive(job=job, user=user, way="ARCHIVE", fill=fill)
    except ArchiveRefused as refused:
        raise Invalid(f"the archive is refused: {refused}", code="archive.refused") from None


def checkpoint_copy(*, job: Job, user: "User", checkpoint: Checkpoint) -> Checkpoint:
    """A savepoint of `job` from a checkpoint of another job, which one operates too. Conflict where that is damaged or gone."""
    role_check(user=user, project=job.project_id, role=Role.OPERATOR)
    role_check(user=user, project=checkpoint.execution.job.project_id, role=Role.OPERATOR)
    if checkpoint.execution.job_id == job.pk:
        raise Conflict(f'checkpoint {checkpoint.checkpoint_id} is one of "{job.job_name}" already: restore it', code="checkpoint.own")
    return copy_arrive(job=job, user=user, way="COPY", checkpoint=checkpoint)


def copy_arrive(
    *, job: Job, user: "User", way: Way, checkpoint: Checkpoint, change: Callable[[Path], None] = lambda folder: None, label: str = ""
) -> Checkpoint:
    """A copy of `checkpoint`, after `change` was done to its files. Conflict where a file is not what was kept."""
    taken = checkpoint_taken(checkpoint)

    def fill(folder: Path) -> Taken:
        try:
            with opened(checkpoint) as origin:
                checkpoint_copy_files(origin, folder)
        except (StorageFailed, OSError) as failed:
            raise Conflict(f"checkpoint {checkpoint.checkpoint_id} cannot be read now: {failed}", code="checkpoint.storage") from None
        except (CutDamaged, ManifestDamaged, FolderDamaged) as damaged:
            raise Conflict(f"checkpoint {checkpoint.checkpoint_id} is damaged: {damaged}", code="checkpoint.damaged") from None
        change(folder)
        return taken

    return arrive(job=job, user=user, way=way, fill=fill, checkpoint=checkpoint, label=label)


@contextmanager
def _taking() -> Iterator[None]:
    try:
        yield
    except (StorageFailed, OSError) as failed:
        why = getattr(failed, "strerror", None) or failed
        raise Conflict(f"the store of checkpoints does not take it now: {why}", code="checkpoint.storage") from failed


@_taking()
def arrive(
    *, job: Job, user: "User", way: Way, fill: Callable[[Path], Taken], checkpoint: Checkpoint | None = None, label: str = ""
) -> Checkpoint:
    """`fill` puts the files into an empty folder and says what they are; whatever it raises leaves nothing behind.

    They go to the installation's store; Conflict where that does not answer, or the disk takes nothing.
    """
    if settings.CHECKPOINT_STORAGE == LOCAL:
        root_take()
    execution_id = str(uuid.uuid4())
    place = Path(settings.CHECKPOINT_ROOT).resolve(), str(job.job_uid), execution_id
    partial = partial_of(checkpoint_folder(*place, 1))
    try:
        partial.mkdir(parents=True)
        taken = fill(partial)
        document = _document(taken)
        sources = {node_id for node_id, node in document.nodes.items() if node.type.startswith("source.")}
        positions = positions_by_node(partial, sources)
        folder = checkpoint_folder(*place, taken.checkpoint.number)
        rename_into_place(partial, folder)
        partial = folder
        arrival = _arrival(way, user, taken, checkpoint)
        state = state_moved(taken.checkpoint.state_data, job_type=taken.run.job_type, sources=positions)
        moved = taken.checkpoint.model_copy(update={"state_data": state})
        brought = files_bring(folder, storage_key(*place[1:], taken.checkpoint.number))
        row = _rows(job, user, execution_id, brought, taken.model_copy(update={"checkpoint": moved}), document, arrival, label)
        if brought.placed:
            folder_remove(folder)
        return row
    except BaseException:
        folder_remove(partial)
        if partial.parent.is_dir() and not any(partial.parent.iterdir()):
            partial.parent.rmdir()
        raise


def _arrival(way: Way, user: "User", taken: Taken, checkpoint: Checkpoint | None) -> Arrival:
    return Arrival(
        way=way,
        by=user.get_username(),
        job_uid=taken.job.job_uid,
        job_name=taken.job.job_name,
        project=taken.job.project,
        execution_id=taken.run.execution_id,
        version=taken.run.version,
        checkpoint_id=taken.checkpoint.number,
        checkpoint=checkpoint.pk if checkpoint else None,
        taken=taken.checkpoint.create_time.isoformat(),
        read_earlier=tuple(taken.run.read_earlier),
        before=taken.checkpoint.state_data.get("sources", {}),
    )


def _document(taken: Taken) -> DagDocument:
    """The document of the version that ran. Invalid where it cannot be read."""
    document, problems = parse_document(taken.document)
    if document is None:
        raise Invalid("the document of the version that ran cannot be read", code="archive.refused", problems=problems)
    return document


def _resolved(taken: Taken) -> dict[str, Any]:
    """The settings that it ran with, those that are known here. Invalid where they cannot be read."""
    try:
        return asdict(TypeAdapter(Settings).validate_python(taken.run.resolved)) if taken.run.resolved else {}
    except ValidationError as error:
        raise Invalid(f"the settings that it ran with cannot be read: {error.errors()[0]['msg']}", code="archive.refused") from None


@transaction.atomic
def _rows(
    job: Job, user: "User", execution_id: str, brought: Brought, taken: Taken, document: DagDocument, arrival: Arrival, label: str
) -> Checkpoint:
    Execution.with_imported.create(
        execution_id=execution_id,
        job=job,
        job_name=job.job_name,
        job_type=taken.run.job_type,
        version=taken.run.version,
        generation=uuid.uuid4(),
        attempt=taken.checkpoint.attempt,
        status=ExecutionStatus.COMPLETED,
        storage_host="" if settings.CHECKPOINT_ROOT_SHARED or brought.placed else settings.STORAGE_HOST,
        parameters=taken.run.parameters,
        resolved=_resolved(taken),
        triggered_by=TriggeredBy.API,
        end_time=timezone.now(),
        created_by=user,
        imported_from=arrival.data,
        imported_document=canonical_json(document),
    )
    row = checkpoint_adopt(execution_id=execution_id, brought=brought, taken=taken, label=label or taken.checkpoint.label)
    detail = {
        "job_name": job.job_name,
        "from": {key: value for key, value in arrival.data.items() if key not in ("read_earlier", "before")},
    }
    audit_record(user=user, action=_ACTS[arrival.way], object_type="checkpoint", object_id=str(row.pk), project=job.project, detail=detail)
    return Checkpoint.objects.select_related("execution__job__project").get(pk=row.pk)
