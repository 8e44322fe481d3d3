"""Sample rows that are kept with a draft."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from jobs.dag.samples import sample_kept
from jobs.models import Job, JobDraft
from jobs.selectors.refusals import NotFound
from jobs.selectors.shapes.samples import SampleOut, SamplesOut


def samples_out(job: Job) -> SamplesOut:
    """Those of all sources."""
    return SamplesOut(samples={node_id: _out(kept) for node_id, kept in samples_kept(job).items()})


def sample_out(*, job: Job, node_id: str) -> SampleOut:
    """Those of one source, or NotFound."""
    kept = samples_kept(job).get(node_id)
    if kept is None:
        raise NotFound(f'no sample rows of "{node_id[:64]}" are kept with the draft of "{job.job_name}"')
    return _out(kept)


def samples_kept(job: Job) -> dict[str, dict[str, Any]]:
    """As they stand in the table."""
    return dict(JobDraft.objects.values_list("samples", flat=True).get(job=job))


def sample_revision(kept: Mapping[str, Any]) -> str:
    """Another text for other rows."""
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def _out(kept: Mapping[str, Any]) -> SampleOut:
    return SampleOut(**sample_kept(kept), revision=sample_revision(kept))
