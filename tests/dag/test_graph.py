"""The graph: each fault on its node, edge and field."""

import random
from dataclasses import replace

import pytest

from jobs.dag.catalogue import Port
from jobs.dag.graph import check_document, structure_problems, topological_order
from jobs.dag.problems import Problem
from tests.dag.graphs import CATALOGUE, chain, cycle, data, fan_out_fan_in, look_up, node, parsed, spec


def problems_of(document) -> list[Problem]:
    return structure_problems(parsed(document), CATALOGUE)


def only_problem(document) -> Problem:
    (problem,) = problems_of(document)
    return problem


@pytest.mark.parametrize("shape", [chain(2), chain(), chain(500), fan_out_fan_in(), look_up()])
def test_a_sound_graph_has_no_problem(shape):
    assert problems_of(shape) == []


def test_a_cycle_is_reported_on_its_edge():
    problem = only_problem(cycle())
    assert (problem.code, problem.edge_id, problem.pointer) == ("edge.cycle", "e3", "/edges/e3")
    assert "union → again → union" in problem.message


def test_an_edge_from_a_node_to_itself_is_a_cycle():
    document = data({"s": node("source.read"), "u": node("flow.union"), "t": node("sink.write")}, ["s>u", "u>u", "u>t"])
    assert (only_problem(document).code, only_problem(document).edge_id) == ("edge.cycle", "e2")


def test_two_circles_are_two_problems():
    nodes = {name: node("flow.union") for name in "abcd"} | {"s": node("source.read"), "t": node("sink.write")}
    document = data(nodes, ["s>a", "a>b", "b>a", "b>c", "c>d", "d>c", "d>t"])
    assert [problem.edge_id for problem in problems_of(document)] == ["e3", "e6"]


def test_a_circle_of_500_nodes_is_found():
    document = chain(500)
    document["edges"]["back"] = {"from": ["step_498", "out"], "to": ["step_1", "in"]}
    assert {"edge.cycle", "port.full"} == {problem.code for problem in problems_of(document)}


def test_an_unknown_type_is_kept_and_shown_as_missing_its_edges_too():
    document = chain()
    document["nodes"]["step_1"]["type"] = "flow.of_tomorrow"
    problem = only_problem(document)
    assert (problem.code, problem.node_id, problem.pointer) == ("node.unknown_type", "step_1", "/nodes/step_1/type")
    assert parsed(document).nodes["step_1"].type == "flow.of_tomorrow"


def test_a_type_that_failed_to_import_tells_the_reason():
    document = chain()
    document["nodes"]["step_1"]["type"] = "flow.broken"
    assert (only_problem(document).code, "No module named" in only_problem(document).message) == ("node.unavailable", True)


def test_a_type_of_a_later_version_is_refused():
    document = chain()
    document["nodes"]["sink"]["type_version"] = 3
    assert (only_problem(document).code, only_problem(document).pointer) == ("node.type_version", "/nodes/sink/type_version")


def test_a_type_that_cannot_run_in_this_kind_of_job_is_told_so():
    document = chain()
    document["nodes"]["source"]["type"] = "source.stream"
    assert only_problem(document).code == "node.job_type"
    assert problems_of({**document, "type": "STREAMING"}) == []


STREAM_WITH_PAGES = {
    "rows": node("source.stream"),
    "pages": node("source.pages"),
    "step": node("flow.step"),
    "look": node("flow.look_up"),
    "out": node("sink.write"),
}


def test_a_stream_looks_things_up_in_what_it_could_not_read_as_a_stream():
    edges = ["rows>look", "pages>step", "step>look.table", "look>out"]
    assert problems_of(data(STREAM_WITH_PAGES, edges, type="STREAMING")) == []
    edges = ["rows>look", "pages>step", "step>look.table", "look>out", "step>other"]
    document = data({**STREAM_WITH_PAGES, "other": node("sink.write")}, edges, type="STREAMING")
    problem = only_problem(document)
    assert (problem.code, problem.node_id) == ("node.job_type", "pages")
    assert problem.message.endswith("; in a stream it can be the table of a lookup")


def test_what_never_ends_is_no_table_of_a_job_that_does():
    nodes = {"rows": node("source.read"), "table": node("source.stream"), "look": node("flow.look_up"), "out": node("sink.write")}
    assert only_problem(data(nodes, ["rows>look", "table>look.table", "look>out"])).code == "node.job_type"


def test_nodes_of_one_name_are_told_on_each():
    document = chain()
    document["nodes"]["source"]["name"] = document["nodes"]["sink"]["name"] = "Same"
    found = problems_of(document)
    assert [(problem.code, problem.pointer) for problem in found] == [
        ("node.duplicate_name", "/nodes/source/name"),
        ("node.duplicate_name", "/nodes/sink/name"),
    ]


def test_an_input_without_an_edge_is_missing():
    document = look_up()
    del document["edges"]["e2"]
    found = {problem.code: problem for problem in problems_of(document)}
    assert (found["port.missing"].node_id, '"table"' in found["port.missing"].message) == ("look_up", True)


def test_rows_that_go_nowhere_are_a_warning():
    document = fan_out_fan_in()
    del document["edges"]["e4"]
    problem = only_problem(document)
    assert (problem.code, problem.severity, problem.node_id) == ("port.unused", "warning", "right")


def test_a_second_edge_into_a_port_for_one_is_full():
    document = chain()
    document["nodes"]["other"] = node("source.read")
    document["edges"]["e9"] = {"from": ["other", "out"], "to": ["step_1", "in"]}
    problem = only_problem(document)
    assert (problem.code, problem.edge_id, problem.pointer) == ("port.full", "e9", "/edges/e9/to")


@pytest.mark.parametrize(
    ("edge", "code", "field"),
    [
        ({"from": ["nobody", "out"], "to": ["union", "in"]}, "edge.unknown_node", "from"),
        ({"from": ["source", "out"], "to": ["nobody", "in"]}, "edge.unknown_node", "to"),
        ({"from": ["source", "exit"], "to": ["union", "in"]}, "edge.unknown_port", "from"),
        ({"from": ["source", "out"], "to": ["union", "door"]}, "edge.unknown_port", "to"),
        ({"from": ["sink", "in"], "to": ["union", "in"]}, "edge.direction", "from"),
        ({"from": ["source", "out"], "to": ["left", "out"]}, "edge.direction", "to"),
    ],
)
def test_a_wrong_end_is_told_on_that_end(edge, code, field):
    document = fan_out_fan_in()
    document["edges"]["wrong"] = edge
    problem = next(problem for problem in problems_of(document) if problem.edge_id == "wrong")
    assert (problem.code, problem.pointer) == (code, f"/edges/wrong/{field}")
    assert problem.node_id == (None if code == "edge.unknown_node" else edge[field][0])


def test_an_edge_out_of_a_sink_is_told_as_such():
    document = chain()
    document["edges"]["wrong"] = {"from": ["sink", "more"], "to": ["step", "in"]}
    problem = next(problem for problem in problems_of(document) if problem.code == "edge.unknown_port")
    assert problem.message == '"sink" is a sink: no edge begins there'


def test_an_edge_drawn_twice_is_told_on_the_second():
    document = fan_out_fan_in()
    document["edges"]["e9"] = document["edges"]["e3"]
    problem = only_problem(document)
    assert (problem.code, problem.edge_id) == ("edge.duplicate", "e9")


def test_an_empty_job_lacks_a_source_and_a_sink():
    assert [problem.code for problem in problems_of(data({}, []))] == ["graph.no_source", "graph.no_sink"]


def test_the_errors_of_a_node_may_be_left_alone_or_connected():
    document = chain()
    document["nodes"]["bad_rows"] = node("sink.write")
    document["edges"]["e9"] = {"from": ["source", "errors"], "to": ["bad_rows", "in"]}
    assert problems_of(document) == []


def test_a_wrong_config_is_told_on_its_field():
    document = chain()
    document["nodes"]["sink"]["config"] = {"rows": 3, "a/b": 1}
    assert [(problem.node_id, problem.pointer) for problem in problems_of(document)] == [
        ("sink", "/nodes/sink/config/a/b"),
        ("sink", "/nodes/sink/config/rows"),
    ]


def test_a_config_is_checked_with_the_defaults_of_its_parameters():
    document = chain(parameters={"rows": {"type": "integer", "default": 3}})
    document["nodes"]["sink"]["config"] = {"rows": "${rows}"}
    assert only_problem(document).pointer == "/nodes/sink/config/rows"
    document["parameters"]["rows"]["default"] = 30
    assert problems_of(document) == []


def test_a_field_that_waits_for_a_parameter_is_not_blamed():
    document = chain(parameters={"rows": {"type": "integer"}})
    document["nodes"]["sink"]["config"] = {"rows": "${rows}"}
    assert problems_of(document) == []


def test_a_parameter_nobody_declared_is_told_where_it_is_used():
    document = chain()
    document["nodes"]["sink"]["config"] = {"path": "in/${day}"}
    problem = only_problem(document)
    assert (problem.code, problem.node_id, problem.pointer) == ("parameter.unknown", "sink", "/nodes/sink/config/path")


def test_a_place_that_the_node_fills_in_itself_is_no_parameter():
    own = {"sink.write": replace(CATALOGUE["sink.write"], own_places={"path": frozenset({"cursor"}), "rows": None})}
    document = chain()
    document["nodes"]["sink"]["config"] = {"path": "in/${cursor}/${day}"}
    (problem,) = structure_problems(parsed(document), {**CATALOGUE, **own})
    assert "${day}" in problem.message
    document["nodes"]["sink"]["config"] = {"path": "in/${cursor}"}
    assert structure_problems(parsed(document), {**CATALOGUE, **own}) == []


def test_a_default_of_another_type_is_told():
    problem = only_problem(chain(parameters={"rows": {"type": "integer", "default": "many"}}))
    assert (problem.code, problem.pointer) == ("parameter.invalid", "/parameters/rows/default")


def test_checking_tells_faults_of_shape_before_faults_of_the_graph():
    assert [problem.code for problem in check_document(b"{", CATALOGUE)[1]] == ["document.invalid"]
    assert check_document(cycle(), CATALOGUE)[1][0].code == "edge.cycle"
    assert check_document(chain(), CATALOGUE) == (parsed(chain()), [])


def test_the_order_puts_each_node_behind_what_it_reads():
    assert topological_order(parsed(fan_out_fan_in())) == ["source", "left", "right", "union", "sink"]


def test_the_order_does_not_depend_on_how_the_document_was_written():
    document = fan_out_fan_in()
    nodes, edges = list(document["nodes"].items()), list(document["edges"].items())
    random.Random(3).shuffle(nodes)
    random.Random(4).shuffle(edges)
    assert topological_order(parsed({**document, "nodes": dict(nodes), "edges": dict(edges)})) == topological_order(parsed(document))


def test_a_circle_has_no_order():
    with pytest.raises(ValueError, match="circle"):
        topological_order(parsed(cycle()))


def test_an_edge_to_nowhere_does_not_disturb_the_order():
    document = chain()
    document["edges"]["e9"] = {"from": ["nobody", "out"], "to": ["sink", "in"]}
    assert topological_order(parsed(document)) == ["source", "step_1", "sink"]


def test_a_reference_port_may_take_many_where_its_type_says_so():
    many = spec("flow.look_up", (Port("in", "input"), Port("table", "reference", many=True), Port("out", "output")))
    document = look_up()
    document["edges"]["e9"] = {"from": ["rows", "out"], "to": ["look_up", "table"]}
    assert structure_problems(parsed(document), {**CATALOGUE, "flow.look_up": many}) == []
