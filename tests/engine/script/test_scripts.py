"""Whole scripts, run in a session of their own: sinks write what a run writes, secrets stay outside, what has no script says so."""

import ast
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.dag.document import parse_document
from jobs.engine.script.program import Script, script_write
from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.plainly import secret_stand_in
from tests.nodes.api_server import Answer, Request, api_server, as_json
from tests.nodes.conftest import (  # noqa: F401
    Database,
    database,
    mysql_database,
    postgres_database,
    root,
    sqlite_database,
)

pytestmark = pytest.mark.spark

COLUMNS = [{"name": "id", "type": "long"}, {"name": "name"}, {"name": "at", "type": "timestamp"}, {"name": "gone", "type": "boolean"}]


def script(spark: SparkSession, root: Path, nodes: dict[str, Any], edges: list[str], *, job_type: str = "SQL_TASK", **more: Any) -> Script:  # noqa: F811
    """`edges`: "a b" or "a.port b"."""
    document: dict[str, Any] = {"name": "written", "type": job_type, "nodes": nodes, "edges": {}}
    for number, edge in enumerate(edges):
        source, target = edge.split()
        node, _, port = source.partition(".")
        document["edges"][f"e{number}"] = {"from": [node, port or "out"], "to": [target, "in"]}
    parsed, problems = parse_document(document)
    assert parsed is not None, problems
    given: dict[str, Any] = {"connections": {}, "limits": Limits(file_roots=(root,), data_dir=root), "parameters": {}} | more
    return script_write(spark, parsed, **given)


def run(spark: SparkSession, text: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """In a session of its own, to which the script's builder comes."""
    session: Any = spark.newSession()
    session._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)
    monkeypatch.setenv("CHECKPOINTS", str(folder / "checkpoints"))
    monkeypatch.setattr("sys.argv", ["written.py", "--until-drained"])
    monkeypatch.setattr(SparkSession, "_instantiatedSession", session)
    exec(compile(text, "written.py", "exec"), {"__name__": "__main__"})


def lines(root: Path, name: str, *rows: str) -> None:  # noqa: F811
    (root / "in").mkdir(exist_ok=True)
    (root / "in" / name).write_text("\n".join(["id,name,at,gone", *rows]) + "\n", encoding="utf-8")


def files(**config: Any) -> dict[str, Any]:
    return {"type": "source.file", "name": "Files", "config": {"path": "in", "format": "csv", "columns": COLUMNS, **config}}


@pytest.mark.parametrize(
    ("mode", "expected"), [("upsert", [(1, "new"), (3, "c")]), ("append", [(1, "a"), (2, "b"), (1, "new"), (2, "b"), (3, "c")])]
)
def test_tables_are_written_as_by_a_run(spark, root, database: Database, monkeypatch, tmp_path, mode, expected):  # noqa: F811
    sink: dict[str, Any] = {"connection": "db", "table": "written", "mode": mode}
    sink |= {"keys": ["id"], "delete_flag": "gone"} if mode == "upsert" else {}
    nodes = {"rows": files(), "table": {"type": "sink.jdbc", "name": "Table", "config": sink}}
    closed = replace(database.settings, secrets={name: secret_stand_in("db", name) for name in database.settings.secrets})
    monkeypatch.setenv("DB_PASSWORD", database.settings.secrets.get("password", ""))
    lines(root, "1.csv", "1,a,2026-01-02 03:04:05.5,false", "2,b,2026-01-02 03:04:05,false", "x,y,z,w")
    written = script(spark, root, nodes, ["rows table"], connections={"db": closed})
    assert not written.problems
    assert "_END_OF_SECRET" not in written.text
    run(spark, written.text, monkeypatch, tmp_path)
    assert sorted(str(row[0])[:19] for row in database.rows("SELECT at FROM written")) == ["2026-01-02 03:04:05"] * 2
    (root / "in" / "1.csv").unlink()
    lines(root, "2.csv", "1,new,,false", "2,b,,true", "3,c,,false")
    run(spark, written.text, monkeypatch, tmp_path)
    assert sorted(database.rows("SELECT id, name FROM written")) == sorted(expected)


@pytest.mark.postgres
@pytest.mark.server
@pytest.mark.parametrize("mode", ["upsert", "append"])
def test_a_postgresql_table_of_others_takes_rows_in_its_own_types(spark, root, postgres_database: Database, monkeypatch, tmp_path, mode):  # noqa: F811
    table = "{rows}%s"
    postgres_database.run("CREATE TYPE mood AS ENUM ('glad', 'sad'); CREATE TABLE \"seen\" (doc jsonb)")
    postgres_database.run(
        f'CREATE TABLE "{table}" ("ID" uuid PRIMARY KEY, "Doc" jsonb, at timestamp, short varchar(3), n numeric(6,2) DEFAULT 7, '
        'host inet, feels mood, tags text[], "q""t" json)'
    )
    postgres_database.run(f"INSERT INTO \"{table}\" VALUES ('0b0f6c3e-0000-4000-8000-000000000002', '{{}}', now(), 'old')")
    columns = [{"name": name} for name in ("id", "doc", "short", "host", "feels", "tags", 'q"t')] + [{"name": "at", "type": "timestamp"}]
    sink: dict[str, Any] = {"connection": "db", "table": table, "mode": mode}
    sink |= {"keys": ["id"], "update_columns": ["doc", "at"]} if mode == "upsert" else {}
    sink |= {"sql_before": "INSERT INTO seen VALUES ('{\"batch\": 1}')", "sql_after": f'INSERT INTO seen SELECT "Doc" FROM "{table}"'}
    nodes = {
        "rows": {"type": "source.file", "name": "Files", "config": {"path": "in", "format": "json", "columns": columns}},
        "table": {"type": "sink.jdbc", "name": "Table", "config": sink},
    }
    given = {
        "doc": '{"a": 1}',
        "short": "new",
        "host": "10.0.0.1",
        "feels": "glad",
        "tags": "{a,b}",
        'q"t': "[1]",
        "at": "2026-01-02T03:04:05Z",
    }
    ids = [f"0B0F6C3E-0000-4000-8000-00000000000{number}" for number in ((1, 2) if mode == "upsert" else (1, 3))]
    (root / "in").mkdir()
    (root / "in" / "1.json").write_text("\n".join(json.dumps({"id": one, **given}) for one in ids))
    written = script(spark, root, nodes, ["rows table"], connections={"db": postgres_database.settings})
    assert not written.problems
    run(spark, written.text, monkeypatch, tmp_path)
    found = postgres_database.rows(f'SELECT "ID"::text, "Doc", at, short, n, host, feels, tags, "q""t" FROM "{table}" ORDER BY 1')
    at, others = datetime(2026, 1, 2, 3, 4, 5), (Decimal(7), "10.0.0.1", "glad", ["a", "b"], [1])
    fresh: list[tuple[Any, ...]] = [(one.lower(), {"a": 1}, at, "new", *others) for one in ids]
    if mode == "upsert":
        fresh[1] = (ids[1].lower(), {"a": 1}, at, "old", Decimal(7), None, None, None, None)
    assert [row for row in found if row[0] in [one.lower() for one in ids]] == fresh
    assert len(postgres_database.rows("SELECT * FROM seen")) == 1 + len(found)


def test_a_stream_forks_goes_on_behind_what_it_read_and_overwrites_only_once(spark, root, monkeypatch, tmp_path):  # noqa: F811
    nodes = {
        "rows": files(),
        "parts": {"type": "flow.split", "name": "Parts", "config": {"branches": [{"name": "gone", "condition": "gone"}]}},
        "gone": {"type": "sink.file", "name": "Gone", "config": {"path": "gone", "format": "json", "mode": "overwrite"}},
        "kept": {"type": "sink.file", "name": "Kept", "config": {"path": "kept", "format": "json", "mode": "overwrite"}},
        "bad": {"type": "sink.file", "name": "Bad", "config": {"path": "bad", "format": "json"}},
    }
    edges = ["rows parts", "parts.gone gone", "parts.else kept", "rows.errors bad"]
    (root / "in").mkdir()
    written = script(spark, root, nodes, edges, job_type="STREAMING")
    assert not written.problems
    for number, row in enumerate(["1,a,,true", "2,b,,false", "x,y,z,w"]):
        lines(root, f"{number}.csv", row)
        run(spark, written.text, monkeypatch, tmp_path)
    found = {name: [row.asDict() for row in spark.read.json(str(root / name)).collect()] for name in ("gone", "kept", "bad")}
    assert [row["id"] for row in found["gone"]] == [1]
    assert [row["id"] for row in found["kept"]] == [2]
    assert "x,y,z,w" in found["bad"][0]["rejected_reason"]


def test_what_a_stream_sends_by_the_time_it_asks_for_the_time_once(spark, root, monkeypatch, tmp_path):  # noqa: F811
    branches = [{"name": "odd", "condition": "unix_micros(current_timestamp()) % 2 = 1"}]
    stamp = {"columns": [{"name": "seen", "expression": "current_timestamp()"}]}
    nodes: dict[str, Any] = {
        "rows": files(),
        "stamp": {"type": "flow.compute_columns", "name": "Stamp", "config": stamp},
        "way": {"type": "flow.split", "name": "Way", "config": {"branches": branches}},
    }
    for name in ("odd", "even", "a", "b", "c"):
        nodes[name] = {"type": "sink.file", "name": name, "config": {"path": name, "format": "json"}}
    (root / "in").mkdir()
    edges = ["rows stamp", "stamp a", "stamp b", "rows way", "way.odd odd", "way.else even", "rows.errors c"]
    written = script(spark, root, nodes, edges, job_type="STREAMING")
    assert not written.problems
    assert ".persist()" in written.text
    for number in range(2):
        lines(root, f"{number}.csv", f"{number},a,,true")
        run(spark, written.text, monkeypatch, tmp_path)
    found = {name: sorted(row.seen for row in spark.read.json(str(root / name)).collect()) for name in ("a", "b")}
    assert found["a"] == found["b"]
    ids = [row.id for name in ("odd", "even") if list((root / name).glob("*.json")) for row in spark.read.json(str(root / name)).collect()]
    assert sorted(ids) == [0, 1]


def test_windows_behind_deduplicated_rows_go_by_their_time(spark, root, monkeypatch, tmp_path):  # noqa: F811
    count = {"time_column": "at", "window": "1 min", "emit": "close", "aggregates": [{"name": "n"}]}
    nodes = {
        "in": {"type": "source.file", "name": "In", "config": {"path": "in", "format": "csv", "columns": COLUMNS}},
        "once": {"type": "flow.deduplicate", "name": "Once", "config": {"keys": ["id"], "time_column": "at", "within": "1 min"}},
        "n": {"type": "flow.window_aggregate", "name": "Count", "config": count},
        "out": {"type": "sink.file", "name": "Out", "config": {"path": "out", "format": "json"}},
    }
    day = "2024-05-01T1"
    lines(root, "a.csv", f"1,a,{day}0:00:05Z,", f"1,a,{day}0:00:05Z,", f"2,b,{day}0:00:30Z,", f"3,c,{day}1:00:00Z,")
    text = script(spark, root, nodes, ["in once", "once n", "n out"], job_type="STREAMING").text
    assert text.count("withWatermark(") == 1
    run(spark, text, monkeypatch, tmp_path)
    assert [row.n for row in spark.read.json(str(root / "out")).collect()] == [2]


def test_kafka_keeps_its_secret_outside(spark, root):  # noqa: F811
    config = {"servers": "127.0.0.1:9", "security": "sasl_plaintext", "mechanism": "PLAIN", "user": "me"}
    settings = ConnectionSettings("events", "kafka", config, {"password": secret_stand_in("events", "password")})
    nodes = {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 3}},
        "topic": {"type": "sink.kafka", "name": "Topic", "config": {"connection": "events", "topic": "numbers"}},
    }
    written = script(spark, root, nodes, ["numbers topic"], connections={"events": settings})
    assert not written.problems
    assert 'os.environ["EVENTS_PASSWORD"]' in written.text
    assert "_END_OF_SECRET" not in written.text
    assert "--packages org.apache.spark:spark-sql-kafka" in written.text


def _names_bound(text: str) -> Iterator[str]:
    for one in ast.parse(text).body:
        if isinstance(one, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in one.names)
        elif isinstance(one, ast.FunctionDef | ast.ClassDef):
            yield one.name
        elif isinstance(one, ast.Assign):
            yield from (target.id for target in one.targets if isinstance(target, ast.Name))


def test_nodes_called_like_what_the_script_takes_along_or_imports_do_not_hide_it(spark, root):  # noqa: F811
    names = ["Grouped", "Shown", "Misfit", "Date", "PA", "Quote", "Reduce", "Deque", "Decimal", "Httpx"]
    code = {"code": "def process(row):\n    return [row]", "columns": [{"name": "value", "type": "long"}]}
    nodes: dict[str, Any] = {"rows": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 3}}}
    nodes |= {f"n{place}": {"type": "flow.filter_rows", "name": name, "config": {"condition": "true"}} for place, name in enumerate(names)}
    nodes["python"] = {"type": "flow.python", "name": "Fitting", "config": code}
    nodes["hook"] = {"type": "sink.webhook", "name": "Hook", "config": {"connection": "hook"}}
    hook = ConnectionSettings("hook", "webhook_receiver", {"url": "http://127.0.0.1:9/"}, {"secret": secret_stand_in("hook", "secret")})
    order = ["rows", *(f"n{place}" for place in range(len(names))), "python", "hook"]
    written = script(spark, root, nodes, [f"{one} {next_one}" for one, next_one in pairwise(order)], connections={"hook": hook})
    assert not written.problems
    found = Counter(_names_bound(written.text))
    assert [name for name, times in found.items() if times > 1] == []


def test_pages_of_an_api_are_kept_where_the_script_keeps_its_own(spark, root, tmp_path, monkeypatch):  # noqa: F811
    def records(request: Request) -> Answer:
        pages = {"1": [{"id": 1}], "2": [{"id": 2}]}
        return as_json(pages.get(request.query.get("page", ""), []))

    config = {"connection": "api", "path": "rows", "paging": "page", "columns": [{"name": "id", "type": "long"}]}
    with api_server(records) as server:
        nodes = {
            "api": {"type": "source.http_api", "name": "Orders", "config": config},
            "out": {"type": "sink.file", "name": "Out", "config": {"path": "out", "format": "json"}},
        }
        api = ConnectionSettings("api", "http_api", {"base_url": server.url}, {})
        limits = Limits(file_roots=(root,), data_dir=root, http_allowed_hosts=(server.host,))
        written = script(spark, root, nodes, ["api out"], connections={"api": api}, limits=limits)
        assert not written.problems
        assert "CHECKPOINTS + '/work/api/pages\"" in written.text
        assert "pipeline-script-" not in written.text
        run(spark, written.text, monkeypatch, tmp_path)
    assert sorted(row.id for row in spark.read.json(str(root / "out")).collect()) == [1, 2]


@pytest.mark.parametrize(
    ("nodes", "node_id", "why"),
    [
        ({"rows": files(afterwards="delete"), "out": {"type": "sink.none", "name": "Out", "config": {}}}, "rows", "puts its files away"),
        (
            {"rows": files(), "out": {"type": "sink.rocketmq", "name": "Out", "config": {"connection": "m", "topic": "t"}}},
            "out",
            "no writer for it",
        ),
    ],
)
def test_what_plain_pyspark_cannot_do_is_told_on_its_node(spark, root, nodes, node_id, why):  # noqa: F811
    lines(root, "1.csv", "1,a,,true")
    refused = script(
        spark, root, nodes, ["rows out"], connections={"m": ConnectionSettings("m", "rocketmq", {"name_servers": "h:9876"}, {})}
    )
    assert refused.text == ""
    assert [(problem.node_id, problem.code) for problem in refused.problems] == [(node_id, "script.impossible")]
    assert why in refused.problems[0].message


def test_a_script_sends_no_mails(spark, root):  # noqa: F811
    config = {"connection": "office", "to": "ops@example.com", "subject": "late", "text": "late"}
    nodes = {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 3}},
        "tell": {"type": "flow.for_each_mail", "name": "Tell", "config": config},
        "out": {"type": "sink.none", "name": "Out", "config": {}},
    }
    office = ConnectionSettings("office", "smtp", {"host": "127.0.0.1", "sender": "a@example.com"}, {})
    refused = script(spark, root, nodes, ["numbers tell", "tell out"], connections={"office": office})
    assert [(problem.node_id, problem.code) for problem in refused.problems] == [("tell", "script.impossible")]
    assert "its mails are sent by Pipeline Web itself" in refused.problems[0].message


def test_another_thread_is_not_recorded_and_pyspark_is_left_as_it_was(spark):
    from pyspark.sql import functions

    from jobs.engine.script.recording import recorded

    before = functions.col
    with recorded():
        assert functions.col is not before
    assert functions.col is before
    assert "_script_code" not in functions.col("x").__dict__


def test_a_stream_with_sql_behind_its_fork_and_nodes_called_like_pythons_own(spark, root, sqlite_database, monkeypatch, tmp_path):  # noqa: F811
    sink = {"connection": "db", "table": "named", "mode": "upsert", "keys": ["id"]}
    nodes = {
        "rows": {"type": "source.file", "name": "Closing", "config": {"path": "in", "format": "json", "columns": []}},
        "chosen": {"type": "flow.sql", "name": "Enumerate", "config": {"query": "SELECT id, inner.`a-b` AS name FROM input"}},
        "table": {"type": "sink.jdbc", "name": "Sqlite3", "config": sink},
        "all": {"type": "sink.file", "name": "Rows", "config": {"path": "all", "format": "json"}},
    }
    (root / "in").mkdir()
    (root / "in" / "1.json").write_text('{"id": 1, "inner": {"a-b": "x"}}\n{"id": 2, "inner": {"a-b": "y"}}\n', encoding="utf-8")
    edges = ["rows chosen", "chosen table", "rows all"]
    written = script(spark, root, nodes, edges, job_type="STREAMING", connections=sqlite_database.connections)
    assert not written.problems
    run(spark, written.text, monkeypatch, tmp_path)
    assert sorted(sqlite_database.rows("SELECT id, name FROM named")) == [(1, "x"), (2, "y")]
    assert spark.read.json(str(root / "all")).count() == 2


def test_a_query_over_a_table_and_files_is_that_of_a_run(spark, root, sqlite_database, monkeypatch, tmp_path):  # noqa: F811
    sqlite_database.run("CREATE TABLE sizes (id integer PRIMARY KEY, size integer)")
    sqlite_database.run("INSERT INTO sizes VALUES (1, 10), (2, 20), (3, 30)")
    inputs = [
        {"name": "sizes", "kind": "table", "connection": "db", "table": "sizes"},
        {"name": "rows", "kind": "files", "path": "in"},
    ]
    nodes = {
        "query": {
            "type": "source.sql",
            "name": "Query",
            "config": {"query": "SELECT r.name, s.size FROM sizes s JOIN rows r USING (id)", "inputs": inputs},
        },
        "all": {"type": "sink.file", "name": "Rows", "config": {"path": "all", "format": "json"}},
    }
    lines(root, "1.csv", "1,a,,false", "3,c,,true")
    written = script(spark, root, nodes, ["query all"], connections=sqlite_database.connections)
    assert not written.problems
    run(spark, written.text, monkeypatch, tmp_path)
    assert sorted(tuple(row) for row in spark.read.json(str(root / "all")).collect()) == [("a", 10), ("c", 30)]


def test_a_stream_that_fails_fails_the_script(spark, root, monkeypatch, tmp_path):  # noqa: F811
    nodes = {"rows": files(), "out": {"type": "sink.file", "name": "Out", "config": {"path": "out", "format": "json"}}}
    lines(root, "1.csv", "1,a,,true")
    written = script(spark, root, nodes, ["rows out"], job_type="STREAMING")
    (root / "out").write_text("a file where a folder is to be", encoding="utf-8")
    with pytest.raises(Exception, match="out"):
        run(spark, written.text, monkeypatch, tmp_path)


def test_times_that_no_wall_clock_shows_keep_their_hour(spark, root, sqlite_database, monkeypatch, tmp_path):  # noqa: F811
    sink = {"connection": "db", "table": "times", "mode": "append"}
    nodes = {"rows": files(), "table": {"type": "sink.jdbc", "name": "Table", "config": sink}}
    lines(root, "1.csv", "1,a,2026-03-29T02:30:00Z,true", "2,b,1969-12-31T23:59:59.5Z,true", "3,c,2026-10-25T00:30:00Z,true")
    document: dict[str, Any] = {"name": "written", "type": "SQL_TASK", "nodes": nodes, "settings": {"time_zone": "Europe/Berlin"}}
    document["edges"] = {"e": {"from": ["rows", "out"], "to": ["table", "in"]}}
    parsed, _ = parse_document(document)
    assert parsed is not None
    limits = Limits(file_roots=(root,), data_dir=root)
    written = script_write(spark, parsed, connections=sqlite_database.connections, limits=limits, parameters={})
    run(spark, written.text, monkeypatch, tmp_path)
    found = [row[0] for row in sqlite_database.rows("SELECT at FROM times ORDER BY id")]
    assert found == ["2026-03-29 02:30:00", "1969-12-31 23:59:59.500000", "2026-10-25 00:30:00"]


def test_a_source_behind_a_sign_in_is_not_asked_with_a_stand_in(spark, root):  # noqa: F811
    config = {"servers": "127.0.0.1:9", "security": "sasl_plaintext", "mechanism": "PLAIN", "user": "me"}
    settings = ConnectionSettings("events", "kafka", config, {"password": secret_stand_in("events", "password")})
    nodes = {
        "topic": {"type": "source.kafka", "name": "Topic", "config": {"connection": "events", "topic": "t", "columns": COLUMNS}},
        "out": {"type": "sink.none", "name": "Out", "config": {}},
    }
    refused = script(spark, root, nodes, ["topic out"], connections={"events": settings})
    assert [(problem.node_id, problem.code) for problem in refused.problems] == [("topic", "script.impossible")]
    unknown = script(spark, root, nodes, ["topic out"])
    assert [(problem.node_id, problem.code) for problem in unknown.problems] == [("topic", "node.refused")]
