"""A version that goes on from what another one left: what is let through, what is refused and with which way out."""

from itertools import pairwise
from typing import Any

import pytest

from checkpoints.models import Checkpoint
from jobs.models import Execution, ExecutionStatus, Job, JobConfig
from jobs.selectors.refusals import Invalid, NotFound
from jobs.services.executions import NotStartable, execution_cancel, execution_restore, execution_resume, execution_start, execution_stop
from tests.checkpoints.kept import kept
from tests.services.job_rows import job_row, operator, version_add

pytestmark = pytest.mark.django_db

PRINT = {"type": "sink.print", "name": "Out", "config": {}}


def summed(function: str = "sum", name: str = "Per kind") -> dict[str, Any]:
    aggregates = [{"name": "n", "function": function, "column": "id"}]
    return {"type": "flow.aggregate", "name": name, "config": {"group_by": ["value"], "aggregates": aggregates}}


def kept_if(condition: str) -> dict[str, Any]:
    return {"type": "flow.filter_rows", "name": "Some", "config": {"condition": condition}}


def drawn(**nodes: dict[str, Any]) -> dict[str, Any]:
    """A line in the order given, from numbers on."""
    line = {"numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 100}}, **nodes}
    ids = list(line)
    edges = {f"e{index}": {"from": [one, "out"], "to": [other, "in"]} for index, (one, other) in enumerate(pairwise(ids))}
    parameters = {"floor": {"type": "integer", "default": 0}}
    return {"schema_version": 1, "name": "numbers", "type": "STREAMING", "parameters": parameters, "nodes": line, "edges": edges}


@pytest.fixture
def job() -> Job:
    """Version 2 sums per kind and keeps some of it; version 1 is another job altogether."""
    return version_add(job_row(), drawn(per=summed(), some=kept_if("n > ${floor}"), out=PRINT))


def start(job: Job, **options: Any) -> Execution:
    return execution_start(job=job, user=operator(), triggered_by="API", **options)


def left(job: Job, **options: Any) -> Execution:
    """An execution that ran and was cancelled, with what it left."""
    execution = start(job, **options)
    execution_cancel(execution=execution, user=operator())
    Execution.objects.filter(pk=execution.pk).update(attempt=1)
    return execution


def checkpointed(job: Job, **options: Any) -> Checkpoint:
    """A checkpoint of an execution that was cancelled after it."""
    execution = start(job, **options)
    Execution.objects.filter(pk=execution.pk).update(attempt=1, status=ExecutionStatus.RUNNING)
    found = kept(Execution.objects.select_related("job").get(pk=execution.pk))
    Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.CANCELLED)
    return found


def notices(execution: Execution) -> list[str]:
    return [event.detail["code"] for event in execution.events.filter(kind="notice")]


def test_an_unchanged_job_continues_without_a_word(job: Job) -> None:
    last = left(job)
    again = start(job, start_from="continue")
    assert again.generation == last.generation
    assert notices(again) == []


def test_a_title_and_a_description_change_nothing(job: Job) -> None:
    last = left(job)
    document = drawn(per=summed(name="Renamed"), some=kept_if("n > ${floor}"), out=PRINT)
    again = start(version_add(job, {**document, "title": "Other", "description": "New"}))
    assert (again.generation, again.version) == (last.generation, 3)
    assert notices(again) == []


def test_a_change_behind_the_state_continues_and_says_what_stays_as_it_is(job: Job) -> None:
    last = left(job)
    again = start(version_add(job, drawn(per=summed(), some=kept_if("n > 5"), out=PRINT)))
    assert (again.generation, again.version) == (last.generation, 3)
    (notice,) = again.events.filter(kind="notice")
    assert (notice.node_id, notice.detail["verdict"]) == ("some", "compatible_with_warning")
    assert "condition changed" in notice.reason


@pytest.mark.parametrize("start_from", ["continue", None])
def test_a_change_of_what_is_held_is_refused_with_its_node_and_the_ways_out(job: Job, start_from: str | None) -> None:
    last = left(job)
    version_add(job, drawn(per=summed("max"), some=kept_if("n > ${floor}"), out=PRINT))
    with pytest.raises(NotStartable) as refused:
        start(job, start_from=start_from)
    assert refused.value.code == "start.changed"
    assert refused.value.detail == {"offers": ["beginning"], "execution_id": last.execution_id, "version": 2}
    assert [(problem.node_id, problem.code) for problem in refused.value.problems] == [("per", "graph.state.settings")]
    assert '"Per kind": Its aggregates changed' in refused.value.message
    assert "start from the beginning, or continue with version 2" in refused.value.message
    assert start(job, start_from="beginning").generation != last.generation


def test_the_old_version_goes_on_where_the_new_one_may_not(job: Job) -> None:
    last = left(job)
    version_add(job, drawn(per=summed("max"), out=PRINT))
    again = start(job, version=2, start_from="continue")
    assert (again.generation, again.version) == (last.generation, 2)


def test_a_resumed_execution_keeps_its_own_version(job: Job) -> None:
    execution = start(job)
    execution_stop(execution=execution, user=operator())
    version_add(job, drawn(per=summed("max"), out=PRINT))
    resumed = execution_resume(execution=Execution.objects.get(pk=execution.pk), user=operator())
    assert (resumed.version, resumed.generation) == (2, execution.generation)


def test_parameters_count_where_they_are_used(job: Job) -> None:
    last = left(job)
    assert notices(start(job, parameters={"floor": 3})) == ["rows"]
    Execution.objects.exclude(pk=last.pk).update(status=ExecutionStatus.CANCELLED)
    before = version_add(job, drawn(some=kept_if("id > ${floor}"), per=summed(), out=PRINT))
    left(before, start_from="beginning", parameters={"floor": 3})
    with pytest.raises(NotStartable, match='"Per kind": Its input changed'):
        start(before, parameters={"floor": 4})


def test_a_parallelism_that_can_only_come_with_a_fresh_start_is_told(job: Job) -> None:
    left(job)
    JobConfig.objects.create(job=job, config_key="parallelism", config_value="7")
    again = start(job)
    assert notices(again) == ["settings.parallelism"]
    assert "has 2 parts" in again.events.get(kind="notice").reason


def test_a_sink_more_leads_to_a_restore(job: Job) -> None:
    checkpoint = checkpointed(job)
    document = drawn(per=summed(), some=kept_if("n > ${floor}"), out=PRINT)
    document["nodes"]["too"] = {**PRINT, "name": "Too"}
    document["edges"]["e9"] = {"from": ["some", "out"], "to": ["too", "in"]}
    version_add(job, document)
    with pytest.raises(NotStartable, match="restore checkpoint 1 into version 3") as refused:
        start(job)
    assert refused.value.detail["offers"] == ["beginning", checkpoint.pk]
    restored = start(job, start_from=checkpoint.pk, version=3)
    assert (restored.version, restored.restored_from_checkpoint_id) == (3, checkpoint.pk)
    assert notices(restored) == ["sink.added"]


@pytest.fixture
def checkpoint(job: Job) -> Checkpoint:
    return checkpointed(job, parameters={"floor": 2})


def restore(checkpoint: Checkpoint, **options: Any) -> Execution:
    return execution_restore(checkpoint=checkpoint, user=operator(), **options)


def test_a_restore_keeps_the_checkpoints_own_version_unless_asked(job: Job, checkpoint: Checkpoint) -> None:
    version_add(job, drawn(per=summed("max"), out=PRINT))
    restored = restore(checkpoint)
    assert (restored.version, restored.parameters) == (2, {"floor": 2})


def test_a_restore_into_a_version_that_fits_takes_the_parameters_along(job: Job, checkpoint: Checkpoint) -> None:
    document = drawn(per=summed(), some=kept_if("n > ${floor} + ${more}"), out=PRINT)
    document["parameters"] = {"floor": {"type": "integer", "default": 0}, "more": {"type": "integer", "default": 1}}
    version_add(job, document)
    restored = restore(checkpoint, version=3)
    assert (restored.version, restored.parameters) == (3, {"floor": 2, "more": 1})
    assert notices(restored) == ["rows"]


def test_a_restore_into_a_version_that_needs_a_fresh_start_is_invalid(job: Job, checkpoint: Checkpoint) -> None:
    version_add(job, drawn(per=summed("max"), out=PRINT))
    with pytest.raises(Invalid) as refused:
        restore(checkpoint, version=3, allow_non_restored_state=True)
    assert [(problem.node_id, problem.code) for problem in refused.value.problems] == [("per", "graph.state.settings")]
    assert not Execution.objects.filter(restored_from_checkpoint_id=checkpoint.pk).exists()


def test_a_restore_leaves_state_behind_only_where_that_is_allowed(job: Job, checkpoint: Checkpoint) -> None:
    document = drawn(other=kept_if("true"), new={**PRINT, "name": "New"})
    document["nodes"] |= {"per": summed(), "out": PRINT, "some": {**kept_if("n > ${floor}"), "name": "Few"}}
    document["edges"] |= {
        "f0": {"from": ["numbers", "out"], "to": ["per", "in"]},
        "f1": {"from": ["per", "out"], "to": ["some", "in"]},
        "f2": {"from": ["some", "out"], "to": ["out", "in"]},
    }
    wide = checkpointed(version_add(job, document), start_from="beginning")
    version_add(job, drawn(other=kept_if("true"), new={**PRINT, "name": "New"}))
    with pytest.raises(Invalid, match="allow_non_restored_state"):
        restore(wide, version=4)
    restored = restore(wide, version=4, allow_non_restored_state=True)
    assert "state.dropped" in notices(restored)


def test_a_version_that_does_not_exist_cannot_be_restored_into(checkpoint: Checkpoint) -> None:
    with pytest.raises(NotFound):
        restore(checkpoint, version=99)


def test_a_source_that_was_taken_out_does_not_come_back_in_the_same_line(job: Job) -> None:
    def united(*sources: str) -> dict[str, Any]:
        document = drawn(all={"type": "flow.union", "name": "All", "config": {}}, out=PRINT)
        for source in sources:
            document["nodes"][source] = {**document["nodes"]["numbers"], "name": source}
            document["edges"][f"x_{source}"] = {"from": [source, "out"], "to": ["all", "in"]}
        return document

    left(version_add(job, united("more")), start_from="beginning")
    assert sorted(notices(left(version_add(job, united())))) == ["inputs", "source.removed"]
    version_add(job, united("more"))
    with pytest.raises(NotStartable, match="give it another id"):
        start(job)
    assert sorted(notices(start(version_add(job, united("other"))))) == ["inputs", "source.added"]
