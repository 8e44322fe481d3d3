"""Which jobs use which connections, read from the documents that name them."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from django.db.models import Q

from jobs.dag.parameters import substitute
from jobs.models import UNFINISHED, Connection, Execution, Job, JobDraft, JobVersion, Project

#: How documents name a connection, in the text they are kept in.
_REFERENCE = re.compile(r'"[a-z_]*connection":"((?:[^"\\]|\\.)*)"')
#: A project and the name in it.
_Place = tuple[int, str]


def connection_users(connections: Iterable[Connection]) -> dict[int, list[str]]:
    """Connection id → names of living jobs whose current version or draft refers to it; one query for all."""
    by_place = _by_place(connections)
    if not by_place:
        return {}
    mentions = Q(dag_definition__contains='connection":"') | Q(draft__document__contains='connection":"')
    jobs = Job.objects.filter(mentions, deleted_at=None, project_id__in={project_id for project_id, _ in by_place}).order_by("job_name")
    users: dict[int, list[str]] = {}
    for job_name, project_id, current, draft in jobs.values_list("job_name", "project_id", "dag_definition", "draft__document").iterator():
        for name in _names(current) | _names(draft or ""):
            if (found := by_place.get((project_id, name))) is not None:
                users.setdefault(found, []).append(job_name)
    return users


def connection_job_counts(connections: Collection[Connection]) -> dict[int, int]:
    """Connection id → how many living jobs refer to it in their current version or in one that is not finished; two queries for all."""
    by_place = _by_place(connections)
    if not by_place:
        return {}
    projects = {project_id for project_id, _ in by_place}
    mention = 'connection":"'
    current = Job.objects.filter(deleted_at=None, project_id__in=projects, dag_definition__contains=mention)
    documents = chain(current.values_list("pk", "project_id", "dag_definition").iterator(), _unfinished_documents(projects))
    uses = {(job_id, by_place[project_id, name]) for job_id, project_id, text in documents for name in _named(text, project_id, by_place)}
    return dict(Counter(connection_id for _, connection_id in uses))


def connections_left_behind(job: Job, project: Project) -> list[str]:
    """Names of connections that the job uses, in its current version, its draft or one that is not finished, and `project` lacks."""
    running = Execution.objects.filter(job=job, status__in=UNFINISHED).values("version")
    texts = [job.dag_definition, *JobVersion.objects.filter(job=job, version__in=running).values_list("dag_definition", flat=True)]
    texts += JobDraft.objects.filter(job=job).values_list("document", flat=True)
    used = {name for text in texts for name in _names(text)}
    here = Connection.objects.filter(project=job.project_id, name__in=used)
    return sorted(here.exclude(name__in=Connection.objects.filter(project=project).values("name")).values_list("name", flat=True))


def _unfinished_documents(projects: Collection[int]) -> list[tuple[int, int, str]]:
    """Job id, project id and document of what is on its way in an older version than the current one."""
    running = Execution.objects.filter(status__in=UNFINISHED, job__project_id__in=projects).values_list("job_id", "version", "job__version")
    older = {(job_id, version) for job_id, version, current in running if version != current}
    if not older:
        return []
    rows = JobVersion.objects.filter(job_id__in={job_id for job_id, _ in older}, version__in={version for _, version in older})
    told = rows.values_list("job_id", "job__project_id", "version", "dag_definition")
    return [(job_id, project_id, text) for job_id, project_id, version, text in told if (job_id, version) in older]


def _named(text: str, project_id: int, by_place: Mapping[_Place, int]) -> set[str]:
    return {name for name in _names(text) if (project_id, name) in by_place}


def _names(text: str) -> set[str]:
    """The connections that a document names; where a parameter does, the one of its default."""
    found = set(_REFERENCE.findall(text))
    if not any("${" in name for name in found):
        return found
    parameters = json.loads(text).get("parameters")
    told = parameters.items() if isinstance(parameters, Mapping) else ()
    defaults = {name: one["default"] for name, one in told if isinstance(one, Mapping) and isinstance(one.get("default"), str)}
    return {str(substitute(name, defaults)) for name in found}


def _by_place(connections: Iterable[Connection]) -> dict[_Place, int]:
    return {(row.project_id, row.name): row.pk for row in connections}
