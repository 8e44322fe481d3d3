"""What is wrong with a document's tests, as far as it shows without running them."""

from collections import Counter
from collections.abc import Iterator
from zoneinfo import ZoneInfo

from jobs.dag.catalogue import Catalogue
from jobs.dag.document import DagDocument
from jobs.dag.parts import part_above
from jobs.dag.pipeline_test_clock import ClockWrong, clock_times
from jobs.dag.pipeline_tests import PipelineTest, misplaced, outlet_parts
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem, Severity


def pipeline_test_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    """Faults of every test, with pointers below /tests.

    A test that the drawing has left behind, or whose clock cannot be read, is a warning: it cannot be run, but the job can.
    """
    names = Counter(test.name for test in document.tests)
    problems = []
    for number, test in enumerate(document.tests):
        if names[test.name] > 1:
            message = f'{names[test.name]} tests are called "{test.name}": give each its own name'
            problems.append(_problem("test.duplicate_name", (number, "name"), message, severity="error"))
        problems += [*_given_problems(document, catalogue, number, test), *_expected_problems(document, catalogue, number, test)]
        problems += _clock_problems(document, number, test)
    return problems


def problems_of_test(problems: list[Problem], number: int) -> list[Problem]:
    """Those of the test with this number in the document: each of them stands in the way of running it."""
    place = pointer_of(("tests", number))
    return [problem for problem in problems if problem.pointer == place or problem.pointer.startswith(f"{place}/")]


def _given_problems(document: DagDocument, catalogue: Catalogue, number: int, test: PipelineTest) -> Iterator[Problem]:
    for key in ("given", "columns"):
        for node_id in getattr(test, key):
            if message := _not_a_source(document, catalogue, node_id):
                yield _problem("test.unknown_node", (number, key, node_id), f'"{test.name}": {message}')
    for node_id, rows in test.given.items():
        for place, words in misplaced(rows):
            yield _problem("test.invalid", (number, "given", node_id, *place), f'"{test.name}": {words}', severity="error")
    reached = part_above(document, [outlet_parts(outlet)[0] for outlet in test.expect]).nodes
    for node_id, node in reached.items():
        if _is_source(document, catalogue, node_id) and node_id not in test.given:
            message = f'"{test.name}" gives no rows for "{node.name}", which what it expects is made of; an empty list is none'
            yield _problem("test.missing_rows", (number, "given"), message)


def _expected_problems(document: DagDocument, catalogue: Catalogue, number: int, test: PipelineTest) -> Iterator[Problem]:
    if not test.expect:
        yield _problem("test.expects_nothing", (number, "expect"), f'"{test.name}" expects no rows anywhere, so it tests nothing')
    for outlet in test.expect:
        if message := _no_outlet(document, catalogue, outlet):
            yield _problem("test.unknown_node", (number, "expect", outlet), f'"{test.name}": {message}')


def _clock_problems(document: DagDocument, number: int, test: PipelineTest) -> Iterator[Problem]:
    try:
        clock_times(test.clock, ZoneInfo(document.settings.time_zone or "UTC"))
    except ClockWrong as wrong:
        yield _problem("test.clock", (number, "clock", wrong.place), f'"{test.name}": {wrong.message}')
    if document.type != "STREAMING" and len(test.clock) > 1:
        message = "a job that ends runs as one batch in a test: give its clock one time"
        yield _problem("test.clock", (number, "clock", 1), f'"{test.name}": {message}')


def _not_a_source(document: DagDocument, catalogue: Catalogue, node_id: str) -> str:
    if node_id not in document.nodes:
        return f'there is no node "{node_id}": give its rows to another, or take them out'
    return "" if _is_source(document, catalogue, node_id) else f'"{document.nodes[node_id].name}" is no source: rows are given to sources'


def _no_outlet(document: DagDocument, catalogue: Catalogue, outlet: str) -> str:
    node_id, port = outlet_parts(outlet)
    node = document.nodes.get(node_id)
    if node is None:
        return f'there is no node "{node_id}": expect its rows of another, or take them out'
    spec = catalogue.get(node.type)
    if spec is None or (spec.family == "sink" and "." not in outlet):
        return ""
    known = [one.name for one in spec.ports_of(node.config) if not one.is_input]
    listed = ", ".join(f'"{name}"' for name in known) or "none"
    return "" if port in known else f'"{node.name}" has no output port "{port}"; it has {listed}'


def _is_source(document: DagDocument, catalogue: Catalogue, node_id: str) -> bool:
    spec = catalogue.get(document.nodes[node_id].type)
    return spec is not None and spec.family == "source"


def _problem(code: str, place: tuple[int | str, ...], message: str, *, severity: Severity = "warning") -> Problem:
    return Problem(severity=severity, code=code, pointer=pointer_of(("tests", *place)), message=message)
