"""Which jobs use which connections, read from the documents that name them."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any

from django.db.models import F, Q

from jobs.dag.parameters import substitute
from jobs.models import UNFINISHED, Connection, Execution, Job, JobDraft, JobVersion, Project

#: How documents name a connection, in the text they are kept in.
_REFERENCE = re.compile(r'"[a-z_]*connection":"((?:[^"\\]|\\.)*)"')
#: A project and the name in it.
_Place = tuple[int, str]
#: A job's name, its project, and the connections that it names.
_Read = tuple[str, int, set[str]]


def connection_users(connections: Iterable[Connection]) -> dict[int, list[str]]:
    """Connection id → names of living jobs that refer to it in their current version, their draft or what is not finished."""
    by_place = _by_place(connections)
    if not by_place:
        return {}
    projects = {project_id for project_id, _ in by_place}
    mentions = Q(dag_definition__contains='connection":"') | Q(draft__document__contains='connection":"')
    jobs = Job.objects.filter(mentions, deleted_at=None, project_id__in=projects)
    told = jobs.values_list("job_name", "project_id", "dag_definition", "draft__document").iterator()
    read = ((job_name, project_id, _names(current) | _names(draft or "")) for job_name, project_id, current, draft in told)
    users: dict[int, list[str]] = {}
    for connection_id, job_name in sorted(_uses(chain(read, _unfinished(projects)), by_place)):
        users.setdefault(connection_id, []).append(job_name)
    return users


def connection_job_counts(connections: Collection[Connection]) -> dict[int, int]:
    """Connection id → how many living jobs refer to it in their current version or in what is not finished."""
    by_place = _by_place(connections)
    if not by_place:
        return {}
    projects = {project_id for project_id, _ in by_place}
    current = Job.objects.filter(deleted_at=None, project_id__in=projects, dag_definition__contains='connection":"')
    told = current.values_list("job_name", "project_id", "dag_definition").iterator()
    read = ((job_name, project_id, _names(text)) for job_name, project_id, text in told)
    return dict(Counter(connection_id for connection_id, _ in _uses(chain(read, _unfinished(projects)), by_place)))


def connections_left_behind(job: Job, project: Project) -> list[str]:
    """Names of connections that the job uses, in its current version, its draft or one that is not finished, and `project` lacks."""
    running = Execution.objects.filter(job=job, status__in=UNFINISHED).values("version")
    texts = [job.dag_definition, *JobVersion.objects.filter(job=job, version__in=running).values_list("dag_definition", flat=True)]
    texts += JobDraft.objects.filter(job=job).values_list("document", flat=True)
    used = {name for text in texts for name in _names(text)}
    here = Connection.objects.filter(project=job.project_id, name__in=used)
    return sorted(here.exclude(name__in=Connection.objects.filter(project=project).values("name")).values_list("name", flat=True))


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
