"""Tables that a job reads and that another job of its project makes when it first runs."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.dag.pointers import parts_of
from jobs.dag.problems import Problem
from jobs.models import Job, Project

#: How SQLite, PostgreSQL and MySQL say it of a table, and of nothing else.
_MISSING = re.compile(r"""no such table|relation "[^"]+" does not exist|Table '[^']+' doesn't exist""")


def tables_awaited(problems: Sequence[Problem], document: Mapping[str, Any], project: Project) -> list[Problem]:
    """`problems`, where a table that is not there yet but will be is a warning that names the job which makes it."""
    return [_awaited(problem, document, project) or problem for problem in problems]


def _awaited(problem: Problem, document: Mapping[str, Any], project: Project) -> Problem | None:
    place = parts_of(problem.pointer)
    if problem.severity != "error" or place[:1] != ["nodes"] or place[2:] != ["config", "table"] or not _MISSING.search(problem.message):
        return None
    node = document["nodes"][place[1]]
    if node["type"] != "source.jdbc":
        return None
    connection, table = node["config"].get("connection"), node["config"]["table"]
    maker = _maker(project, str(connection), str(table), apart_from=document.get("name"))
    if maker is None:
        return None
    told = f'the table {table} is not there yet; the job "{maker}" makes it when it first runs'
    message = f'"{node.get("name", place[1])}": {told}'
    return problem.model_copy(update={"severity": "warning", "code": "table.awaited", "message": message})


def _maker(project: Project, connection: str, table: str, *, apart_from: str | None) -> str | None:
    """The name of a published job that writes the table and may create it; none where a parameter names it: two may have one name."""
    if "${" in connection + table:
        return None
    named = json.dumps(table, ensure_ascii=False)[1:-1]
    jobs = Job.objects.filter(project=project, deleted_at=None, version__isnull=False, dag_definition__contains=named)
    for name, text in jobs.exclude(job_name=apart_from).order_by("job_name").values_list("job_name", "dag_definition"):
        if any(_makes(node, connection, table) for node in json.loads(text)["nodes"].values()):
            return name
    return None


def _makes(node: Mapping[str, Any], connection: str, table: str) -> bool:
    config = node["config"]
    is_same = (config.get("connection"), config.get("table")) == (connection, table)
    return node["type"] == "sink.jdbc" and is_same and config.get("create_table", True) is True
