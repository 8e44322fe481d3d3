"""Places in texts and JSON that a node fills in itself."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from jobs.nodes.base import NodeError
from jobs.nodes.exact_json import exact_dumps, exact_loads
from jobs.nodes.places import JsonTemplate, TemplateText, open_places, path_filled, place_names, text_filled

VALUES = {"id": "7", "amount": "12345678901234567.10", "name": json.dumps('Zoë "Z" \\ 漢'), "none": "null", "tags": '["a", "b"]'}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ('{"a": "${id}"}', '{"a": 7}'),
        ('{"a": ${id}}', '{"a": 7}'),
        ('{"a": "${amount}"}', '{"a": 12345678901234567.10}'),
        ('{"a": "No. ${id} of ${name}"}', '{"a": "No. 7 of Zoë \\"Z\\" \\\\ 漢"}'),
        ('{"a": "${none}", "b": "<${none}>"}', '{"a": null, "b": "<>"}'),
        ('{"${id}": ["${tags}", "x ${tags}"]}', '{"7": [["a", "b"], "x [\\"a\\", \\"b\\"]"]}'),
        ('{"a": "$${id}", "b": "${other}"}', '{"a": "${id}", "b": "${other}"}'),
        ("[]", "[]"),
    ],
)
def test_a_json_template_keeps_types_where_a_place_stands_alone(template: str, expected: str):
    filled = JsonTemplate(template).filled(VALUES.get)
    assert filled == expected
    json.loads(filled)


@given(value=st.text(), template=st.sampled_from(['{"a": "${v}"}', '{"a": "x${v}y"}', '["${v}", "${v} "]']))
def test_no_value_breaks_out_of_its_place(value: str, template: str):
    document = json.loads(JsonTemplate(template).filled(lambda name: json.dumps(value)))
    texts = list(document.values()) if isinstance(document, dict) else document
    assert all(isinstance(text, str) and value in text for text in texts)
    assert len(texts) == len(json.loads(JsonTemplate(template).filled(lambda name: "0")))


@pytest.mark.parametrize(
    ("template", "is_json"), [('{"a": ${x}}', True), ('{"a": }', False), ("${x}", True), ("{", False), ("[" * 100_000, False)]
)
def test_a_template_is_json_once_its_places_are_filled(template: str, is_json: bool):
    assert JsonTemplate(template).is_json() is is_json


def test_names_are_those_of_places_and_not_of_escapes():
    assert place_names("a/${x}/$${y}/${z z}") == ["x", "z z"]
    assert JsonTemplate('{"a": "${x}", "b": "-${y}", "c": "$${z}", "d": ${x}}').names == ("x", "y")


def test_a_text_is_filled_and_what_is_not_known_stays():
    assert text_filled("${a}-${b}-$${a}", {"a": "1"}.get) == "1-${b}-${a}"


@pytest.mark.parametrize("value", ["..", ".", "../x"])
def test_a_value_cannot_lead_out_of_its_place_in_a_path(value: str):
    if "/" in value:
        assert path_filled("a/${v}/b", lambda name: value) == "a/..%2Fx/b"
        return
    with pytest.raises(NodeError, match="leads out of its place"):
        path_filled("a/${v}/b", lambda name: value)


def test_a_value_in_a_path_is_escaped():
    assert path_filled("a/${v}", lambda name: "x?y=1#z/ü") == "a/x%3Fy%3D1%23z%2F%C3%BC"


@pytest.mark.parametrize(("given", "text"), [(5, "5"), (1.5, "1.5"), (True, "true"), ("x", "x")])
def test_a_template_may_be_a_parameter_whose_value_is_no_text(given: Any, text: str):
    class Holder(BaseModel):
        value: TemplateText

    assert Holder(value=given).value == text


@pytest.mark.parametrize("text", ["12345678901234567.10", "1e400", "0.1", "-1.50", "123456789012345678901234567890", "1E-7"])
def test_numbers_come_out_of_json_as_they_went_in(text: str):
    written = exact_dumps(exact_loads(f'{{"a": [{text}, "x"]}}'))
    assert json.loads(written, parse_float=str, parse_int=str)["a"][0] in (text, str(float(text)))
    if len(text) > 16:
        assert text in written


def test_a_place_that_is_never_closed_is_told_of_each_field_that_has_one() -> None:
    texts = {"subject": "Order ${n is late", "text": "${n}", "headers": [{"name": "a", "value": "${id}"}, {"name": "b", "value": "${}"}]}
    assert [(caution.field, caution.message.split(" is written")[0]) for caution in open_places(texts)] == [
        ("subject", "${n is late"),
        ("headers", "${}"),
    ]
