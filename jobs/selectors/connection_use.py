"""Which jobs use which connections, read from the documents that name them."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from jobs.dag.parameters import substitute
from jobs.models import UNFINISHED, Connection, Execution, Job, JobDraft, JobVersion, Project

#: How documents name a connection, in the text they are kept in.
_REFERENCE = re.compile(r'"[a-z_]*connection":"((?:[^"\\]|\\.)*)"')
#: A project and the name in it.
_Place = tuple[int, str]
#: A job's name, its project, and the connections that it names.
_Read = tuple[str, int, Set[str]]
_PIECE = 500
#: Column and job → the number of the document that was read there last, and what it names: a few names for each job.
_read_of: dict[tuple[str, UUID], tuple[int, frozenset[str]]] = {}
_NOTHING: tuple[int, frozenset[str]] = (-1, frozenset())


def connection_users(connections: Iterable[Connection]) -> dict[int, list[str]]:
    """Connection id → names of living jobs that refer to it in their current version, their draft or what is not finished."""
    by_place = _by_place(connections)
    projects = {project_id for project_id, _ in by_place}
    read = chain(_current(projects), _drafts(projects), _unfinished(projects)) if projects else ()
    users: dict[int, list[str]] = {}
    for connection_id, job_name in sorted(_uses(read, by_place)):
        users.setdefault(connection_id, []).append(job_name)
    return users


def connection_job_counts(connections: Collection[Connection]) -> dict[int, int]:
    """Connection id → how many living jobs refer to it in their current version or in what is not finished."""
    by_place = _by_place(connections)
    projects = {project_id for project_id, _ in by_place}
    read = chain(_current(projects), _unfinished(projects)) if projects else ()
    return dict(Counter(connection_id for connection_id, _ in _uses(read, by_place)))


def connections_left_behind(job: Job, project: Project) -> list[str]:
    """Names of connections that the job uses, in its current version, its draft or one that is not finished, and `project` lacks."""
    running = Execution.objects.filter(job=job, status__in=UNFINISHED).values("version")
    texts = [job.dag_definition, *JobVersion.objects.filter(job=job, version__in=running).values_list("dag_definition", flat=True)]
    texts += JobDraft.objects.filter(job=job).values_list("document", flat=True)
    used = {name for text in texts for name in _names(text)}
    here = Connection.objects.filter(project=job.project_id, name__in=used)
    return sorted(here.exclude(name__in=Connection.objects.filter(project=project).values("name")).values_list("name", flat=True))


def _current(projects: Collection[int]) -> Iterator[_Read]:
    rows = Job.objects.filter(deleted_at=None, project_id__in=projects, version__isnull=False)
    return _remembered(rows, "", "version", "dag_definition")


def _drafts(projects: Collection[int]) -> Iterator[_Read]:
    rows = JobDraft.objects.filter(job__deleted_at=None, job__project_id__in=projects)
    return _remembered(rows, "job__", "revision", "document")


def _remembered(rows: QuerySet[Any], job: str, number: str, text: str) -> Iterator[_Read]:
    """What the documents in `text` name. One is read here once for each `number`: under the same one it never changes."""
    found = list(rows.values_list(f"{job}job_uid", f"{job}job_name", f"{job}project_id", number))
    unread = {uid: now for uid, _, _, now in found if _read_of.get((text, uid), _NOTHING)[0] != now}
    for start in range(0, len(unread), _PIECE):
        piece = list(unread)[start : start + _PIECE]
        mine = rows.filter(**{f"{job}job_uid__in": piece, f"{text}__contains": 'connection":"'})
        texts = dict(mine.values_list(f"{job}job_uid", text))
        _read_of.update({(text, uid): (unread[uid], frozenset(_names(texts.get(uid, "")))) for uid in piece})
    for uid, job_name, project_id, _ in found:
        yield job_name, project_id, _read_of[text, uid][1]


def _unfinished(projects: Collection[int]) -> list[_Read]:
    """What is on its way in an older version than the current one, or with parameters of its own."""
    rows = Execution.objects.filter(status__in=UNFINISHED, job__project_id__in=projects).exclude(version=F("job__version"), parameters={})
    told = list(rows.values_list("job_id", "version", "job__job_name", "job__project_id", "parameters"))
    if not told:
        return []
    versions = JobVersion.objects.filter(job_id__in={one[0] for one in told}, version__in={one[1] for one in told})
    texts = {(job_id, version): text for job_id, version, text in versions.values_list("job_id", "version", "dag_definition")}
    return [(name, project_id, _names(texts.get((job_id, version), ""), given)) for job_id, version, name, project_id, given in told]


def _uses(read: Iterable[_Read], by_place: Mapping[_Place, int]) -> set[tuple[int, str]]:
    """Connection id and name of a job, each pair once."""
    return {
        (by_place[project_id, name], job_name) for job_name, project_id, names in read for name in names if (project_id, name) in by_place
    }


def _names(text: str, given: Mapping[str, Any] | None = None) -> set[str]:
    """The connections that a document names; where a parameter does, the one of its value: the given one, else its default."""
    found = set(_REFERENCE.findall(text))
    if not any("${" in name for name in found):
        return found
    parameters = json.loads(text).get("parameters")
    told = parameters.items() if isinstance(parameters, Mapping) else ()
    defaults = {name: one["default"] for name, one in told if isinstance(one, Mapping) and isinstance(one.get("default"), str)}
    values = defaults | {name: value for name, value in (given or {}).items() if isinstance(value, str)}
    return {str(substitute(name, values)) for name in found}


def _by_place(connections: Iterable[Connection]) -> dict[_Place, int]:
    return {(row.project_id, row.name): row.pk for row in connections}
