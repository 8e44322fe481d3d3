"""Import of JSON, YAML and the linear shorthand."""

import json

import pytest
import yaml

from jobs.dag.graph import check_document
from jobs.dag.importing import Imported, import_document
from jobs.dag.problems import errors_in
from jobs.nodes.registry import REGISTRY
from tests.dag.graphs import CATALOGUE, chain, cycle

USER_SYNC = {
    "name": "user-sync-job",
    "type": "BATCH_ROLLER",
    "source": {"type": "http_api", "config": {"url": "https://api.example.com/users", "page_size": 1000}},
    "transform": [{"type": "map", "function": "enrichUser"}, {"type": "filter", "condition": "user.isActive()"}],
    "sink": {"type": "jdbc", "config": {"url": "jdbc:postgresql://localhost:5432/mydb", "table": "users", "batch_size": 1000}},
    "config": {"checkpoint_interval": 60000, "max_retry_times": 3},
}


def imported(data, catalogue=CATALOGUE) -> Imported:
    return import_document(json.dumps(data), catalogue)


def user_sync() -> Imported:
    return imported(USER_SYNC, REGISTRY.catalogue())


def test_a_whole_document_is_imported_as_it_is():
    assert imported(chain()) == Imported(chain(), [], [])


def test_a_whole_document_with_problems_is_imported_with_them():
    found = imported(cycle())
    assert found.document == cycle()
    assert [problem.code for problem in found.problems] == ["edge.cycle"]


def test_yaml_and_json_import_alike():
    assert import_document(yaml.safe_dump(USER_SYNC), REGISTRY.catalogue()) == user_sync()
    assert import_document(yaml.safe_dump(chain()).encode(), CATALOGUE) == imported(chain())


def test_the_users_example_imports_with_exactly_its_problems():
    found = user_sync()
    assert [(problem.severity, problem.code, problem.pointer) for problem in found.problems] == [
        ("warning", "connection.proposed", "/nodes/source/config/connection"),
        ("error", "function.unknown", "/nodes/step_1/config/function"),
        ("error", "expression.unknown_function", "/nodes/step_2/config/condition"),
        ("warning", "connection.proposed", "/nodes/sink/config/connection"),
    ]
    assert "enrichUser" in found.problems[1].message
    assert "user.isActive" in found.problems[2].message


def test_the_users_example_proposes_a_connection_for_each_address():
    http, database = user_sync().connections
    assert (http.name, http.kind, dict(http.config), http.node_ids) == (
        "api-example-com", "http_api", {"base_url": "https://api.example.com"}, ("source",)
    )  # fmt: skip
    assert (database.name, database.kind, database.node_ids, database.secrets) == ("mydb", "postgresql", ("sink",), ("password",))
    assert dict(database.config) == {"host": "localhost", "port": 5432, "database": "mydb"}


def test_a_proposed_connection_uses_the_fields_of_its_kind():
    for proposed in user_sync().connections:
        kind = REGISTRY.connection_kinds()[proposed.kind]
        assert proposed.config.keys() <= kind.Config.model_fields.keys()


def test_the_users_example_becomes_a_chain_in_snake_case_and_durations():
    document = user_sync().document
    assert document is not None
    assert list(document["nodes"]) == ["source", "step_1", "step_2", "sink"]
    assert [node["type"] for node in document["nodes"].values()] == [
        "source.http_api", "flow.python", "flow.filter_rows", "sink.jdbc"
    ]  # fmt: skip
    assert document["nodes"]["step_1"]["config"] == {"function": "enrichUser"}
    assert document["nodes"]["sink"]["config"] == {"connection": "mydb", "table": "users", "batch_size": 1000}
    assert document["edges"]["e3"] == {"from": ["step_2", "out"], "to": ["sink", "in"]}
    assert document["settings"] == {"checkpoint_interval": "60s", "max_retry_times": 3}


def test_the_users_example_is_sound_once_it_is_mended():
    document = user_sync().document
    assert document is not None
    document["nodes"]["step_1"] = {
        "type": "flow.compute_columns",
        "name": "Enrich",
        "config": {"columns": [{"name": "label", "expression": "upper(name)"}]},
    }
    document["nodes"]["step_2"]["config"] = {"condition": "active = true"}
    found, problems = check_document(document, REGISTRY.catalogue())
    assert found is not None
    assert errors_in(problems) == []


def shorthand(**changes) -> dict:
    return {"name": "a", "type": "BATCH_ROLLER", "source": {"type": "read"}, "transform": [], "sink": {"type": "write"}, **changes}


def test_a_bare_type_is_looked_for_by_its_place():
    document = imported(shorthand(transform=[{"type": "step"}])).document
    assert document is not None
    assert [node["type"] for node in document["nodes"].values()] == ["source.read", "flow.step", "sink.write"]
    assert imported(shorthand(transform=[{"type": "step"}])).problems == []


def test_a_full_type_stays_as_it_is():
    document = imported(shorthand(source={"type": "source.read", "name": "Users", "config": {"path": "x"}})).document
    assert document is not None
    assert document["nodes"]["source"] == {"type": "source.read", "name": "Users", "config": {"path": "x"}}


def test_an_unknown_type_is_kept_with_a_problem():
    found = imported(shorthand(source={"type": "carrier_pigeon"}))
    assert found.document is not None
    assert found.document["nodes"]["source"]["type"] == "source.carrier_pigeon"
    assert [problem.code for problem in found.problems] == ["node.unknown_type"]


def test_camel_case_and_dotted_keys_become_snake_case():
    document = imported(shorthand(config={"checkpointInterval": 1500, "max.retry.times": 2}, sink={"type": "write", "maxRows": 1})).document
    assert document is not None
    assert document["settings"] == {"checkpoint_interval": "1500ms", "max_retry_times": 2}
    assert document["nodes"]["sink"]["config"] == {"max_rows": 1}


def test_one_step_need_not_stand_in_a_list():
    document = imported(shorthand(transform={"type": "step"})).document
    assert document is not None
    assert list(document["nodes"]) == ["source", "step_1", "sink"]


def test_steps_of_one_type_get_names_of_their_own():
    found = imported(shorthand(transform=[{"type": "step"}, {"type": "step"}]))
    assert found.problems == []


def test_short_lists_of_fields_and_columns_are_written_out():
    steps = [{"type": "select", "fields": ["a", {"column": "b"}]}, {"type": "map", "columns": {"c": "a + b"}}]
    document = imported(shorthand(transform=steps)).document
    assert document is not None
    assert document["nodes"]["step_1"]["config"] == {"fields": [{"column": "a"}, {"column": "b"}]}
    assert document["nodes"]["step_2"]["config"] == {"columns": [{"name": "c", "expression": "a + b"}]}


def test_a_missing_sink_and_a_wrong_step_are_problems():
    found = imported({"name": "a", "type": "SQL_TASK", "source": {"type": "read"}, "transform": ["step"]})
    assert [(problem.code, problem.node_id) for problem in found.problems] == [("node.invalid", "step_1")]
    found = imported({"name": "a", "type": "SQL_TASK", "source": {"type": "read"}})
    assert [problem.code for problem in found.problems if problem.severity == "error"] == ["graph.no_sink"]


def test_a_field_nobody_knows_is_refused():
    found = imported(shorthand(colour="red"))
    assert [problem.pointer for problem in found.problems] == ["/colour"]


@pytest.mark.parametrize(
    ("url", "kind", "config"),
    [
        ("jdbc:postgresql://db.example.com/sales", "postgresql", {"host": "db.example.com", "port": 5432, "database": "sales"}),
        ("jdbc:postgresql://[::1]:5433/s?user=ann&password=x", "postgresql", {"host": "::1", "port": 5433, "database": "s", "user": "ann"}),
        ("jdbc:sqlite:flights/warehouse.sqlite3", "sqlite", {"path": "flights/warehouse.sqlite3"}),
        ("jdbc:mysql://h/d", "mysql", {"host": "h", "port": 3306, "database": "d"}),
    ],
)
def test_a_jdbc_address_becomes_fields(url, kind, config):
    (proposed,) = imported(shorthand(sink={"type": "jdbc", "config": {"url": url, "table": "t"}})).connections
    assert (proposed.kind, dict(proposed.config)) == (kind, config)


def test_the_query_of_a_web_address_becomes_parameters():
    found = imported(shorthand(source={"type": "http_api", "config": {"url": "http://[::1]:8080/v1/users/?active=1&team="}}))
    assert found.document is not None
    assert found.document["nodes"]["source"]["config"] == {
        "path": "v1/users",
        "parameters": [{"name": "active", "value": "1"}, {"name": "team", "value": ""}],
        "connection": "1",
    }
    assert dict(found.connections[0].config) == {"base_url": "http://[::1]:8080"}


@pytest.mark.parametrize(
    "url", ["ftp://host/x", "https://", "https://host:port/", "jdbc:postgresql:", "jdbc:", "", "//[", "jdbc:x://h:99999/"]
)
@pytest.mark.parametrize("type_name", ["http_api", "jdbc"])
def test_an_address_nobody_can_read_stays_where_it_was(url, type_name):
    found = imported(shorthand(source={"type": type_name, "config": {"url": url}}))
    assert found.connections == []
    assert found.document is not None
    assert found.document["nodes"]["source"]["config"]["url"] == url


def test_secrets_never_reach_the_document():
    config = {"url": "jdbc:postgresql://h/d", "table": "t", "user": "ann", "password": "hunter2"}
    found = imported(shorthand(sink={"type": "jdbc", "config": config}))
    assert "hunter2" not in json.dumps(found.document)
    assert "hunter2" not in repr(found.connections)
    assert found.connections[0].config["user"] == "ann"


def test_one_address_twice_is_one_connection():
    one, other = {"url": "jdbc:postgresql://h/d", "table": "a"}, {"url": "jdbc:postgresql://h/d", "table": "b"}
    found = imported(shorthand(source={"type": "jdbc", "config": one}, sink={"type": "jdbc", "config": other}))
    assert [proposed.node_ids for proposed in found.connections] == [("source", "sink")]


def test_two_systems_of_one_name_are_two_connections():
    one, other = {"url": "jdbc:postgresql://h1/d", "table": "a"}, {"url": "jdbc:postgresql://h2/d", "table": "b"}
    found = imported(shorthand(source={"type": "jdbc", "config": one}, sink={"type": "jdbc", "config": other}))
    assert [proposed.name for proposed in found.connections] == ["d", "d-2"]


@pytest.mark.parametrize("condition", ["size(tags) > 1", "name = 'a.b()'", "a.b = 1", "upper(user.name) = 'X'", "1.5 in (1)"])
def test_ordinary_sql_is_not_taken_for_a_method(condition):
    found = imported(shorthand(transform=[{"type": "filter", "condition": condition}]), {**CATALOGUE, **REGISTRY.catalogue()})
    assert found.problems == []


@pytest.mark.parametrize("raw", ["", "just words", "[1]", "null", "- a", "{", b"\xff"])
def test_text_that_is_no_job_gives_problems(raw):
    found = import_document(raw, CATALOGUE)
    assert found.document is None
    assert found.problems
