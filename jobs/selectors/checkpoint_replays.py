"""How much is done again when a job goes back to a checkpoint: from what Spark's folders and the samples hold."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings

from checkpoints.models import Checkpoint
from checkpoints.spark_folder import FolderDamaged, last_committed, source_offsets
from checkpoints.state_data import offsets_by_node
from checkpoints.storage import live_folder
from jobs.engine.grouping import query_folder
from jobs.models import MetricSample
from jobs.selectors.position_differences import rows_between
from jobs.selectors.shapes.base import Shape


class SourceReplayOut(Shape):
    """What one source reads again: `rows`, or `files` and their `bytes` of those that read files; null where it is unknown."""

    node_id: str
    rows: int | None
    files: int | None
    bytes: int | None = None


class ReplayOut(Shape):
    """`seconds` between the checkpoint's batch and the last one that was committed behind it, 0 where there is none; null: unknown.

    `rows`: of all sources, by their positions; where these do not tell, about so many by the samples (`is_about`); null: unknown.
    """

    seconds: float | None
    last_batch_time: datetime | None
    rows: int | None
    is_about: bool
    sources: list[SourceReplayOut]


def checkpoint_replay(checkpoint: Checkpoint) -> ReplayOut:
    """What was read behind it in its generation, and would be read again. Unknown where the live folder changes below our eyes."""
    live = live_folder(Path(settings.CHECKPOINT_ROOT), str(checkpoint.execution.job.job_uid), str(checkpoint.generation))
    try:
        last, kept, sources = _last_batch_time(live), _kept_batch_time(checkpoint, live), list(_sources(checkpoint, live))
    except OSError:
        last, kept, sources = None, None, []
    rows = [source.rows for source in sources]
    exact = sum(one for one in rows if one is not None) if rows and None not in rows else None
    if last is not None and last == kept:
        exact = 0
    sampled = _sampled(checkpoint) if exact is None else None
    return ReplayOut(
        seconds=max(0.0, (last - (kept or checkpoint.create_time)).total_seconds()) if last else None,
        last_batch_time=last,
        rows=exact if exact is not None else sampled,
        is_about=exact is None and sampled is not None,
        sources=sources,
    )


def _queries(live: Path) -> list[Path]:
    return [folder for folder in sorted(live.iterdir()) if (folder / "commits").is_dir()] if live.is_dir() else []


def _last_batch_time(live: Path) -> datetime | None:
    return _newest(folder / "commits" / str(batch) for folder in _queries(live) if (batch := last_committed(folder)) >= 0)


def _kept_batch_time(checkpoint: Checkpoint, live: Path) -> datetime | None:
    """When the batch was committed that the checkpoint was cut behind; None where Spark has removed its entry since."""
    batches = {query_folder(key): query["batch_id"] for key, query in checkpoint.queries.items()}
    return _newest(folder / "commits" / str(batches[folder.name]) for folder in _queries(live) if folder.name in batches)


def _newest(commits: Iterable[Path]) -> datetime | None:
    times = [commit.stat().st_mtime for commit in commits if commit.exists()]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def _sources(checkpoint: Checkpoint, live: Path) -> Iterator[SourceReplayOut]:
    """By node: the positions of the live folder behind those of the checkpoint, which are the smallest over the queries."""
    kept: Mapping[str, Any] = checkpoint.state_data.get("sources", {})
    try:
        offsets = [source_offsets(folder, last_committed(folder)) for folder in _queries(live) if last_committed(folder) >= 0]
    except FolderDamaged:
        offsets = []
    newest = offsets_by_node(offsets, kept) if offsets else {}
    for node_id, position in sorted(kept.items()):
        reached = newest.get(node_id)
        files = _files_between(live, node_id, position, reached)
        if files is None:
            yield SourceReplayOut(node_id=node_id, rows=_rows_again(position, reached), files=None)
        else:
            yield SourceReplayOut(node_id=node_id, rows=None, files=len(files), bytes=_bytes(files))


def _rows_again(position: Any, reached: Any) -> int | None:
    rows = rows_between(position, reached)
    return None if rows is None else max(0, rows)


def _bytes(files: set[str]) -> int | None:
    """Of local files, as long as all are there; else None."""
    places = [urlsplit(file) for file in files]
    if any(place.scheme not in ("", "file") for place in places):
        return None
    try:
        return sum(Path(unquote(place.path)).stat().st_size for place in places)
    except OSError:
        return None


def _files_between(live: Path, node_id: str, position: Any, reached: Any) -> set[str] | None:
    """Files that a file source's log names behind one entry, up to another; None where it is no such source, or its log does not tell."""
    after, upto = (one.get("logOffset") if isinstance(one, Mapping) else None for one in (position, reached))
    if not isinstance(after, int) or not isinstance(upto, int):
        return None
    logs = [log for folder in _queries(live) for log in (folder / "sources").glob("*")]
    mine = [log for log in logs if log.name == node_id or log.name.startswith(f"{node_id}__")]
    try:
        return {file for log in mine for file in _logged(log, after, upto)}
    except (ValueError, LookupError, TypeError, AttributeError):  # an entry is damaged: the live folder may be why one goes back
        return None


def _logged(log: Path, after: int, upto: int) -> Iterator[str]:
    """Paths in the entries behind `after`. A compacted entry repeats those before it, each with its own number."""
    for entry in log.iterdir():
        number = entry.name.removesuffix(".compact")
        if number.isdecimal() and after < int(number) <= upto:
            for line in entry.read_text(encoding="utf-8").splitlines()[1:]:
                file = json.loads(line)
                if after < int(file.get("batchId", number)) <= upto:
                    yield str(file["path"])


def _sampled(checkpoint: Checkpoint) -> int | None:
    """Rows read since the checkpoint, over the executions of its generation: totals of samples begin anew with each of them."""
    samples = MetricSample.objects.filter(execution__generation=checkpoint.generation)
    behind = samples.filter(time__gt=checkpoint.create_time)
    if not behind.exists():
        return None
    before = samples.filter(execution__execution_id=checkpoint.execution_id, time__lte=checkpoint.create_time).order_by("-time").first()
    total = -(before.rows_in if before else 0)
    for execution_id in set(behind.values_list("execution_id", flat=True)):
        newest = behind.filter(execution__execution_id=execution_id).order_by("-time").first()
        total += newest.rows_in if newest else 0
    return max(0, total)
