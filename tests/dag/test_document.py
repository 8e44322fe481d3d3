"""The document: its shape, its canonical form, its hash."""

import json

import pytest

from jobs.dag.document import canonical_json, logic_hash, parse_document
from jobs.dag.problems import Problem
from tests.dag.graphs import chain, data, fan_out_fan_in, node, parsed


def problems_of(document) -> list[Problem]:
    found, problems = parse_document(document)
    assert found is None
    return problems


def only_problem(document) -> Problem:
    (problem,) = problems_of(document)
    return problem


def test_a_document_reads_from_bytes_text_and_data_alike():
    text = json.dumps(chain())
    assert parse_document(text) == parse_document(text.encode()) == parse_document(chain()) == parse_document("\ufeff" + text)


def test_the_example_of_the_design_reads():
    document = parsed(
        {
            "schema_version": 1,
            "name": "orders-per-minute",
            "type": "STREAMING",
            "parameters": {"min_amount": {"type": "number", "default": 0}},
            "nodes": {
                "big": {"type": "flow.filter_rows", "type_version": 1, "name": "Big orders", "config": {"condition": "a > ${min_amount}"}}
            },
            "edges": {"e1": {"from": ["orders", "out"], "to": ["big", "in"]}},
            "settings": {"checkpoint_interval": "60s", "trigger_interval": "5s", "max_retry_times": 3},
        }
    )
    assert document.edges["e1"].source == ("orders", "out")
    assert document.settings.max_retry_times == 3
    assert document.settings.retry_interval is None


def test_a_node_without_a_name_is_called_by_its_id():
    assert parsed(chain()).nodes["step_1"].name == "step_1"


@pytest.mark.parametrize(
    ("change", "code", "pointer", "words"),
    [
        ({"name": "Not A Slug"}, "document.invalid", "/name", "lower-case"),
        ({"name": "-begins"}, "document.invalid", "/name", "lower-case"),
        ({"name": "ends\n"}, "document.invalid", "/name", "lower-case"),
        ({"name": "a" * 201}, "document.invalid", "/name", "at most 200"),
        ({"name": "preview"}, "document.invalid", "/name", "reserved"),
        ({"name": 5}, "document.invalid", "/name", "must be text"),
        ({"type": "BATCH"}, "document.invalid", "/type", "STREAMING"),
        ({"schema_version": 2}, "document.invalid", "/schema_version", "must be 1"),
        ({"password": "x"}, "document.invalid", "/password", 'no field called "password"'),
        ({"titel": "x"}, "document.invalid", "/titel", 'did you mean "title"'),
        (
            {"settings": {"checkpoint.interval": "3s"}},
            "settings.invalid",
            "/settings/checkpoint.interval",
            'did you mean "checkpoint_interval"',
        ),
        ({"title": "t" * 201}, "document.invalid", "/title", "at most 200"),
        ({"nodes": []}, "node.invalid", "/nodes", "must be an object"),
        ({"nodes": {"a": 1}}, "node.invalid", "/nodes/a", "must be an object"),
        ({"nodes": {"a": {}}}, "node.invalid", "/nodes/a/type", "is missing"),
        ({"nodes": {"a b": node("x")}}, "node.invalid", "/nodes/a b", "letters, digits or underscores"),
        ({"nodes": {"a/b~": node("x")}}, "node.invalid", "/nodes/a~1b~0", "letters, digits or underscores"),
        ({"nodes": {"a": {"type": "x", "name": " "}}}, "node.invalid", "/nodes/a/name", "must not be empty"),
        ({"nodes": {"a": {"type": "x", "type_version": "1"}}}, "node.invalid", "/nodes/a/type_version", "whole number"),
        ({"nodes": {"a": {"type": "x", "colour": "red"}}}, "node.invalid", "/nodes/a/colour", "no field"),
        ({"edges": {"e": {"from": ["a"], "to": ["b", "in"]}}}, "edge.invalid", "/edges/e/from/1", "is missing"),
        ({"edges": {"e": {"from": "a", "to": ["b", "in"]}}}, "edge.invalid", "/edges/e/from", "a node id and a port name"),
        ({"edges": {"e!": {"from": ["a", "out"], "to": ["b", "in"]}}}, "edge.invalid", "/edges/e!", "edge id"),
        ({"settings": {"checkpoint_interval": 60000}}, "settings.invalid", "/settings/checkpoint_interval", "must be text"),
        ({"settings": {"checkpoint_interval": "soon"}}, "settings.invalid", "/settings/checkpoint_interval", '"60s"'),
        ({"settings": {"checkpoint_interval": "900 days"}}, "settings.invalid", "/settings/checkpoint_interval", "longer than a year"),
        ({"settings": {"time_zone": "Mars/Olympus"}}, "settings.invalid", "/settings/time_zone", "no time zone"),
        ({"settings": {"time_zone": "../../etc/passwd"}}, "settings.invalid", "/settings/time_zone", "no time zone"),
        ({"settings": {"max_retry_times": True}}, "settings.invalid", "/settings/max_retry_times", "whole number"),
        ({"settings": {"rejected_rows": "keep"}}, "settings.invalid", "/settings/rejected_rows", "dead_letter"),
        ({"settings": {"checkpoint_rows": -1}}, "settings.invalid", "/settings/checkpoint_rows", "0"),
        ({"settings": {"checkpoint_rows": "many"}}, "settings.invalid", "/settings/checkpoint_rows", "whole number"),
        ({"settings": {"checkpoint_each_page": "yes"}}, "settings.invalid", "/settings/checkpoint_each_page", "true or false"),
        ({"settings": {"checkpoint_timeout": "10ms"}}, "settings.invalid", "/settings/checkpoint_timeout", "a second or longer"),
        ({"settings": {"checkpoint_min_pause": "soon"}}, "settings.invalid", "/settings/checkpoint_min_pause", '"60s"'),
        ({"settings": {"checkpoint_max_concurrent": 2}}, "settings.invalid", "/settings/checkpoint_max_concurrent", "only 1 is possible"),
        ({"settings": {"checkpoint_tolerable_failures": -2}}, "settings.invalid", "/settings/checkpoint_tolerable_failures", "-1"),
        ({"settings": {"checkpoint_on_cancel": "burn"}}, "settings.invalid", "/settings/checkpoint_on_cancel", "keep"),
        ({"settings": {"checkpoint_on_completion": True}}, "settings.invalid", "/settings/checkpoint_on_completion", "keep"),
        ({"settings": {"speed": 1}}, "settings.invalid", "/settings/speed", "no field"),
        ({"parameters": {"1st": {}}}, "parameter.invalid", "/parameters/1st", "parameter name"),
        ({"parameters": {"p": {"type": "blob"}}}, "parameter.invalid", "/parameters/p/type", "must be"),
        ({"layout": {"positions": {"a": {"x": 1}}}}, "document.invalid", "/layout/positions/a/y", "is missing"),
    ],
)
def test_a_fault_of_shape_is_told_on_its_field(change, code, pointer, words):
    problem = only_problem({**chain(), **change})
    assert (problem.code, problem.pointer) == (code, pointer)
    assert words in problem.message


def test_a_fault_names_its_node_or_edge():
    assert only_problem({**chain(), "nodes": {"a": {"type": 1}}}).node_id == "a"
    assert only_problem({**chain(), "edges": {"e": 1}}).edge_id == "e"


def test_every_fault_is_told_at_once():
    wrong = {"name": "X", "type": "Y", "nodes": {"a": {}}, "edges": {"e": {}}, "settings": {"speed": 1}}
    pointers = {problem.pointer for problem in problems_of(wrong)}
    assert pointers == {"/name", "/type", "/nodes/a/type", "/edges/e/from", "/edges/e/to", "/settings/speed"}


def test_500_nodes_and_1000_edges_are_the_most():
    assert parse_document(chain(500))[1] == []
    assert only_problem(chain(501)).pointer == "/nodes"
    edges = {f"e{number}": {"from": ["a", "out"], "to": ["b", "in"]} for number in range(1001)}
    assert only_problem({**data({}, []), "edges": edges}).code == "document.too_large"


def test_ten_thousand_faults_are_told_as_a_readable_number():
    assert 1 < len(problems_of({**chain(), **{f"field_{number}": 1 for number in range(10_000)}})) <= 200


def test_reading_a_canonical_document_gives_the_same_text():
    once = canonical_json(parsed(fan_out_fan_in(title="Ünïcode", settings={"trigger_interval": " 5 s "})))
    assert canonical_json(parsed(json.loads(once))) == once


def test_the_canonical_form_leaves_the_layout_out():
    assert "layout" not in json.loads(canonical_json(parsed(chain(layout={"positions": {"sink": {"x": 1, "y": 2}}}))))


def test_null_in_a_config_is_kept():
    assert json.loads(canonical_json(parsed(data({"a": node("x", nothing=None)}, []))))["nodes"]["a"]["config"] == {"nothing": None}


def test_edges_stand_in_the_order_of_their_ids_however_they_were_written():
    turned = fan_out_fan_in()
    turned["edges"] = dict(reversed(turned["edges"].items()))
    assert list(parsed(turned).edges) == ["e1", "e2", "e3", "e4", "e5"]


def test_the_hash_is_a_sha_256_in_hex():
    assert len(logic_hash(parsed(chain()))) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Other"},
        {"description": "Other"},
        {"name": "other"},
        {"layout": {"positions": {"source": {"x": 5, "y": 6}}, "notes": [{"text": "hi"}]}},
    ],
)
def test_what_does_not_change_the_work_does_not_change_the_hash(change):
    assert logic_hash(parsed(chain(**change))) == logic_hash(parsed(chain()))


@pytest.mark.parametrize(
    "change",
    [
        {"type": "STREAMING"},
        {"parameters": {"p": {"default": "x"}}},
        {"settings": {"parallelism": 4}},
        {"nodes": {**chain()["nodes"], "sink": node("sink.write", path="y")}},
        {"edges": {}},
    ],
)
def test_what_changes_the_work_changes_the_hash(change):
    assert logic_hash(parsed(chain(**change))) != logic_hash(parsed(chain()))


def test_two_writings_of_one_meaning_have_one_hash():
    one = chain(settings={"checkpoint_interval": "60s", "checkpoint_timeout": "120s"}, nodes={"a": node("x", rows=1.0)}, edges={})
    other = chain(settings={"checkpoint_interval": "1 min", "checkpoint_timeout": "2 min"}, nodes={"a": node("x", rows=1)}, edges={})
    assert logic_hash(parsed(one)) == logic_hash(parsed(other))
