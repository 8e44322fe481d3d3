"""How the rows of an execution kept the rules of its expectations, over all batches that were written."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from jobs.dag.document import DagDocument, parse_document
from jobs.dag.parameters import resolve_parameters, substitute
from jobs.models import Execution, ExecutionStatus, JobVersion, QueryProgress
from jobs.nodes.flows.expectations import rule_broken
from jobs.selectors.shapes.execution import ExpectationOut, ExpectationScoreOut

_TYPE = "flow.expectations"


def expectations_out(execution: Execution) -> list[ExpectationOut]:
    """Every rule of every such node, in the order of the nodes' names and of the rules; empty where there is none."""
    document = _document(execution)
    if document is None:
        return []
    values, _ = resolve_parameters(document, execution.parameters)
    checked, broken = _counted(execution)
    found = []
    for node_id, node in sorted(document.nodes.items(), key=lambda item: (item[1].name, item[0])):
        for rule in _rules(node.config, values) if node.type == _TYPE else ():
            rows, worse = checked[node_id], broken[(node_id, rule["name"])]
            found.append(
                ExpectationOut(
                    node_id=node_id,
                    node_name=node.name,
                    rule=rule["name"],
                    action=rule.get("action", "drop"),
                    checked=rows,
                    broken=worse,
                    share=worse / rows if rows else None,
                    ended=_ended(execution, node_id, rule["name"]),
                )
            )
    return found


def expectation_scores(rules: Sequence[ExpectationOut]) -> list[ExpectationScoreOut]:
    """One for each node of `rules`, in their order."""
    scores = []
    for node_id, several in groupby(rules, key=lambda rule: rule.node_id):
        own = list(several)
        checks = sum(rule.checked for rule in own)
        kept = checks - sum(rule.broken for rule in own)
        name, checked = own[0].node_name, own[0].checked
        scores.append(ExpectationScoreOut(node_id=node_id, node_name=name, checked=checked, score=kept / checks if checks else None))
    return scores


def _ended(execution: Execution, node_id: str, rule: str) -> bool:
    failed = execution.status == ExecutionStatus.FAILED and execution.error_node_id == node_id
    return failed and rule_broken(rule) in execution.error_message


def _rules(config: Mapping[str, Any], values: Mapping[str, Any]) -> list[dict[str, Any]]:
    rules = substitute(config.get("rules", []), values)
    return [rule for rule in rules if isinstance(rule, dict) and "name" in rule] if isinstance(rules, list) else []


def _document(execution: Execution) -> DagDocument | None:
    texts = JobVersion.objects.filter(job_id=execution.job_id, version=execution.version)
    text = texts.values_list("dag_definition", flat=True).first()
    return parse_document(json.loads(text))[0] if text else None


def _counted(execution: Execution) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Rows that each node with rules let through or rejected, and those that broke each of its rules."""
    checked: Counter[str] = Counter()
    broken: Counter[tuple[str, str]] = Counter()
    for row in QueryProgress.objects.filter(execution_id=execution.execution_id):
        for part in (row.base, row.latest):
            nodes: dict[str, Any] = part.get("nodes", {})
            for node_id, counts in nodes.items():
                checked[node_id] += (counts.get("out") or 0) + (counts.get("rejected") or 0)
                for name, rows in counts.get("tallies", {}).items():
                    broken[(node_id, name)] += rows
    return checked, broken
