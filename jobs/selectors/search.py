"""One search over jobs, nodes, executions and checkpoints."""

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from django.db.models import Q

from checkpoints.models import Checkpoint
from jobs.selectors.checkpoints import checkpoints_visible
from jobs.selectors.executions import executions_visible
from jobs.selectors.jobs import jobs_visible
from jobs.selectors.shapes.overview import SearchHit, SearchOut

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SHORTEST = 2
LONGEST = 200
OF_A_KIND = 6


def search_out(user: "User", text: str) -> SearchOut:
    """At most six hits of a kind; nothing for less than two characters."""
    text = text.strip()[:LONGEST]
    if len(text) < SHORTEST:
        return SearchOut(results=[])
    return SearchOut(results=[*_jobs(user, text), *_nodes(user, text), *_executions(user, text), *_checkpoints(user, text)])


def _jobs(user: "User", text: str) -> list[SearchHit]:
    rows = jobs_visible(user).filter(Q(job_name__icontains=text) | Q(title__icontains=text)).order_by("job_name")
    return [
        SearchHit(kind="job", title=title or name, detail=name, path=f"/jobs/{name}")
        for name, title in rows.values_list("job_name", "title")[:OF_A_KIND]
    ]


def _nodes(user: "User", text: str) -> list[SearchHit]:
    """Nodes whose name, id or type holds the text. The document's text is asked first, so few documents are read."""
    hits: list[SearchHit] = []
    written = json.dumps(text, ensure_ascii=False)[1:-1]
    rows = jobs_visible(user).filter(dag_definition__icontains=written).order_by("job_name")
    for name, title, document in rows.values_list("job_name", "title", "dag_definition")[:50]:
        for node_id, node in json.loads(document).get("nodes", {}).items():
            if any(text.lower() in str(word).lower() for word in (node_id, node.get("name", ""), node.get("type", ""))):
                detail = f"{node.get('type', '')} · {title or name}"
                path = f"/jobs/{name}?node={quote(node_id)}"
                hits.append(SearchHit(kind="node", title=str(node.get("name") or node_id), detail=detail, path=path))
        if len(hits) >= OF_A_KIND:
            break
    return hits[:OF_A_KIND]


def _executions(user: "User", text: str) -> list[SearchHit]:
    rows = executions_visible(user).filter(execution_id__startswith=text.lower()).order_by("-create_time", "-id")
    return [
        SearchHit(kind="execution", title=execution_id, detail=f"{job_name}, {status}", path=f"/executions/{execution_id}")
        for execution_id, job_name, status in rows.values_list("execution_id", "job_name", "status")[:OF_A_KIND]
    ]


def _checkpoints(user: "User", text: str) -> list[SearchHit]:
    rows = checkpoints_visible(user).filter(label__icontains=text).order_by("-create_time", "-id")[:OF_A_KIND]
    return [_checkpoint_hit(row) for row in rows]


def _checkpoint_hit(row: Checkpoint) -> SearchHit:
    detail = f"checkpoint {row.checkpoint_id} of {row.execution.job_name}"
    return SearchHit(kind="checkpoint", title=row.label, detail=detail, path=f"/checkpoints?checkpoint={row.pk}")
