"""What holds for every document and every byte string, tried on many."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.dag.document import canonical_json, logic_hash, parse_document
from jobs.dag.graph import check_document, structure_problems, topological_order
from jobs.dag.importing import import_document
from jobs.dag.parameters import substitute
from jobs.dag.pointers import parts_of, pointer_of
from jobs.dag.reading_yaml import read_yaml
from jobs.dag.writing import document_text
from tests.dag.graphs import CATALOGUE, parsed

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=10,
)
_ID = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=8)
_NODE = st.fixed_dictionaries(
    {"type": st.sampled_from([*CATALOGUE, "flow.of_tomorrow"]), "config": st.dictionaries(_TEXT, _JSON, max_size=3)},
    optional={"name": st.text(string.ascii_letters, min_size=1, max_size=9), "type_version": st.integers(1, 3)},
)
_END = st.tuples(_ID, st.sampled_from(["in", "out", "errors"])).map(list)
_DOCUMENT = st.fixed_dictionaries(
    {
        "name": st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True).filter(
            lambda name: name not in ("validate", "preview", "import", "new")
        ),
        "type": st.sampled_from(["STREAMING", "BATCH_ROLLER", "SQL_TASK"]),
        "nodes": st.dictionaries(_ID, _NODE, max_size=5),
        "edges": st.dictionaries(_ID, st.fixed_dictionaries({"from": _END, "to": _END}), max_size=5),
    },
    optional={
        "title": _TEXT,
        "settings": st.fixed_dictionaries(
            {}, optional={"checkpoint_interval": st.sampled_from(["1s", "5 min"]), "parallelism": st.integers(1, 9)}
        ),
        "parameters": st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True), st.just({"type": "string"}), max_size=2),
    },
)


def _shuffled(value, draw):
    """The same data with the keys of every object in another order."""
    if isinstance(value, dict):
        return {key: _shuffled(value[key], draw) for key in draw(st.permutations(list(value)))}
    return [_shuffled(item, draw) for item in value] if isinstance(value, list) else value


_LIKE_A_NUMBER = st.from_regex(r"[-+.]?[0-9]{0,4}\.?[0-9]{0,2}([eE][-+]?[0-9]{1,3})?", fullmatch=True)
_LIKE_A_WORD = st.sampled_from(["", "~", "True", "no", ".inf", "-.INF", ".nan", "08109", "1e5", "1.5e3", "1_000", "0x1f", "12:30"])
_WITH_BREAKS = st.text("ab: #'\"\\\t\n\r\x07\x7f\x85\xa0\u2028\u2029\ufeff\U0001f600", max_size=12)
_WRITTEN = _TEXT | _LIKE_A_NUMBER | _LIKE_A_WORD | _WITH_BREAKS


@given(
    st.recursive(
        _JSON | _WRITTEN,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WRITTEN, inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: {"value": value})
)
def test_yaml_that_is_written_is_read_as_it_was(data):
    assert read_yaml(document_text(data, "yaml")) == (data, [])


@given(_DOCUMENT)
def test_canonicalising_twice_is_canonicalising_once(document):
    once = canonical_json(parsed(document))
    assert canonical_json(parsed(json.loads(once))) == once


@given(_DOCUMENT, st.data())
def test_neither_key_order_nor_layout_touches_hash_or_canonical_form(document, data):
    other = _shuffled(document, data.draw)
    other["layout"] = {"positions": {node_id: {"x": data.draw(st.integers(-99, 99)), "y": 0} for node_id in document["nodes"]}}
    assert logic_hash(parsed(other)) == logic_hash(parsed(document))
    assert canonical_json(parsed(other)) == canonical_json(parsed(document))


@given(_DOCUMENT)
def test_every_problem_of_a_graph_stands_somewhere_in_the_document(document):
    for problem in structure_problems(parsed(document), CATALOGUE):
        parts = parts_of(problem.pointer)
        assert parts[0] in ("nodes", "edges", "parameters")
        assert problem.node_id is None or problem.node_id in document["nodes"]
        assert problem.edge_id is None or problem.edge_id in document["edges"]
        assert problem.message


@given(_DOCUMENT)
def test_a_graph_has_an_order_unless_a_cycle_is_reported(document):
    found = parsed(document)
    if any(problem.code == "edge.cycle" for problem in structure_problems(found, CATALOGUE)):
        return
    order = topological_order(found)
    assert sorted(order) == sorted(found.nodes)
    for edge in found.edges.values():
        if {edge.source[0], edge.target[0]} <= found.nodes.keys():
            assert order.index(edge.source[0]) < order.index(edge.target[0])


@settings(max_examples=3 * settings().max_examples)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_bytes_give_problems_never_a_traceback(raw):
    document, problems = check_document(raw, CATALOGUE)
    assert document is not None or problems
    imported = import_document(raw, CATALOGUE)
    assert imported.document is not None or imported.problems
    for problem in problems + imported.problems:
        problem.model_dump_json().encode()


_SHAPES = st.dictionaries(
    st.sampled_from(
        ["name", "type", "nodes", "edges", "settings", "parameters", "layout", "source", "transform", "sink", "config", "title"]
    ),
    _JSON
    | st.dictionaries(
        st.sampled_from(["type", "config", "name", "from", "to", "url", "fields", "columns", "function", "condition"]), _JSON
    ),
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=3 * settings().max_examples)
@given(_SHAPES)
def test_any_json_gives_problems_never_a_traceback(data):
    text = json.dumps(data)
    document, problems = parse_document(text)
    assert (document is None) == bool(problems)
    imported = import_document(text, CATALOGUE)
    assert import_document(text.encode(), CATALOGUE) == imported


@given(_DOCUMENT, st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_a_damaged_document_gives_problems_never_a_traceback(document, place, noise):
    raw = json.dumps(document).encode()
    damaged = raw[: place % len(raw)] + noise + raw[place % len(raw) :]
    found, problems = parse_document(damaged)
    assert found is not None or problems


@given(st.lists(_TEXT, max_size=4))
def test_a_pointer_leads_back_to_its_parts(parts):
    assert parts_of(pointer_of(parts)) == parts


@given(_JSON)
def test_without_places_nothing_is_filled_in(value):
    if "${" not in json.dumps(value):
        assert substitute(value, {"name": 1}) == value
