"""What is seen of files before Spark reads them: also of those that Python does not open, or that are damaged."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from jobs.nodes.sources.file_config import FileConfig
from jobs.nodes.sources.file_rows import header_options
from jobs.nodes.sources.file_sample import file_in_another_encoding, require_a_row_a_line


def damaged(content: bytes) -> bytes:
    packed = bytearray(gzip.compress(content))
    packed[len(packed) // 2] ^= 0xFF
    return bytes(packed)


def zst(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(content)
    return bytes(sink.getvalue())


ROWS = b"id,name\n" + b"".join(b"%d,name %d\n" % (number, number * 7919 % 1000) for number in range(2000))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *[pytest.param("a.csv.zst", zst(ROWS + b"%d,x\n" % number), id=f"zst {number}") for number in range(20)],
        pytest.param("a.csv.gz", damaged(ROWS), id="damaged gz"),
        pytest.param("a.csv", ROWS.replace(b"\n", b"\r"), id="carriage returns"),
        pytest.param("a.csv", b"id,name\n1," + b"x" * 200_000, id="a value longer than Python's csv takes"),
    ],
)
def test_a_file_is_left_to_spark_whatever_its_beginning(tmp_path: Path, name: str, content: bytes):
    (tmp_path / name).write_bytes(content)
    config = FileConfig.model_validate({"path": "a", "format": "csv", "header": True})
    require_a_row_a_line(tmp_path, config)
    assert header_options(tmp_path, config) == {}
    assert file_in_another_encoding(tmp_path, config) == ""


def test_columns_called_alike_are_seen_before_a_carriage_return(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes(b"id,ID\r1,2\r")
    config = FileConfig.model_validate({"path": "a", "format": "csv", "header": True})
    assert header_options(tmp_path, config) == {"enforceSchema": "true"}
