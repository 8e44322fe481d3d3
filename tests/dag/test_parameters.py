"""Parameters: given at start, used in configs."""

import pytest

from jobs.dag.parameters import config_filled, resolve_parameters, substitute, trial_values
from jobs.dag.resolved import with_defaults
from tests.dag.graphs import CATALOGUE, chain, node, parsed

PARAMETERS = {
    "day": {"type": "string"},
    "rows": {"type": "integer", "default": 5},
    "share": {"type": "number", "default": 0.5},
    "all": {"type": "boolean", "default": False},
}
DOCUMENT = parsed(chain(parameters=PARAMETERS))


def test_what_is_not_given_takes_its_default():
    assert resolve_parameters(DOCUMENT, {"day": "monday"}) == ({"day": "monday", "rows": 5, "share": 0.5, "all": False}, [])


def test_text_from_a_command_line_becomes_the_type():
    values, problems = resolve_parameters(DOCUMENT, {"day": "7", "rows": "12", "share": "2", "all": "True"})
    assert (values, problems) == ({"day": "7", "rows": 12, "share": 2, "all": True}, [])


@pytest.mark.parametrize(
    ("given", "code", "pointer"),
    [
        ({}, "parameter.missing", "/parameters/day"),
        ({"day": "x", "dya": "y"}, "parameter.unknown", "/parameters/dya"),
        ({"day": 5}, "parameter.invalid", "/parameters/day"),
        ({"day": "x", "rows": "many"}, "parameter.invalid", "/parameters/rows"),
        ({"day": "x", "rows": 1.5}, "parameter.invalid", "/parameters/rows"),
        ({"day": "x", "rows": True}, "parameter.invalid", "/parameters/rows"),
        ({"day": "x", "rows": 10**400}, "parameter.invalid", "/parameters/rows"),
        ({"day": "x", "share": "nan"}, "parameter.invalid", "/parameters/share"),
        ({"day": "x", "share": "9" * 5000}, "parameter.invalid", "/parameters/share"),
        ({"day": "x", "all": "perhaps"}, "parameter.invalid", "/parameters/all"),
        ({"day": "x", "all": 1}, "parameter.invalid", "/parameters/all"),
    ],
)
def test_a_value_that_does_not_fit_is_a_problem(given, code, pointer):
    (problem,) = resolve_parameters(DOCUMENT, given)[1]
    assert (problem.code, problem.pointer) == (code, pointer)


def test_a_trial_needs_no_value_and_takes_what_is_given_in_its_type():
    values, problems = trial_values(DOCUMENT, {"rows": "12"})
    assert (values, problems) == ({"day": "", "rows": 12, "share": 0.5, "all": False}, [])


def test_a_trial_tells_of_given_values_that_do_not_fit_and_goes_on_with_an_example():
    values, problems = trial_values(DOCUMENT, {"rows": "many", "dya": "x"})
    assert [(one.code, one.pointer) for one in problems] == [
        ("parameter.unknown", "/parameters/dya"),
        ("parameter.invalid", "/parameters/rows"),
    ]
    assert values["rows"] == 5


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("${rows}", 5),
        ("${all}", True),
        ("amount > ${rows} and ${all}", "amount > 5 and true"),
        ("$${rows}", "${rows}"),
        ("costs $${rows} or ${rows}", "costs ${rows} or 5"),
        ("${nobody}", "${nobody}"),
        ("$rows {rows}", "$rows {rows}"),
        (["${rows}", {"deep": "${share}"}], [5, {"deep": 0.5}]),
        (7, 7),
        (None, None),
    ],
)
def test_places_are_filled_in(written, filled):
    assert substitute(written, {"rows": 5, "share": 0.5, "all": True}) == filled


@pytest.mark.parametrize(
    ("written", "value", "spark", "database"),
    [
        ("a = '${v}'", "O'Hare", r"a = 'O\'Hare'", "a = 'O''Hare'"),
        ("a = '${v}'", "' OR '1'='1", r"a = '\' OR \'1\'=\'1'", "a = ''' OR ''1''=''1'"),
        ("a = 'x' || '${v}' -- it's", "\\", r"a = 'x' || '\\' -- it's", r"a = 'x' || '\' -- it's"),
        ('a = "${v}"', 'b"c', r'a = "b\"c"', 'a = "b""c"'),
        ("`${v}` > 1", "b`c", "`b``c` > 1", "`b``c` > 1"),
        ("'it''s' = b AND c = '${v}'", "'", r"'it''s' = b AND c = '\''", "'it''s' = b AND c = ''''"),
        ("a -- ${v}\n= 1", "b\nOR c", "a -- b OR c\n= 1", "a -- b OR c\n= 1"),
        ("FROM ${v}.orders /* '${v}' */", "shop", "FROM shop.orders /* 'shop' */", "FROM shop.orders /* 'shop' */"),
        ("a = '$${v}'", "x", "a = '${v}'", "a = '${v}'"),
        ("a = '", "x", "a = '", "a = '"),
        ("${v}", "x = 'y'", "x = 'y'", "x = 'y'"),
        ("a RLIKE r'${v}' AND b = 'x'", r"\d+", r"a RLIKE '\\d+' AND b = 'x'", r"a RLIKE r'\d+' AND b = 'x'"),
        (r"a RLIKE R'\w${v}' AND r = '\'' AND b = '${v}'", "it's", r"a RLIKE '\\wit\'s' AND r = '\'' AND b = 'it\'s'", None),
        (r"a RLIKE r'\' OR b = '${v}'", "'", r"a RLIKE r'\' OR b = '\''", None),
    ],
)
def test_a_value_within_quotes_of_sql_stays_within_them(written: str, value: str, spark: str, database: str | None):
    config, values = {"rules": [{"condition": written}]}, {"v": value}
    assert config_filled(config, values, frozenset(), frozenset(), {"rules": "spark"}) == {"rules": [{"condition": spark}]}
    if database is not None:
        assert config_filled(config, values, frozenset(), frozenset(), {"rules": "database"}) == {"rules": [{"condition": database}]}
    assert config_filled({"path": "'${v}'"}, {"v": "'"}, frozenset(), frozenset()) == {"path": "'''"}


def test_an_escape_is_left_to_a_node_that_fills_in_names_itself():
    config = {"rows": "$${rows} ${rows}", "body": ["$${rows} ${rows} ${id} $${id}"], "code": "$${rows}"}
    assert config_filled(config, {"rows": 5}, frozenset({"code"}), frozenset({"body"})) == {
        "rows": "${rows} 5",
        "body": ["$${rows} 5 ${id} $${id}"],
        "code": "$${rows}",
    }


def test_a_value_that_looks_like_a_place_is_not_filled_in_again():
    assert substitute("a ${one}", {"one": "${two}", "two": "x"}) == "a ${two}"


def test_publishing_writes_the_defaults_in():
    document = with_defaults(parsed(chain()), CATALOGUE)
    assert document.nodes["sink"].config == {"path": "x", "rows": 10}
    assert document.nodes["sink"].type_version == 2
    assert (document.settings.time_zone, document.settings.rejected_rows) == ("UTC", "dead_letter")
    assert document.settings.checkpoint_interval is None


def test_publishing_keeps_parameters_as_they_are_written():
    shape = chain(parameters={"rows": {"type": "integer", "default": 12}})
    shape["nodes"]["sink"] = node("sink.write", rows="${rows}", path="$${plain}")
    assert with_defaults(parsed(shape), CATALOGUE).nodes["sink"].config == {"rows": "${rows}", "path": "$${plain}"}


def test_publishing_twice_changes_nothing_more():
    once = with_defaults(parsed(chain()), CATALOGUE)
    assert with_defaults(once, CATALOGUE) == once


def test_publishing_leaves_a_missing_type_alone():
    shape = chain()
    shape["nodes"]["step_1"] = node("flow.of_tomorrow", any="thing")
    assert with_defaults(parsed(shape), CATALOGUE).nodes["step_1"] == parsed(shape).nodes["step_1"]
