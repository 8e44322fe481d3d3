"""One checkpoint of a whole job: the cut of each of its queries, and what the row says about them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkpoints.checksums import Digests
from checkpoints.cut import QueryCut, folder_remove, partial_of, query_cut, rename_into_place
from checkpoints.ledger import CheckpointResult, Ticket
from checkpoints.manifest import manifest_write
from checkpoints.query_facts import query_facts
from checkpoints.state_data import offsets_by_node, state_data
from checkpoints.storage import bytes_exclusive, bytes_logical
from checkpoints.told import Told
from jobs.engine.grouping import is_whole, query_folder, query_plans
from jobs.engine.steps import Steps
from jobs.nodes.registry import REGISTRY, NodeRegistry

if TYPE_CHECKING:
    from jobs.engine.plan import Plan

_WORDS = {
    "begin": "beginning",
    "wait": "waiting for the first batch of every query",
    "copy": "copying",
    "check": "checking the copy",
    "write": "writing it down",
    "upload": "uploading",
}


class CheckpointTimeout(Exception):
    """It took longer than it may."""


@dataclass(frozen=True)
class RunFacts:
    """Of what a checkpoint is. `sources` are node ids; `page_sizes` source node → records a page, where it reads pages."""

    execution_id: str
    job_uid: str
    job_name: str
    job_type: str
    version: int
    generation: str
    attempt: int
    sources: tuple[str, ...] = ()
    page_sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JobQuery:
    """One query of the job: its Spark folder and the sinks it writes."""

    folder: Path
    sinks: tuple[str, ...]


def run_facts(plan: Plan, *, execution_id: str, version: int) -> RunFacts:
    """The facts of an execution that runs `plan`."""
    sources = {step.node_id: step for step in plan.steps if step.type.startswith("source.")}
    pages = {node_id: step.config.page_size for node_id, step in sources.items() if hasattr(step.config, "page_size")}
    return RunFacts(
        execution_id=execution_id,
        job_uid=plan.job_uid,
        job_name=plan.job_name,
        job_type=plan.job_type,
        version=version,
        generation=plan.generation,
        attempt=plan.attempt,
        sources=tuple(sources),
        page_sizes=pages,
    )


def job_queries(plan: Plan, *, registry: NodeRegistry = REGISTRY) -> dict[str, JobQuery]:
    """Every query that `plan` will run; none if it reads everything at once, for that leaves no position."""
    steps = Steps(plan, registry)
    if is_whole(steps):
        return {}
    return {query.key: JobQuery(plan.locations.live / query_folder(query.key), query.sinks) for query in query_plans(steps)}


class Phases:
    """The time each phase took, and the end of patience: `step` raises CheckpointTimeout past `timeout` seconds from now."""

    def __init__(self, timeout: float) -> None:
        self._begun = self._since = time.monotonic()
        self._timeout = timeout
        self._phase = "begin"
        self._seconds: dict[str, float] = {}

    def step(self, phase: str) -> None:
        now = time.monotonic()
        self._seconds[self._phase] = self._seconds.get(self._phase, 0.0) + now - self._since
        self._since, self._phase = now, phase
        if now - self._begun > self._timeout:
            raise CheckpointTimeout(f"it took longer than {self._timeout:g} s")

    def words(self) -> str:
        """The phase it is in, for a sentence."""
        return _WORDS[self._phase]

    def milliseconds(self) -> dict[str, int]:
        """Phase → milliseconds up to now."""
        seconds = dict(self._seconds)
        seconds[self._phase] = seconds.get(self._phase, 0.0) + time.monotonic() - self._since
        return {phase: round(value * 1000) for phase, value in seconds.items() if phase != "begin"}


class JobCut:
    """Takes checkpoints of one execution; what it learns of files saves the next one from reading them again."""

    def __init__(self, facts: RunFacts) -> None:
        self._facts = facts
        self._digests: Digests = {}

    def take(
        self,
        ticket: Ticket,
        queries: Mapping[str, JobQuery],
        batches: Mapping[str, int],
        phases: Phases,
        *,
        rows: int = 0,
        told: Told | None = None,
        savepoint: bool,
    ) -> CheckpointResult:
        """All queries' cuts below `ticket.folder`, which appears whole or not at all. Raises what went wrong; then nothing is left.

        `rows`: the execution's source rows up to `batches`; `told`: what the run told lately.
        """
        phases.step("copy")
        partial = partial_of(ticket.folder)
        folder_remove(partial)
        partial.mkdir(parents=True)
        try:
            cuts = {
                key: self._query(query, key, batches[key], partial, phases, savepoint)
                for key, query in queries.items()
                if batches[key] >= 0
            }
            sources = offsets_by_node((cut.sources for cut in cuts.values()), self._facts.sources)
            self._manifest(ticket, queries, batches, sources, partial, phases, savepoint)
            facts = query_facts(partial)
            rename_into_place(partial, ticket.folder)
        except BaseException:
            folder_remove(partial)
            raise
        return self._result(ticket, cuts, facts, sources, told or Told(), rows, phases)

    def _query(self, query: JobQuery, key: str, batch_id: int, partial: Path, phases: Phases, savepoint: bool) -> QueryCut:
        facts = {"query": key, "sinks": list(query.sinks), "generation": self._facts.generation}
        target = partial / query.folder.name
        if len(self._digests) > 100_000:
            self._digests.clear()
        return query_cut(query.folder, batch_id, target, real_copy=savepoint, facts=facts, digests=self._digests, on_step=phases.step)

    def _manifest(
        self,
        ticket: Ticket,
        queries: Mapping[str, JobQuery],
        batches: Mapping[str, int],
        sources: Mapping[str, Any],
        partial: Path,
        phases: Phases,
        savepoint: bool,
    ) -> None:
        phases.step("write")
        parts = {
            key: {
                "folder": query.folder.name if batches[key] >= 0 else "",
                "batch_id": batches[key],
                "sinks": list(query.sinks),
            }
            for key, query in queries.items()
        }
        facts = asdict(self._facts)
        manifest_write(partial, {**facts, "number": ticket.number, "savepoint": savepoint, "queries": parts, "offsets": dict(sources)})

    def _result(
        self,
        ticket: Ticket,
        cuts: Mapping[str, QueryCut],
        facts: Mapping[str, Mapping[str, Any]],
        sources: Mapping[str, Any],
        told: Told,
        rows: int,
        phases: Phases,
    ) -> CheckpointResult:
        operators = told.operators(facts)
        summary = state_data(
            job_type=self._facts.job_type,
            number=ticket.number,
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            sources=sources,
            operators=operators,
            rows=rows,
            page_sizes=self._facts.page_sizes,
        )
        return CheckpointResult(
            state_data=summary,
            queries=facts,
            phases=phases.milliseconds(),
            files=sum(cut.files for cut in cuts.values()),
            bytes_logical=bytes_logical(ticket.folder),
            bytes_exclusive=bytes_exclusive(ticket.folder),
            rows=rows,
            backlog=told.backlog,
            operators=operators,
        )
