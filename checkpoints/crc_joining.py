"""Joins the CRC-32 of blocks into that of the whole. Apart, for numpy takes a while to load, and most processes check nothing."""

from __future__ import annotations

import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: A shift is doubled once for each level of joining; all blocks of an installation have one length.
_KEPT = 64

Sums = NDArray[np.uint32]


def sums_of(raw: bytes) -> Sums:
    """Sums that are written as four bytes each, the highest first."""
    return np.frombuffer(raw, ">u4").astype(np.uint32)


# The CRC of A + B is that of A, shifted by the length of B, xor that of B. A shift is linear in its 32 bits; zlib shows what it does to
# each of them when it goes on over so many zeros.


def joined(sums: Sums, length: int) -> int:
    """The CRC of blocks of `length` bytes one behind the other: neighbours are joined until one is left. 0 stands for nothing."""
    if not len(sums):
        return 0
    bits = _shift(length)
    while len(sums) > 1:
        if len(sums) % 2:
            sums = np.concatenate((np.zeros(1, np.uint32), sums))
        sums = _applied(bits, sums[0::2]) ^ sums[1::2]
        bits = _doubled(bits)
    return int(sums[0])


def shifted(crc: int, length: int) -> int:
    """What a CRC is part of, as that of something `length` bytes longer."""
    zeros = bytes(length)
    return zlib.crc32(zeros, crc) ^ zlib.crc32(zeros)


@lru_cache(_KEPT)
def _shift(length: int) -> tuple[int, ...]:
    """What a shift by so many bytes makes of each bit, the lowest first."""
    return tuple(shifted(1 << bit, length) for bit in range(32))


@lru_cache(_KEPT)
def _doubled(bits: tuple[int, ...]) -> tuple[int, ...]:
    """The shift twice as far."""
    return tuple(_applied(bits, np.array(bits, np.uint32)).tolist())


@lru_cache(_KEPT)
def _tables(bits: tuple[int, ...]) -> tuple[Sums, ...]:
    """What the shift makes of every value of each of the four bytes."""
    tables = []
    for first in range(0, 32, 8):
        table = np.zeros(1, np.uint32)
        for bit in bits[first : first + 8]:
            table = np.concatenate((table, table ^ np.uint32(bit)))
        tables.append(table)
    return tuple(tables)


def _applied(bits: tuple[int, ...], sums: Sums) -> Sums:
    first, second, third, fourth = _tables(bits)
    found: Sums = first[sums & 255] ^ second[sums >> 8 & 255] ^ third[sums >> 16 & 255] ^ fourth[sums >> 24]
    return found
