"""Sample rows of a draft's sources: kept beside the document, outside of its revision."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction

from jobs.dag.problems import Problem
from jobs.dag.samples import Sample, no_sources, sample_kept, sample_problems, sample_to_keep, sources_in
from jobs.dag.storable import storable_data
from jobs.models import Job, JobDraft, Role
from jobs.selectors.refusals import Conflict, Invalid
from jobs.selectors.samples import sample_revision
from jobs.services.access import role_check

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Kept = dict[str, dict[str, Any]]
#: Whether the rows that are kept of a source may be changed: asked with their revision, None where there are none.
Expected = Callable[[str | None], bool]


@transaction.atomic
def samples_replace(*, job: Job, user: "User", samples: Mapping[str, Sample]) -> None:
    """Keep these and no others; the last write wins. Invalid past the bounds. What belongs to no source of the draft is left out."""
    draft = _locked(job, user)
    _save(draft, {node_id: _plain(sample, user) for node_id, sample in samples.items()})


@transaction.atomic
def sample_keep(*, job: Job, user: "User", node_id: str, sample: Sample, expected: Expected) -> None:
    """Keep the rows of one source; what is kept of sources that the draft no longer has is dropped.

    Invalid past the bounds or where the draft has no such source; Conflict, with who and when, where others are kept than `expected`.
    """
    draft = _locked(job, user)
    _refuse(no_sources([node_id], _sources(draft)), within=f"/samples/{node_id}")
    _expect(draft, node_id, expected)
    _save(draft, {**draft.samples, node_id: _plain(sample, user)}, within=f"/samples/{node_id}")


@transaction.atomic
def sample_drop(*, job: Job, user: "User", node_id: str, expected: Expected) -> None:
    """Previews read the source again. Conflict where others are kept than `expected`; nothing where none are."""
    draft = _locked(job, user)
    _expect(draft, node_id, expected)
    _save(draft, {other: kept for other, kept in draft.samples.items() if other != node_id})


def _locked(job: Job, user: "User") -> JobDraft:
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    return JobDraft.objects.select_for_update().get(job=job)


def _expect(draft: JobDraft, node_id: str, expected: Expected) -> None:
    kept = draft.samples.get(node_id)
    if expected(sample_revision(kept) if kept else None):
        return
    who, when = (kept["taken_by"] or "somebody", kept["taken_at"]) if kept else ("somebody", "")
    did = f"changed the sample rows of {node_id} at {when}" if kept else f"dropped the sample rows of {node_id}"
    raise Conflict(
        f"{who} {did}: look at what is there now, then overwrite it or leave it",
        code="sample.conflict",
        detail={"conflict": {"revision": sample_revision(kept) if kept else "", "updated_by": who, "update_time": when}},
    )


def _save(draft: JobDraft, samples: Kept, *, within: str = "") -> None:
    sources = _sources(draft)
    left = {node_id: kept for node_id, kept in samples.items() if node_id in sources}
    _refuse(sample_problems({node_id: Sample.model_validate(sample_kept(kept)) for node_id, kept in left.items()}), within=within)
    JobDraft.objects.filter(pk=draft.pk).update(samples=left)


def _refuse(problems: list[Problem], *, within: str) -> None:
    """`within`: the place of the rows that alone were sent; pointers begin there then."""
    if problems:
        placed = [problem.model_copy(update={"pointer": problem.pointer.removeprefix(within)}) for problem in problems]
        raise Invalid("the sample rows cannot be kept", problems=placed)


def _sources(draft: JobDraft) -> set[str]:
    """Of a draft that may be half-drawn."""
    nodes = json.loads(draft.document).get("nodes")
    drawn = nodes.items() if isinstance(nodes, dict) else ()
    return sources_in({node_id: str(node.get("type")) for node_id, node in drawn if isinstance(node, dict)})


def _plain(sample: Sample, user: "User") -> dict[str, Any]:
    return sample_to_keep(sample.model_copy(update={"taken_by": user.get_username(), "rows": storable_data(sample.rows)}))
