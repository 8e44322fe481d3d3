"""Whether a graph can go on from a checkpoint that another graph made, node by node.

Spark accepts most changes of a query without an error, and gives wrong numbers: an aggregate of the same type, another key
expression, another window, a filter put before it. So each stateful node is compared with everything above it, each source with the
place it reads, each query with the sinks it had. What is not known to be harmless needs a fresh start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from jobs.engine.change_words import Change, words_of
from jobs.engine.graph_pairs import Pairs, QueryMatch, pairs_of, queries_matched
from jobs.engine.graph_shape import GraphShape, QueryShape


@dataclass(frozen=True)
class Compatibility:
    """`changes`: the job's settings first where they matter, then every node of the new graph, then those that were taken out.

    `queries`: new query → the old one whose folder it goes on with; the others begin where their sources start.
    `in_place`: each goes on under its own name, so that it can be done in the same generation.
    """

    changes: tuple[Change, ...]
    queries: Mapping[str, str]
    in_place: bool

    def obstacles(self, *, allow_non_restored_state: bool = False) -> tuple[Change, ...]:
        """What stands in the way; state that is left behind does unless it is allowed."""
        hindering = {"needs_fresh_start"} | (set() if allow_non_restored_state else {"state_dropped"})
        return tuple(change for change in self.changes if change.verdict in hindering)

    @property
    def warnings(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.verdict in ("compatible_with_warning", "state_dropped"))


def changes_classify(before: GraphShape, after: GraphShape, *, read_earlier: Collection[str] = ()) -> Compatibility:
    """What becomes of each node when `after` goes on from a checkpoint, or the live folder, that `before` made.

    `read_earlier`: sources that graphs before `before` have read in the same line of positions.
    """
    pairs = pairs_of(before, after)
    matches = queries_matched(before, after, pairs)
    changes = _Classifier(before, after, pairs, matches, read_earlier).changes()
    queries = {match.after.key: match.before[0].key for match in matches if len(match.before) == 1}
    kept_names = all(new == old for new, old in queries.items()) and len(queries) == len(before.queries)
    return Compatibility(tuple(changes), queries, in_place=kept_names)


@dataclass(frozen=True)
class _Classifier:
    before: GraphShape
    after: GraphShape
    pairs: Pairs
    matches: tuple[QueryMatch, ...]
    read_earlier: Collection[str]

    def changes(self) -> list[Change]:
        """The worst of each node; of two that are as bad, what is told of its query rather than of the node by itself."""
        told = [*self._settings(), *self._nodes(), *self._wholes(), *self._queries(), *self._left_behind()]
        worst: dict[str, Change] = {}
        for change in told:
            known = worst.get(change.node_id)
            if known is None or change.weight >= known.weight:
                worst[change.node_id] = change
        order = ["", *(step.node_id for step in self.after.plan.steps)]
        return [*(worst[node_id] for node_id in order if node_id in worst), *(worst[one] for one in worst if one not in order)]

    # ── the job ──────────────────────────────────────────────────────────────
    def _settings(self) -> Iterator[Change]:
        old, new = self.before.plan, self.after.plan
        stateful = any(match.before and match.after.state for match in self.matches)
        if old.job_type != new.job_type:
            yield self._setting("job_type", old.job_type, new.job_type)
        if old.settings.time_zone != new.settings.time_zone:
            yield self._setting("time_zone" if stateful else "zone_of_rows", old.settings.time_zone, new.settings.time_zone)
        if stateful and old.settings.state_store != new.settings.state_store:
            yield self._setting("state_store", old.settings.state_store, new.settings.state_store)
        if stateful and old.settings.parallelism != new.settings.parallelism:
            yield self._setting("parallelism", old.settings.parallelism, new.settings.parallelism)
        if old.settings.rejected_rows != new.settings.rejected_rows:
            yield self._setting("rejected_rows", old.settings.rejected_rows, new.settings.rejected_rows)

    def _setting(self, name: str, before: object, after: object) -> Change:
        return Change("", "", f"settings.{name}", {"before": str(before), "after": str(after)})

    def _wholes(self) -> Iterator[Change]:
        if self.before.is_whole != self.after.is_whole:
            yield Change("", "", "whole.other")
        elif self.before.is_whole and any(change.weight > 1 for change in (*self._settings(), *self._nodes())):
            yield Change("", "", "whole.changed")

    # ── each node by itself ──────────────────────────────────────────────────
    def _nodes(self) -> Iterator[Change]:
        for step in self.after.plan.steps:
            old = self.pairs.before_of(step.node_id)
            yield self._new(step.node_id, "added") if old is None else self._compared(old, step.node_id)
        for node_id in self.pairs.removed:
            yield self._old(node_id, "removed")

    def _compared(self, old: str, new: str) -> Change:
        was, now = self.before.step(old), self.after.step(new)
        if was.type != now.type:
            kind = {"sink": "sink.type"}.get(now.type.split(".")[0], "type")
            return self._new(new, kind, before=was.type, after=now.type)
        if fields := self._changed(old, new, deciding=True):
            return self._new(new, "sink.rows" if new in self.after.steps.sinks else "rows", fields=words_of(fields))
        if old != new and new in self.after.steps.sinks:
            return self._new(new, "sink.id", before=old, after=new)
        if self._rewired(old, new):
            return self._new(new, "inputs")
        if old != new:
            return self._new(new, "renumbered", before=old, after=new)
        if fields := self._changed(old, new, deciding=False):
            return self._new(new, "pace", fields=words_of(fields))
        return self._new(new, "same")

    def _changed(self, old: str, new: str, *, deciding: bool) -> list[str]:
        was = self.before.deciding(old) if deciding else self.before.config(old)
        now = self.after.deciding(new) if deciding else self.after.config(new)
        return [field for field in {**was, **now} if was.get(field) != now.get(field)]

    def _rewired(self, old: str, new: str) -> bool:
        """Other nodes, or other ports of the same, stand before it."""
        was = {port: [(self.pairs.after_of(one), out) for one, out in ups] for port, ups in self.before.step(old).inputs.items()}
        now: dict[str, list[tuple[str | None, str]]] = {port: list(ups) for port, ups in self.after.step(new).inputs.items()}
        return was != now and self.before.signatures[old] != self.after.signatures[new]

    # ── each query that goes on ──────────────────────────────────────────────
    def _queries(self) -> Iterator[Change]:
        if self.before.queries and self.after.queries and not any(match.before for match in self.matches):
            yield from (self._new(sink, "sink.anew") for sink in self.after.steps.sinks)
            return
        for match in self.matches:
            if not match.before:
                yield from (self._new(sink, "sink.filled") for sink in match.after.sinks)
                yield from (self._new(node, "source.added") for node in set(match.after.sources.values()) if node in self.pairs.added)
            elif len(match.before) > 1:
                yield from self._merged(match.after)
            else:
                yield from self._going_on(match.before[0], match.after)

    def _merged(self, query: QueryShape) -> Iterator[Change]:
        for sink in query.sinks:
            others = [f'"{self.after.step(other).name}"' for other in query.sinks if other != sink]
            yield self._new(sink, "sink.merged", nodes=", ".join(others))

    def _going_on(self, old: QueryShape, new: QueryShape) -> Iterator[Change]:
        yield from (self._new(sink, "sink.added") for sink in new.sinks if self.pairs.before_of(sink) not in old.sinks)
        yield from (self._old(sink, "sink.removed") for sink in old.sinks if sink in self.pairs.removed)
        yield from self._sources(old, new)
        if self.before.state_signature(old) != self.after.state_signature(new):
            yield from self._state(old, new)

    def _sources(self, old: QueryShape, new: QueryShape) -> Iterator[Change]:
        if not set(old.sources) & set(new.sources):
            yield from (self._new(node_id, "source.none") for node_id in set(new.sources.values()))
        for node_id in set(new.sources.values()):
            yield from self._source(node_id, old, new)
        gone = [node_id for node_id in set(old.sources.values()) if node_id not in set(new.sources.values())]
        yield from (self._old(node_id, "source.removed") for node_id in gone if node_id in self.pairs.removed)

    def _source(self, node_id: str, old: QueryShape, new: QueryShape) -> Iterator[Change]:
        was = self.pairs.before_of(node_id)
        if was is None or was not in old.sources.values():
            yield self._new(node_id, "source.again" if node_id in self.read_earlier else "source.added")
            return
        before, after = self.before.step(was).type, self.after.step(node_id).type
        if before != after:
            yield self._new(node_id, "source.type", before=before, after=after)
        elif places := self._places(was, node_id):
            yield self._new(node_id, "source.place", fields=words_of(places))
        elif was != node_id:
            yield self._new(node_id, "source.id", before=was, after=node_id)
        elif old.names_of(was) != new.names_of(node_id) or (len(new.names_of(node_id)) > 1 and self._exchanged(old, new)):
            yield self._new(node_id, "source.edges")

    def _places(self, was: str, node_id: str) -> list[str]:
        """Changed fields after which a source of the same type reads something else than its position is about."""
        source = self.after.steps.source(node_id)
        changed = [field for field in self._changed(was, node_id, deciding=True) if field not in source.row_fields]
        moving = source.fields_that_move(self.before.step(was).config, self.after.step(node_id).config)
        return list(dict.fromkeys([*changed, *moving]))

    def _exchanged(self, old: QueryShape, new: QueryShape) -> bool:
        """Whether an edge of a fork leads now to where another one led: positions are kept by the edges' ids."""
        led = {edge: tuple(self.pairs.after_of(one) or "" for one in ends[:2]) + ends[2:] for edge, ends in old.forks.items()}
        return any(ends in led.values() and led[edge] != ends for edge, ends in new.forks.items() if edge in led)

    def _state(self, old: QueryShape, new: QueryShape) -> Iterator[Change]:
        found = list(self._state_nodes(old, new))
        if not found:
            found = [self._new(node_id, "state.order") for node_id in dict.fromkeys(new.state)]
        yield from found

    def _state_nodes(self, old: QueryShape, new: QueryShape) -> Iterator[Change]:
        for node_id in dict.fromkeys(new.state):
            was = self.pairs.before_of(node_id)
            if was is None or was not in old.state:
                yield self._new(node_id, "state.added")
            elif self.before.signatures[was] != self.after.signatures[node_id]:
                yield self._state_differs(was, node_id)
        for node_id in dict.fromkeys(old.state):
            now = self.pairs.after_of(node_id)
            if now is None or now not in new.state:
                yield self._old(node_id, "state.removed") if now is None else self._new(now, "state.removed")

    def _state_differs(self, was: str, node_id: str) -> Change:
        if self.before.step(was).type != self.after.step(node_id).type:
            return self._new(node_id, "state.added")
        patience = self.after.steps.types[node_id].patience_fields
        if fields := [field for field in self._changed(was, node_id, deciding=True) if field not in patience]:
            return self._new(node_id, "state.settings", fields=words_of(fields))
        return self._new(node_id, "state.above", nodes=", ".join(self._culprits(was, node_id)))

    def _culprits(self, was: str, node_id: str) -> Iterable[str]:
        """Names of the nodes above that were changed, added or taken out."""
        now = [one for one in _above(self.after, node_id) if one != node_id]
        old = [one for one in _above(self.before, was) if one != was]
        for one in now:
            before = self.pairs.before_of(one)
            if before is None or before not in old or self._compared(before, one).weight > 1 or before != one:
                yield f'"{self.after.step(one).name}"'
        yield from (f'"{self.before.step(one).name}"' for one in old if self.pairs.after_of(one) not in now)

    # ── queries that do not go on ────────────────────────────────────────────
    def _left_behind(self) -> Iterator[Change]:
        going_on = {query.key for match in self.matches for query in match.before}
        kept = {node_id for query in self.before.queries if query.key in going_on for node_id in query.state}
        for query in self.before.queries:
            if query.key in going_on:
                continue
            yield from (self._old(sink, "sink.removed") for sink in query.sinks if sink in self.pairs.removed)
            yield from (self._old(node, "source.removed") for node in set(query.sources.values()) if node in self.pairs.removed)
            for node_id in dict.fromkeys(query.state):
                if node_id not in kept:
                    now = self.pairs.after_of(node_id)
                    yield self._old(node_id, "state.dropped") if now is None else self._new(now, "state.dropped")

    def _new(self, node_id: str, code: str, **facts: str) -> Change:
        return Change(node_id, self.after.step(node_id).name, code, facts)

    def _old(self, node_id: str, code: str, **facts: str) -> Change:
        return Change(node_id, self.before.step(node_id).name, code, facts)


def _above(shape: GraphShape, node_id: str) -> list[str]:
    """The node and all that reaches it, references too, in topological order."""
    found, waiting = {node_id}, [node_id]
    while waiting:
        for arrow in shape.steps.arriving(waiting.pop(), references=True):
            if arrow.source not in found:
                found.add(arrow.source)
                waiting.append(arrow.source)
    return [step.node_id for step in shape.plan.steps if step.node_id in found]
