"""What becomes of each node of a graph that goes on from another graph's checkpoint, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem

#: From harmless to impossible.
Verdict = Literal["same", "compatible", "compatible_with_warning", "state_dropped", "needs_fresh_start"]

#: Code → verdict and sentence; `{…}` are the change's facts.
SENTENCES: Mapping[str, tuple[Verdict, str]] = {
    "same": ("same", "It goes on as it is"),
    "renumbered": ("same", "It goes on as it is; only its id changed, from {before} to {after}"),
    "pace": ("compatible", "Its {fields} changed: neither its rows nor its position depends on that"),
    "rows": ("compatible_with_warning", "Its {fields} changed: rows up to here were made the old way and stay as they are"),
    "type": ("compatible_with_warning", "It was {before} and is {after} now: rows up to here were made the old way and stay as they are"),
    "inputs": ("compatible_with_warning", "It is connected in another way: rows up to here came the old way and stay as they are"),
    "added": ("compatible_with_warning", "It is new: rows up to here did not pass it"),
    "removed": ("compatible_with_warning", "It was taken out: rows up to here passed it, further ones do not"),
    "source.added": ("compatible_with_warning", "It is new here: it is read from where its settings start"),
    "source.again": (
        "needs_fresh_start",
        "It was read before, taken out and comes back: what Spark kept of it then would be mixed in; give it another id",
    ),
    "source.removed": ("compatible_with_warning", "It is read no more; its position is given up"),
    "source.type": ("needs_fresh_start", "It was {before} and is {after} now: a position of the one means nothing to the other"),
    "source.place": ("needs_fresh_start", "It reads something else ({fields} changed), in which its position means nothing"),
    "source.id": (
        "needs_fresh_start",
        "Its id changed from {before} to {after}: positions are kept by id, so it would be read again from its start",
    ),
    "source.edges": (
        "needs_fresh_start",
        "Its branches' edges changed, under whose ids it is read several times: it would be read again from its start",
    ),
    "source.buffer": (
        "needs_fresh_start",
        "Its messages lie in a buffer that belongs to one job: a position in that of another means nothing here",
    ),
    "source.copies": (
        "needs_fresh_start",
        "Its files are copied for each job by itself, and Spark knows them by the copies: it would read all of them again here",
    ),
    "source.none": ("needs_fresh_start", "The query read other sources only: nothing of its position fits"),
    "state.settings": (
        "needs_fresh_start",
        "Its {fields} changed, but what it holds was made the old way: the two together give wrong numbers",
    ),
    "state.above": (
        "needs_fresh_start",
        "Its input changed ({nodes}), but what it holds was made of the old input: the two together give wrong numbers",
    ),
    "state.added": (
        "needs_fresh_start",
        "It keeps state and is new in a query that goes on: what it should hold by now was never gathered",
    ),
    "state.removed": (
        "needs_fresh_start",
        "It keeps state and was taken out of a query that goes on: Spark refuses to leave its state behind",
    ),
    "state.order": ("needs_fresh_start", "The nodes that keep state stand in another order: each would go on with the state of another"),
    "state.dropped": ("state_dropped", "What it holds is left behind: no sink that read it goes on"),
    "sink.rows": (
        "compatible_with_warning",
        "Its {fields} changed: rows up to here stay where and as they are, further ones follow the new settings",
    ),
    "sink.type": ("compatible_with_warning", "It was {before} and is {after} now: rows up to here stay where they are"),
    "sink.id": (
        "compatible_with_warning",
        "Its id changed from {before} to {after}: its target takes it for another writer, and does not know what it wrote before",
    ),
    "sink.added": ("compatible_with_warning", "It is new: it gets rows from here on, none of those before"),
    "sink.filled": ("compatible_with_warning", "It is new, with a query of its own: it is filled from where its sources start"),
    "sink.removed": ("compatible_with_warning", "It is written no more; its rows stay where they are"),
    "sink.merged": ("needs_fresh_start", "It shares a query with {nodes} now: each had a position of its own, and one query has only one"),
    "sink.anew": ("needs_fresh_start", "Nothing of what wrote it goes on: no query of the one graph is found in the other"),
    "settings.job_type": ("needs_fresh_start", "The job was {before} and is {after} now"),
    "settings.time_zone": (
        "needs_fresh_start",
        "The time zone was {before} and is {after} now, but days and hours in the state are those of the old one",
    ),
    "settings.zone_of_rows": ("compatible_with_warning", "The time zone was {before} and is {after} now: rows up to here stay as they are"),
    "settings.state_store": (
        "needs_fresh_start",
        "The state is kept in {before}: a query that keeps it in {after} cannot read it",
    ),
    "settings.parallelism": (
        "compatible_with_warning",
        "The state has {before} parts and keeps them: the parallelism of {after} works for it only after a fresh start",
    ),
    "settings.rejected_rows": (
        "compatible_with_warning",
        "Rejected rows met {before} and meet {after} now: those up to here stay as they are",
    ),
    "whole.changed": ("needs_fresh_start", "The job reads everything at once and keeps no position: changed, it has to begin anew"),
    "whole.other": (
        "needs_fresh_start",
        "The one graph reads everything at once, the other goes on from a position: the two cannot follow one another",
    ),
}


@dataclass(frozen=True)
class Change:
    """One node, or with the id "" the job's settings. `code` and `facts` say what `message` says, for other languages."""

    node_id: str
    name: str
    code: str
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        return SENTENCES[self.code][0]

    @property
    def message(self) -> str:
        return SENTENCES[self.code][1].format(**self.facts)

    @property
    def weight(self) -> int:
        """The heavier, the worse."""
        return get_args(Verdict).index(self.verdict)

    @property
    def line(self) -> str:
        """The message with the node it is about."""
        return f'"{self.name}": {self.message}' if self.name else self.message

    @property
    def problem(self) -> Problem:
        return Problem(
            code=f"graph.{self.code}",
            node_id=self.node_id,
            pointer=pointer_of(("nodes", self.node_id) if self.node_id else ("settings",)),
            message=self.line,
            severity="error" if self.verdict in ("needs_fresh_start", "state_dropped") else "warning",
        )

    def data(self) -> dict[str, Any]:
        """As an event, a refusal or an answer keeps it."""
        return {
            "node_id": self.node_id,
            "name": self.name,
            "verdict": self.verdict,
            "code": self.code,
            "facts": dict(self.facts),
            "message": self.message,
        }


def words_of(fields: list[str]) -> str:
    """Names of config fields as a form calls them."""
    return ", ".join(name.replace("_", " ") for name in fields)
