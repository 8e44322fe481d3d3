"""Files of stores that an administrator allows, on an SFTP server: each is read once, and what is wrong is told in a sentence."""

import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.sftp import SFTPFileSystem
from pyspark.sql import SparkSession

from jobs.nodes.base import REJECTED, ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.file_store import FileStoreConnection, FsspecStore
from jobs.nodes.file_stores import file_stores
from jobs.nodes.node_error import SystemAway
from jobs.nodes.sources import stored_files
from jobs.nodes.sources.stored_files import StoredFiles
from jobs.nodes.stores import sftp
from jobs.nodes.stores.kinds import store_open, store_silent
from jobs.nodes.stores.store import Store
from tests.driver.flow import Flow
from tests.nodes.conftest import Build, Built
from tests.nodes.streams import Drained
from tests.servers.sftp import SftpServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server]

ID = [{"name": "id", "type": "long"}]


class Plant:
    """A folder of its own on the server."""

    def __init__(self, server: SftpServer, folder: Path, build: Build, tmp_path: Path) -> None:
        self.server = server
        self.folder = folder
        self.limits = Limits(data_dir=tmp_path, file_stores=server.stores)
        self._build = build
        self._live = tmp_path / "live"

    def settings(self, secret: str | None = None, folder: str = "", store: str = "sftp", **options: str) -> ConnectionSettings:
        config = {"store": store, "folder": folder or str(self.folder), "options": self.server.options(**options)}
        return ConnectionSettings("plant", "file_store", config, {"secret": secret or self.server.private_key})

    def store(self) -> Store:
        return store_open(self.settings(), self.limits)

    def source(self, config: dict[str, Any] | None = None, **given: Any) -> Built:
        config = {"connection": "plant", "path": "in", "columns": ID} | (config or {})
        return self._build("source.file", config, connections={"plant": self.settings()}, limits=self.limits, live_dir=self._live, **given)


@pytest.fixture
def plant(sftp_server: SftpServer, build: Build, tmp_path: Path) -> Plant:
    folder = sftp_server.data / tmp_path.name
    (folder / "in").mkdir(parents=True)
    return Plant(sftp_server, folder, build, tmp_path)


def drained(spark: SparkSession, source: Built, folder: Path) -> Drained:
    source = Built(source.node, replace(source.context, mode="stream"))
    source.node.begin(source.context)
    source.node.receive(source.context, threading.Event())
    rows = Drained("id")
    rows.run(source.node.read(spark, source.context), folder)
    return rows


def test_each_file_is_read_once_by_its_time(spark: SparkSession, plant: Plant, tmp_path: Path):
    for number in range(4):
        (plant.folder / "in" / f"{9 - number} é.csv").write_text(f"id\n{number}\n")
        os.utime(plant.folder / "in" / f"{9 - number} é.csv", (1_700_000_000 + number, 1_700_000_000 + number))
    rows = drained(spark, plant.source({"max_files_per_trigger": 1}), tmp_path / "live" / "q")
    assert [rows.batches[batch] for batch in sorted(rows.batches)] == [[0], [1], [2], [3]]
    (plant.folder / "in" / "new.csv").write_text("id\n4\n")
    again = drained(spark, plant.source({"max_files_per_trigger": 1}, attempt=2), tmp_path / "live" / "q")
    assert again.everything == [4]


def test_a_sample_of_files_that_are_read_whole_takes_no_more_than_a_few_megabytes(
    spark: SparkSession, plant: Plant, monkeypatch: pytest.MonkeyPatch
):
    for number in range(6):
        spark.range(100).toPandas().to_parquet(plant.folder / "in" / f"{number}.parquet")
    size = (plant.folder / "in" / "0.parquet").stat().st_size
    monkeypatch.setattr(stored_files, "_SAMPLED_WHOLE_BYTES", 2.5 * size)
    source = plant.source({"format": "parquet", "columns": []}, generation="")
    assert source.node.read(spark, source.context).columns == ["id"]
    assert len(list((plant.limits.data_dir / "samples").rglob("*.parquet"))) == 2


def test_a_sample_gives_the_columns_before_anything_runs(spark: SparkSession, plant: Plant):
    (plant.folder / "in" / "a.csv").write_text("id,word\n1,é\n")
    source = plant.source({"columns": []}, generation="")
    assert [row.asDict() for row in source.node.read(spark, source.context).collect()] == [{"id": 1, "word": "é", REJECTED: None}]


def test_what_was_read_is_put_away(plant: Plant):
    for name in ("a.csv", "b.csv"):
        (plant.folder / "in" / name).write_text("id\n1\n")
    store = plant.store()
    store.move("in/a.csv", "read/below/a.csv")
    store.move("in/gone.csv", "read/below/gone.csv")
    store.remove(["in/b.csv", "in/gone.csv"])
    assert [one.name for one in store.find("")] == ["read/below/a.csv"]
    assert store.head("read/below/a.csv", 2) == b"id"
    assert not store.fetch("in/gone.csv", plant.folder / "fetched")


@pytest.mark.parametrize("order", ["time", "name"])
def test_files_that_a_stream_looks_things_up_in_are_there_at_its_begin_and_again_as_they_change(plant: Plant, order: str):
    rates, old = plant.folder / "in" / "rates.csv", plant.folder / "in" / "old.csv"
    rates.write_text("id\n1\n")
    old.write_text("id\n2\n")
    source = plant.source({"order": order, "list_every_seconds": 1})
    context = replace(source.context, mode="stream", bounded=False, beside=True)
    mirror = StoredFiles(context).mirror

    def copies() -> set[str]:
        return {Path(path).read_text() for path in mirror.sizes()}

    source.node.begin(context)
    assert copies() == {"id\n1\n", "id\n2\n"}
    stopping = threading.Event()
    receiving = threading.Thread(target=source.node.receive, args=(context, stopping))
    receiving.start()
    rates.write_text("id\n3\n")
    os.utime(rates, (rates.stat().st_mtime + 60,) * 2)
    old.unlink()
    wait_until(lambda: copies() == {"id\n3\n"}, seconds=20, what="the new rates")
    rates.rename(plant.folder / "away.csv")
    receiving.join(2)
    assert copies() == {"id\n3\n"}
    stopping.set()
    receiving.join(20)


def test_the_connection_test_names_the_step_that_fails(plant: Plant):
    def steps(settings: ConnectionSettings, limits: Limits = plant.limits) -> list[tuple[str, bool, str]]:
        return [(step.name, step.ok, step.message) for step in FileStoreConnection().check(settings, limits)]

    good = steps(plant.settings())
    assert [(name, ok) for name, ok, _ in good] == [(name, True) for name in ("kind", "name", "port", "sign-in", "listing")]
    assert "with 1 files and folders in it" in good[-1][2]
    other_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKoy7c1iMmVgzIqTz5fwm4CkVnLr1fFE5Kp5ykjD7Vh3"
    for settings, step, sentence in (
        (plant.settings(store="gcs"), "kind", 'the file store "gcs" is not allowed here, there are: sftp'),
        (plant.settings(key_filename="/root/.ssh/id_rsa"), "sign-in", "SFTP takes no key_filename here; it takes host, port"),
        (plant.settings(host="no-such-host.invalid"), "name", "is not known"),
        (plant.settings(port="1"), "port", "does not answer"),
        (plant.settings(username="nobody-4711"), "sign-in", "the sign-in was refused"),
        (plant.settings(host_key=other_key), "sign-in", "the server shows another key"),
        (plant.settings(host_key="hum"), "sign-in", "the host key is none"),
        (plant.settings(secret="canary-4711"), "sign-in", "the secret is no private key"),
        (plant.settings(folder="/gone"), "listing", "it is not there"),
    ):
        found = steps(settings)
        assert (found[-1][:2], sentence in found[-1][2]) == ((step, False), True), found
        assert "canary-4711" not in repr(found)


def test_a_server_that_is_away_is_waited_for(plant: Plant):
    store = plant.store()
    plant.server.kill()
    try:
        assert store_silent(plant.settings(), plant.limits) == "sftp plant"
        with pytest.raises(SystemAway, match="does not answer"):
            store.find("")
        with pytest.raises(SystemAway, match="does not answer"):
            plant.store()
    finally:
        plant.server.start()
    assert store_silent(plant.settings(), plant.limits) == ""
    assert plant.store().find("") == []


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"protocol": "file"}, "file is no store of files elsewhere"),
        ({"protocol": "s3"}, "has a kind of connection of its own"),
        ({"fields": ["host", "private_key"]}, "private_key stands in more than one of options, fields and secret"),
        ({"hosts": []}, "sftp/hosts: Extra inputs are not permitted"),
    ],
)
def test_a_list_of_stores_that_is_wrong_says_where(plant: Plant, tmp_path: Path, entry: dict[str, Any], sentence: str):
    listed = tmp_path / "stores.json"
    listed.write_text(json.dumps({"sftp": json.loads(plant.server.stores.read_text())["sftp"] | entry}))
    with pytest.raises(NodeError, match="have an administrator correct what FILE_STORES names") as caught:
        file_stores(Limits(file_stores=listed))
    assert sentence in caught.value.message


def test_the_form_asks_for_what_the_store_wants_to_know(plant: Plant):
    properties = FileStoreConnection.form(plant.limits)["properties"]
    assert (properties["store"]["enum"], properties["store"]["default"]) == (["sftp"], "sftp")
    assert [option["name"] for option in properties["options"]["default"]] == ["host", "port", "username", "host_key"]
    with pytest.raises(NodeError, match="no further file store is allowed here"):
        FileStoreConnection.form(Limits())


def test_a_store_whose_package_is_missing_says_so(plant: Plant, tmp_path: Path):
    listed = tmp_path / "stores.json"
    listed.write_text(json.dumps({"drive": {"title": "Drive", "protocol": "gdrive"}}))
    settings = ConnectionSettings("drive", "file_store", {"store": "drive", "folder": "in"})
    (step,) = FileStoreConnection().check(settings, replace(plant.limits, file_stores=listed))
    assert (step.name, step.ok, "Drive needs a package that is not installed" in step.message) == ("kind", False, True)


class Closed(DirFileSystem):  # type: ignore[misc]
    """A stub, for root may list every folder: none called "closed" can be listed, and one called "going" goes meanwhile."""

    def ls(self, path: str, detail: bool = True, **given: Any) -> Any:
        if path.endswith("/closed"):
            raise PermissionError(path)
        if path.endswith("/going"):
            raise FileNotFoundError(path)
        return super().ls(path, detail, **given)


def closed_store(tmp_path: Path, *names: str) -> FsspecStore:
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("id\n1\n")
    return FsspecStore("sftp plant", Closed(str(tmp_path), LocalFileSystem()), "base")


def test_a_folder_below_that_cannot_be_listed_is_told(tmp_path: Path):
    store = closed_store(tmp_path, "base/in/a.csv", "base/in/below/closed/b.csv")
    with pytest.raises(NodeError, match=r'sftp plant: listing "in/below/closed": the store forbids it') as told:
        store.find("in")
    assert told.value.permanent


def test_a_folder_below_that_is_gone_or_of_no_use_is_passed_by(tmp_path: Path):
    store = closed_store(tmp_path, "base/in/a.csv", "base/in/b/c/d.csv", "base/in/going/e.csv", "base/in/_temporary/closed/f.csv")
    assert [one.name for one in store.find("in", lambda folder: not folder.startswith("_"))] == ["in/a.csv", "in/b/c/d.csv"]


def test_folders_whose_files_are_no_input_may_be_closed(plant: Plant, monkeypatch: pytest.MonkeyPatch):
    for name in ("day=1/a.csv", "lost+found/b.csv", "_temporary/c.csv"):
        (plant.folder / "in" / name).parent.mkdir()
        (plant.folder / "in" / name).write_text("id\n1\n")
    asked = list[str]()
    listed = SFTPFileSystem.ls

    def ls(files: Any, path: str, detail: bool = False) -> Any:
        asked.append(path.rpartition("/")[2])
        return listed(files, path, detail)

    monkeypatch.setattr(SFTPFileSystem, "ls", ls)
    source = plant.source({"columns": []}, generation="")
    assert [one.stored.name for one in StoredFiles(source.context).wanted(plant.store())] == ["in/day=1/a.csv"]
    assert asked == ["in", "day=1"]


def test_a_server_that_freezes_in_the_middle_of_a_file_is_away(plant: Plant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (plant.folder / "in" / "a.csv").write_text("id\n1\n")
    monkeypatch.setattr(sftp, "_SILENT_SECONDS", 1)
    with Flow(plant.server.port) as flow:
        store = store_open(plant.settings(port=str(flow.port)), plant.limits)
        assert store.fetch("in/a.csv", tmp_path / "fetched")
        flow.freeze()
        with pytest.raises(SystemAway, match=r'reading "in/a.csv": the store does not answer'):
            store.fetch("in/a.csv", tmp_path / "fetched")
