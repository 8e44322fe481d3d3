"""`source.file`: formats, encodings and compressed files, as streams and at once."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from jobs.nodes.base import REJECTED, NodeError
from jobs.nodes.registry import REGISTRY
from jobs.nodes.sources.file_config import FileConfig
from tests.nodes.conftest import Build
from tests.nodes.streams import Drained

pytestmark = pytest.mark.spark

ID = [{"name": "id", "type": "long"}]
BODIES = {
    "csv": b"id\n1\n2\n",
    "json": b'{"id":1}\n{"id":2}\n',
    "xml": b"<rows><row><id>1</id></row><row><id>2</id></row></rows>",
    "text": b"1\n2\n",
}
NAMES = {
    "csv": "name\n{}\n{}\n",
    "json": '{{"name":"{}"}}\n{{"name":"{}"}}\n',
    "xml": "<rows><row><name>{}</name></row><row><name>{}</name></row></rows>",
    "text": "{}\n{}\n",
}


def zstd(content: bytes) -> bytes:
    compressed: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return compressed


PACKED: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": zstd}


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("file_format", BODIES)
@pytest.mark.parametrize("mode", ["batch", "stream"])
def test_compressed_files_are_read(
    spark: SparkSession, build: Build, root: Path, tmp_path: Path, file_format: str, packing: str, mode: str
):
    (root / "in").mkdir()
    (root / "in" / f"a.{file_format}.{packing}").write_bytes(PACKED[packing](BODIES[file_format]))
    columns = [] if file_format == "text" else ID
    built = build("source.file", {"path": "in", "format": file_format, "columns": columns}, mode=mode)
    frame = built.node.read(spark, built.context)
    frame = frame.filter(f"{REJECTED} IS NULL") if REJECTED in frame.columns else frame.selectExpr("cast(value as long) id")
    drained = Drained()
    if mode == "stream":
        drained.run(frame, tmp_path / "live")
    assert sorted(drained.everything or [row["id"] for row in frame.collect()]) == [1, 2]


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_objects_that_stand_side_by_side_in_a_line_are_told_while_a_job_is_drawn(
    spark: SparkSession, build: Build, root: Path, packing: str
):
    """Two files put together of which the first had no line break at its end: Spark would read the first object alone."""
    (root / "in").mkdir()
    content = b'{"id":1}\n\n{"id":"}{"}{"id":3}\n'
    (root / "in" / f"a.json{packing}").write_bytes(gzip.compress(content) if packing else content)
    built = build("source.file", {"path": "in", "format": "json", "columns": ID}, schema_only=True)
    with pytest.raises(NodeError, match=r"line 3 of .a.json.* holds more than one JSON object") as told:
        built.node.read(spark, built.context)
    assert told.value.field == "format"
    (root / "in" / f"a.json{packing}").unlink()
    (root / "in" / "b.json").write_bytes(b'{"id":"}{"}\n[{"id":3}]  \nno JSON\n{"id": 4')
    (root / "in" / "list.json").write_bytes(b'[\n{"id":1},\n{"id":2}\n]\n')
    (root / "in" / "indented.json").write_bytes(b'{\n  "id": 1\n}\n')
    assert built.node.read(spark, built.context).columns == ["id", REJECTED]


def test_values_over_several_lines_are_told_while_a_job_is_drawn(spark: SparkSession, build: Build, root: Path):
    """Line by line Spark would give the parts of a value as rows of their own, some of which fit the columns."""
    columns = [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]
    (root / "in").mkdir()
    (root / "in" / "a.csv").write_text('id,name\r\n1,"a ""quoted"" one"\r\n2,"two\r\nlines"\r\n3,x\r\n', newline="")

    def drawn(**config: object) -> None:
        built = build("source.file", {"path": "in", "columns": columns, **config}, schema_only=True)
        built.node.read(spark, built.context)

    with pytest.raises(NodeError, match=r"line 3 of .a.csv. begins a quoted value that ends on a later line") as told:
        drawn()
    assert told.value.field == "multi_line"
    drawn(multi_line=True)
    for harmless in ('1,5" disk\n2,3" disk\n', '1,"never closed\n2,x\n', '1,"closed" early\n2,"\n', '1,"a\n2,b\n3,c",d\n'):
        (root / "in" / "a.csv").write_text(f"id,name\n{harmless}")
        drawn()


@pytest.mark.parametrize(
    ("header", "delimiter", "names"),
    [(",a,b", ",", ["_c0", "a", "b"]), ("a\tb\t", "\\t", ["a", "b", "_c2"]), ('\ufeff"id",id,ID', ",", ["id0", "id1", "ID2"])],
)
def test_a_csv_whose_header_names_columns_by_nothing_or_alike_is_read_in_its_order(
    spark: SparkSession, build: Build, root: Path, header: str, delimiter: str, names: list[str]
):
    """As those that pandas writes with its index."""
    row = ("\t" if delimiter == "\\t" else ",").join("123")
    (root / "a.csv").write_text(f"{header}\r\n{row}\r\n", encoding="utf-8")
    for columns in ([], [{"name": name, "type": "int"} for name in ("x", "y", "z")]):
        built = build("source.file", {"path": "a.csv", "delimiter": delimiter, "columns": columns})
        frame = built.node.read(spark, built.context)
        assert frame.columns == [*(["x", "y", "z"] if columns else names), REJECTED]
        assert [tuple(row) for row in frame.collect()] == [(1, 2, 3, None)]


@pytest.mark.parametrize("packing", PACKED)
def test_a_compressed_file_that_was_cut_off_fails_and_loses_nothing_silently(spark: SparkSession, build: Build, root: Path, packing: str):
    packed = PACKED[packing]("".join(f"{number},{number * 7919}\n" for number in range(20_000)).encode())
    (root / f"a.csv.{packing}").write_bytes(packed[: len(packed) // 2])
    built = build("source.file", {"path": f"a.csv.{packing}", "header": False, "columns": [*ID, {"name": "more", "type": "long"}]})
    with pytest.raises(Py4JJavaError, match=r"Truncated source|Unexpected end of input stream"):
        built.node.read(spark, built.context).collect()


@pytest.mark.parametrize("packing", PACKED)
def test_columns_are_sampled_from_compressed_files(spark: SparkSession, build: Build, root: Path, packing: str):
    (root / f"a.csv.{packing}").write_bytes(PACKED[packing](BODIES["csv"]))
    built = build("source.file", {"path": f"a.csv.{packing}"})
    assert built.node.read(spark, built.context).dtypes[0] == ("id", "int")


WRITTEN = {
    "UTF-8": ("Zoë € “q”", "ëb"),
    "windows-1252": ("Zoë € “q”", "ëb"),
    "ISO-8859-1": ("Zoë ß", "ëb"),
    "ISO-8859-15": ("Zoë €", "ëb"),
    "windows-1251": ("Привет", "бb"),
    "windows-1250": ("Łódź €", "ěb"),
    "ISO-8859-2": ("Łódź", "ěb"),
    "UTF-16": ("Zoë € 李", "ëb"),
    "UTF-16LE": ("Zoë € 一李", "ëb"),
    "UTF-16BE": ("Zoë € 李", "ëb"),
    "GB18030": ("北京 € 㐀 李", "乙b"),
    "Big5": ("許功蓋", "乙b"),
    "Shift_JIS": ("ソフト 表", "乙b"),
    "EUC-JP": ("日本 表", "乙b"),
    "EUC-KR": ("서울", "을b"),
}
SEVERAL_BYTES = ("GB18030", "Big5", "Shift_JIS", "EUC-JP", "EUC-KR")


def test_every_encoding_is_tried():
    assert set(WRITTEN) == set(get_args(FileConfig.model_fields["encoding"].annotation))


@pytest.mark.parametrize(("encoding", "names"), WRITTEN.items())
@pytest.mark.parametrize("file_format", NAMES)
def test_characters_are_read_in_the_encoding_that_is_chosen(
    spark: SparkSession, build: Build, root: Path, file_format: str, encoding: str, names: tuple[str, str]
):
    if (encoding.startswith("UTF-16") and file_format in ("json", "text")) or (encoding in SEVERAL_BYTES and file_format == "text"):
        return
    (root / "a").write_bytes(NAMES[file_format].format(*names).encode(encoding))
    columns = [] if file_format == "text" else [{"name": "name"}]
    built = build("source.file", {"path": "a", "format": file_format, "encoding": encoding, "columns": columns})
    frame = built.node.read(spark, built.context)
    assert sorted(row[0] for row in frame.collect()) == sorted(names)
    assert REJECTED not in frame.columns or frame.filter(f"{REJECTED} IS NOT NULL").count() == 0


@pytest.mark.parametrize("file_format", ["csv", "text"])
def test_bytes_that_are_no_character_are_replaced(spark: SparkSession, build: Build, root: Path, file_format: str):
    (root / "a").write_bytes(b"a\x81b\x80\n")
    built = build(
        "source.file", {"path": "a", "format": file_format, "encoding": "windows-1252", "header": False, "columns": [{"name": "name"}]}
    )
    assert [row[0] for row in built.node.read(spark, built.context).collect()] == ["a\ufffdb€"]


@pytest.mark.parametrize(
    ("file_format", "encoding", "words"),
    [
        ("json", "UTF-16", "cannot be read line by line: write them in UTF-8"),
        ("text", "UTF-16LE", "cannot be read line by line: write them in UTF-8"),
        ("text", "GB18030", "cannot be read: write them in UTF-8, or read them as CSV"),
    ],
)
def test_lines_that_cannot_be_told_are_a_problem_on_the_encoding(file_format: str, encoding: str, words: str):
    config = {"path": "in", "format": file_format, "encoding": encoding}
    (problem,) = REGISTRY.catalogue()["source.file"].config_problems(config)
    assert (problem.code, problem.pointer) == ("config.invalid", "/encoding")
    assert problem.message == f"{file_format} files in {encoding} {words}"


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("columns", [[], [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]])
def test_files_that_hold_their_types_are_read_at_once_and_as_they_come(
    spark: SparkSession, build: Build, root: Path, tmp_path: Path, file_format: str, columns: list[Any]
):
    def dropped(first: int) -> None:
        spark.range(first, first + 2).selectExpr("id", "concat('李', id) name").write.format(file_format).mode("append").save(
            str(root / "in")
        )

    dropped(0)
    config = {"path": "in", "format": file_format, "columns": columns, "pattern": f"*.{file_format}"}
    once, watched = build("source.file", config), build("source.file", config, mode="stream", bounded=False)
    frame = once.node.read(spark, once.context)
    assert frame.dtypes == [("id", "bigint"), ("name", "string")]
    assert sorted(tuple(row) for row in frame.collect()) == [(0, "李0"), (1, "李1")]
    drained = Drained()
    drained.run(watched.node.read(spark, watched.context), tmp_path / "live")
    dropped(10)
    drained.run(watched.node.read(spark, watched.context), tmp_path / "live")
    assert sorted(drained.everything) == [0, 1, 10, 11]


@pytest.mark.parametrize("wanted", ["id", REJECTED])
def test_an_xml_row_of_another_shape_is_rejected_whichever_columns_are_asked_for(
    spark: SparkSession, build: Build, root: Path, wanted: str
):
    (root / "a.xml").write_text("<rows><row><id>1</id><n>1</n></row><row><id>2</id><n>x</n></row><row><id>3</id><n></row><row><id>4")
    columns = [{"name": "id", "type": "int"}, {"name": "n", "type": "int"}]
    built = build("source.file", {"path": "a.xml", "format": "xml", "columns": columns})
    frame = built.node.read(spark, built.context)
    assert frame.filter(f"{REJECTED} IS NULL").select(wanted).count() == 1
    assert frame.filter(f"{REJECTED} IS NOT NULL").select(wanted).count() == 3


@pytest.mark.parametrize("tag", ["<row>", "a b", "row/", ""])
def test_a_row_tag_is_the_plain_name_of_an_element(tag: str):
    (problem,) = REGISTRY.catalogue()["source.file"].config_problems({"path": "in", "format": "xml", "row_tag": tag})
    assert problem.pointer == "/row_tag"


@pytest.mark.parametrize("content", ["id,n\n1,2\n", "<rows><other><id>1</id></other></rows>", "<rows><row/><row><id>1</rows>"])
def test_a_file_without_the_element_that_is_a_row_is_told_on_the_row_tag(spark: SparkSession, build: Build, root: Path, content: str):
    (root / "a.xml").write_text(content)
    built = build("source.file", {"path": "a.xml", "format": "xml"}, schema_only=True)
    with pytest.raises(NodeError, match='no whole element <row> with content was found in "/') as caught:
        built.node.read(spark, built.context)
    assert caught.value.field == "row_tag"


def test_settings_saved_before_there_were_more_formats_are_still_valid():
    saved = {"path": "in", "format": "csv", "columns": [], "header": True, "delimiter": ",", "null_value": "", "multi_line": False}
    saved |= {"encoding": "UTF-16", "pattern": "", "max_files_per_trigger": 100}
    assert REGISTRY.catalogue()["source.file"].config_problems(saved) == []


@pytest.mark.parametrize("encoding", ["GB18030", "UTF-16LE", "UTF-16BE"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_names_of_columns_are_sampled_in_the_encoding(spark: SparkSession, build: Build, root: Path, encoding: str, mark: str):
    (root / "a.csv").write_bytes(f"{mark}编号,姓名\r\n1,李\r\n".encode(encoding))
    built = build("source.file", {"path": "a.csv", "encoding": encoding})
    frame = built.node.read(spark, built.context)
    assert frame.dtypes[:2] == [("编号", "int"), ("姓名", "string")]
    assert [tuple(row) for row in frame.collect()] == [(1, "李", None)]


@pytest.mark.parametrize(
    ("written", "chosen", "told"),
    [
        ("GB18030", "UTF-8", True),
        ("windows-1252", "UTF-8", True),
        ("UTF-16", "UTF-8", True),
        ("UTF-16LE", "UTF-8", True),
        ("UTF-16LE", "UTF-16", True),
        ("UTF-16BE", "UTF-16LE", True),
        ("UTF-8", "UTF-16", True),
        ("UTF-8", "UTF-8", False),
        ("UTF-16", "UTF-16", False),
        ("UTF-16BE", "UTF-16", False),
        ("UTF-16LE", "UTF-16LE", False),
        ("GB18030", "GB18030", False),
    ],
)
def test_bytes_that_are_none_of_the_chosen_encoding_are_told_while_a_job_is_drawn(
    spark: SparkSession, build: Build, root: Path, written: str, chosen: str, told: bool
):
    """Also where the sample ends in the middle of a character."""
    (root / "a.csv").write_bytes(("id,name\n" + "1,é\n" * 20_000 + "x").encode(written))
    built = build("source.file", {"path": "a.csv", "encoding": chosen}, schema_only=True)
    built.node.read(spark, built.context)
    cautions = built.node.cautions(built.context, [])
    words = f'"a.csv" holds bytes that are no {chosen}: choose the encoding in which it was written'
    assert [(caution.field, caution.message) for caution in cautions] == ([("encoding", words)] if told else [])
