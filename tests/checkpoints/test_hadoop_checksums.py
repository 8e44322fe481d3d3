"""Hadoop's checksums beside files: whole files fit, whatever their length; any change of one is found."""

import struct
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkpoints.hadoop_checksums import ChecksumWrong, hadoop_check


def written(folder: Path, data: bytes, block: int) -> Path:
    sums = (zlib.crc32(data[start : start + block]) for start in range(0, len(data), block))
    (folder / ".file.crc").write_bytes(b"crc\0" + struct.pack(">I", block) + b"".join(one.to_bytes(4, "big") for one in sums))
    path = folder / "file"
    path.write_bytes(data)
    return path


@settings(max_examples=2 * settings().max_examples)
@given(data=st.binary(max_size=5000), block=st.sampled_from([1, 7, 64, 512]), place=st.integers(0, 4999), bit=st.integers(0, 7))
def test_a_file_fits_its_checksum_until_one_bit_of_it_changes(data: bytes, block: int, place: int, bit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), data, block)
        hadoop_check(path)
        if data:
            changed = bytearray(data)
            changed[place % len(data)] ^= 1 << bit
            path.write_bytes(changed)
            with pytest.raises(ChecksumWrong, match="file is not what Spark wrote"):
                hadoop_check(path)


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"x", lambda data: data + data, lambda data: b""])
def test_a_file_that_grew_or_shrank_does_not_fit(tmp_path: Path, change: object) -> None:
    assert callable(change)
    for size in (1, 511, 512, 513, 4096, 3_000_001):
        data = bytes(range(256)) * (size // 256 + 1)
        path = written(tmp_path, data[:size], 512)
        hadoop_check(path)
        path.write_bytes(change(data[:size]))
        with pytest.raises(ChecksumWrong):
            hadoop_check(path)


def test_two_blocks_that_changed_places_are_found(tmp_path: Path) -> None:
    first, second = b"a" * 512, b"b" * 512
    path = written(tmp_path, first + second, 512)
    path.write_bytes(second + first)
    with pytest.raises(ChecksumWrong):
        hadoop_check(path)


@pytest.mark.parametrize(
    "beside", [b"", b"crc\0", b"cra\0\0\0\2\0abcd", b"crc\0\0\0\2\0abc", b"crc\0\0\0\0\0abcd", b"crc\0\xff\xff\xff\xffabcd"]
)
def test_what_is_no_checksum_file_is_named(tmp_path: Path, beside: bytes) -> None:
    path = written(tmp_path, b"data", 512)
    (tmp_path / ".file.crc").write_bytes(beside)
    with pytest.raises(ChecksumWrong, match=r"\.file\.crc is not a checksum file"):
        hadoop_check(path)
