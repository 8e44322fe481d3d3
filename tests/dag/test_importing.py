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


def test_the_settings_of_a_line_may_stand_in_config_and_in_settings():
    found = imported({**USER_SYNC, "settings": {"parallelism": 2, "maxRetryTimes": 3}}, REGISTRY.catalogue())
    assert found.document is not None
    assert found.document["settings"] == {"checkpoint_interval": "60s", "max_retry_times": 3, "parallelism": 2}
    assert found.problems == user_sync().problems


@pytest.mark.parametrize("empty", ["settings", "config"])
def test_settings_of_a_line_that_are_left_empty_are_none(empty):
    other = "config" if empty == "settings" else "settings"
    document = imported(shorthand(**{empty: None, other: {"parallelism": 2}})).document
    assert document is not None
    assert document["settings"] == {"parallelism": 2}
    assert imported(shorthand(**{empty: None})).problems == []


def test_a_setting_of_a_line_that_stands_twice_with_two_values_is_told():
    found = imported({**USER_SYNC, "settings": {"max_retry_times": 4}}, REGISTRY.catalogue())
    (problem,) = [problem for problem in found.problems if problem.code == "settings.invalid"]
    assert problem.pointer == "/settings/max_retry_times"
    assert problem.message == '"max_retry_times" stands in "settings" and in "config", and not with the same value: write it once'


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
        ("jdbc:mariadb://h:3307/d", "mysql", {"host": "h", "port": 3307, "database": "d"}),
        (
            "jdbc:postgresql://h/d?sslmode=require&currentSchema=sales",
            "postgresql",
            {"host": "h", "port": 5432, "database": "d", "tls": "require", "search_path": "sales"},
        ),
        ("jdbc:postgresql://h/d?ssl=true", "postgresql", {"host": "h", "port": 5432, "database": "d", "tls": "verify-full"}),
        ("jdbc:mysql://h/d?sslMode=VERIFY_CA", "mysql", {"host": "h", "port": 3306, "database": "d", "tls": "verify-ca"}),
        ("jdbc:mysql://h/d?useSSL=false", "mysql", {"host": "h", "port": 3306, "database": "d", "tls": "disable"}),
        ("jdbc:db2://h:50001/x", "jdbc", {"driver": "db2", "host": "h", "port": 50001, "database": "x"}),
        ("jdbc:db2://h/x:user=ann;password=y;", "jdbc", {"driver": "db2", "host": "h", "port": 50000, "database": "x", "user": "ann"}),
        ("jdbc:oracle:thin:@//h:1522/pdb1", "jdbc", {"driver": "oracle", "host": "h", "port": 1522, "database": "pdb1"}),
        ("jdbc:oracle:thin:@h:1521:ORCL", "jdbc", {"driver": "oracle", "host": "h", "port": 1521, "database": "ORCL"}),
        ("jdbc:sqlserver://h;databaseName=x", "jdbc", {"driver": "sqlserver", "host": "h", "port": 1433, "database": "x"}),
        ("jdbc:h2:tcp://[::1]/x", "jdbc", {"driver": "h2", "host": "::1", "database": "x"}),
    ],
)
def test_a_jdbc_address_becomes_fields(url, kind, config):
    found = imported(shorthand(source={"type": "jdbc", "config": {"url": url, "table": "t"}}), REGISTRY.catalogue())
    (proposed,) = found.connections
    assert (proposed.kind, dict(proposed.config)) == (kind, config)
    assert proposed.config.keys() <= REGISTRY.connection_kinds()[kind].Config.model_fields.keys()
    assert "connection.left_out" not in [problem.code for problem in found.problems]


@pytest.mark.parametrize(
    ("type_name", "url", "kind", "config", "node"),
    [
        ("kafka", "kafka-1:9093, kafka-2", "kafka", {"servers": "kafka-1:9093, kafka-2:9092"}, {}),
        ("kafka", "kafka://broker/orders", "kafka", {"servers": "broker:9092"}, {"topic": "orders"}),
        ("kafka", "SASL_SSL://b:1", "kafka", {"servers": "b:1", "security": "sasl_tls"}, {}),
        ("rabbitmq", "amqp://mq.example.com", "rabbitmq", {"host": "mq.example.com", "port": 5672}, {}),
        (
            "rabbitmq",
            "amqps://ann:hunter2@mq/%2Fshop",
            "rabbitmq",
            {"host": "mq", "port": 5671, "user": "ann", "virtual_host": "/shop", "tls": True},
            {},
        ),
    ],
)
def test_the_address_of_a_broker_becomes_fields(type_name, url, kind, config, node):
    found = imported(shorthand(source={"type": type_name, "config": {"url": url}}), REGISTRY.catalogue())
    (proposed,) = found.connections
    assert found.document is not None
    assert (proposed.kind, dict(proposed.config)) == (kind, config)
    assert proposed.config.keys() <= REGISTRY.connection_kinds()[kind].Config.model_fields.keys()
    assert found.document["nodes"]["source"]["config"] == {**node, "connection": proposed.name}
    assert "hunter2" not in repr(found)


def test_a_user_beside_the_address_of_a_broker_signs_in():
    config = {"url": "b:9092", "user": "ann", "password": "hunter2", "topic": "t"}
    found = imported(shorthand(source={"type": "kafka", "config": config}), REGISTRY.catalogue())
    (proposed,) = found.connections
    assert dict(proposed.config) == {"servers": "b:9092", "user": "ann", "security": "sasl_plaintext"}
    assert proposed.secrets == ("password",)
    assert "hunter2" not in repr(found)


def test_what_no_field_takes_of_an_address_is_named():
    url = "jdbc:postgresql://h/d?sslmode=require&password=hunter2&connectTimeout=5&options=-c"
    found = imported(shorthand(sink={"type": "jdbc", "config": {"url": url, "table": "t"}}), REGISTRY.catalogue())
    (told,) = [problem for problem in found.problems if problem.code == "connection.left_out"]
    assert (told.severity, told.pointer) == ("warning", "/nodes/sink/config/connection")
    assert told.message == 'the address also names connectTimeout, options, for which the connection "d" has no field: left out'


def test_a_database_that_the_node_cannot_reach_is_told_on_its_address():
    config = {"url": "jdbc:db2://h:50000/x", "table": "t", "user": "ann"}
    found = imported(shorthand(sink={"type": "jdbc", "config": config}), REGISTRY.catalogue())
    told = next(problem for problem in found.problems if problem.code == "connection.unsupported")
    assert (told.severity, told.pointer) == ("error", "/nodes/sink/config/url")
    assert found.connections == []
    assert found.document is not None
    assert found.document["nodes"]["sink"]["config"] == config


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
    "url",
    [
        *("ftp://host/x", "https://", "https://host:port/", "jdbc:postgresql:", "jdbc:", "", "//[", "jdbc:x://h:99999/"),
        *("jdbc:oracle:thin:scott/tiger@h:1521:x", "jdbc:oracle:thin:@(DESCRIPTION=(HOST=h))"),
    ],
)
@pytest.mark.parametrize("type_name", ["http_api", "jdbc", "kafka", "rabbitmq"])
def test_an_address_nobody_can_read_stays_where_it_was(url, type_name):
    found = imported(shorthand(source={"type": type_name, "config": {"url": url, "user": "ann"}}))
    assert found.connections == []
    assert found.document is not None
    assert found.document["nodes"]["source"]["config"] == {"url": url, "user": "ann"}


def test_secrets_never_reach_the_document():
    config = {"url": "jdbc:postgresql://h/d", "table": "t", "user": "ann", "password": "hunter2"}
    found = imported(shorthand(sink={"type": "jdbc", "config": config}))
    assert "hunter2" not in json.dumps(found.document)
    assert "hunter2" not in repr(found.connections)
    assert found.connections[0].config["user"] == "ann"


BEGIN = "https://api.example.com"


@pytest.mark.parametrize(
    ("config", "sign_in", "secrets"),
    [
        ({"url": f"{BEGIN}/x", "token": "hunter2"}, {"auth": "bearer"}, ("token",)),
        ({"url": f"{BEGIN}/x", "api_key": "hunter2"}, {"auth": "api_key"}, ("api_key",)),
        ({"url": f"{BEGIN}/x", "user": "ann", "password": "hunter2"}, {"auth": "basic", "user": "ann"}, ("password",)),
        ({"url": "https://a%40b:hunter2@api.example.com/x"}, {"auth": "basic", "user": "a@b"}, ("password",)),
        (
            {"url": f"{BEGIN}/x?Api_Key=hunter2"},
            {"auth": "api_key", "api_key_in": "query", "api_key_parameter": "Api_Key"},
            ("api_key",),
        ),
    ],
)
def test_what_signs_in_to_a_web_address_is_asked_for_by_its_connection(config, sign_in, secrets):
    found = imported(shorthand(source={"type": "http_api", "config": config}), REGISTRY.catalogue())
    (proposed,) = found.connections
    assert (dict(proposed.config), proposed.secrets) == ({"base_url": BEGIN, **sign_in}, secrets)
    kind = REGISTRY.connection_kinds()["http_api"]
    kind.Config.model_validate(proposed.config)
    assert [kind.secrets_when[name] for name in secrets] == [f"auth={sign_in['auth']}"], "the form has a field for it"
    assert found.document is not None
    assert found.document["nodes"]["source"]["config"] == {"path": "x", "connection": proposed.name}
    assert "hunter2" not in repr(found)


def test_a_second_key_of_a_web_address_is_left_out_and_named():
    url = "https://ann:hunter2@api.example.com/x?access_token=hunter2&active=1"
    found = imported(shorthand(source={"type": "http_api", "config": {"url": url}}), REGISTRY.catalogue())
    (told,) = [problem for problem in found.problems if problem.code == "connection.left_out"]
    assert "the address also names access_token," in told.message
    assert found.document is not None
    assert found.document["nodes"]["source"]["config"]["parameters"] == [{"name": "active", "value": "1"}]
    assert "hunter2" not in repr(found)


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
