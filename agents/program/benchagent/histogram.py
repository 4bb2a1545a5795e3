"""Encoded HdrHistograms (V2, compressed, base64) read and written without the library.

Format: HdrHistogram's "V2 compressed" encoding: cookie and length, then zlib data with a 40-byte header and
ZigZag LEB128 numbers, where a negative one is a run of empty buckets. Which values a bucket stands for follows from
the header's significant digits and lowest value, as in HdrHistogram's own `valueFromIndex`.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

COMPRESSED_COOKIE, COOKIE = 0x1C849304, 0x1C849303
COOKIE_MASK = 0xFFFFFF0F  # the word size is kept in these bits
OUTER, HEADER = struct.Struct("!ii"), struct.Struct("!iiiiqqd")
# Five significant digits over all of 64 bits take less than that.
MAX_UNPACKED_BYTES = 16 * 1024 * 1024
MAX_DIGITS = 5
# The limits of the histograms that are written here.
HIGHEST_US, WORD_SIZE = 3_600_000_000, 0x10


@dataclass(frozen=True)
class Latencies:
    """Latencies in microseconds: `buckets` are (highest value of the bucket, count), rising, none empty."""

    encoded: str
    buckets: tuple[tuple[float, int], ...]

    @property
    def count(self) -> int:
        return sum(count for _, count in self.buckets)

    @property
    def max_us(self) -> float:
        """Raises ValueError when the histogram is empty."""
        return max(value for value, _ in self.buckets)

    def percentiles_us(self, wanted: Sequence[float]) -> list[float]:
        """The values at these percentiles (0 to 100), to the histogram's precision, as HdrHistogram counts them.

        Raises ValueError when the histogram is empty.
        """
        total = self.count
        if not total:
            raise ValueError("the histogram is empty")
        values = []
        for percentile in wanted:
            rank, seen = max(1, math.ceil(percentile / 100 * total - 1e-9)), 0
            for value, count in self.buckets:
                seen += count
                if seen >= rank:
                    values.append(value)
                    break
        return values


def merged(all_of: Iterable[Latencies]) -> Latencies:
    """Everything that was recorded in any of them: percentiles of several runs together. Its text is left out."""
    counts: Counter[float] = Counter()
    for latencies in all_of:
        for value, count in latencies.buckets:
            counts[value] += count
    return Latencies("", tuple(sorted(counts.items())))


def total_count(encoded: str) -> int:
    """How many values the histogram holds. Raises `ValueError` when the text is not such a histogram."""
    return sum(max(value, 0) for value in _numbers(_unpacked(encoded)[1]))


def decode(encoded: str, *, unit_us: float = 1.0) -> Latencies:
    """Every bucket of the histogram; `unit_us` is what one unit of its values is in microseconds.

    Raises `ValueError` when the text is not such a histogram.
    """
    (_, _, offset, digits, lowest, _, ratio), payload = _unpacked(encoded)
    if not 0 <= digits <= MAX_DIGITS or lowest < 1 or offset or ratio != 1.0:
        raise ValueError("not a histogram of whole numbers in HdrHistogram's V2 encoding")
    half_magnitude = max(math.ceil(math.log2(2 * 10**digits)), 1) - 1
    shift = lowest.bit_length() - 1
    buckets, index = [], 0
    for number in _numbers(payload):
        if number <= 0:
            index += -number or 1
            continue
        buckets.append((_highest(index, half_magnitude, shift) * unit_us, number))
        index += 1
    return Latencies(encoded, tuple(buckets))


def encode(buckets_us: Iterable[tuple[int, int]]) -> str:
    """The histogram of (microseconds up to an hour, count), with three significant digits."""
    counts: Counter[int] = Counter()
    for value_us, count in buckets_us:
        value = max(1, min(HIGHEST_US, value_us))
        # For three digits there are 2,048 sub-buckets, the lower half of which only the first bucket uses.
        bucket = (value | 2047).bit_length() - 11
        counts[(bucket << 10) + (value >> bucket)] += count
    payload, following = b"", 0
    for index, count in sorted(counts.items()):
        payload += _leb128(following - index) if index > following else b""
        payload += _leb128(count)
        following = index + 1
    inner = HEADER.pack(COOKIE | WORD_SIZE, len(payload), 0, 3, 1, HIGHEST_US, 1.0) + payload
    packed = zlib.compress(inner)
    return base64.b64encode(OUTER.pack(COMPRESSED_COOKIE | WORD_SIZE, len(packed)) + packed).decode()


def _leb128(value: int) -> bytes:
    """ZigZag LEB128 of a number below 2^55."""
    rest, encoded = value << 1 if value >= 0 else (-value << 1) - 1, bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*encoded, rest])


def _highest(index: int, half_magnitude: int, shift: int) -> int:
    """The highest value that falls into a bucket."""
    half = 1 << half_magnitude
    bucket, sub = (index >> half_magnitude) - 1, (index & (half - 1)) + half
    if bucket < 0:
        bucket, sub = 0, sub - half
    shift += bucket
    if shift + half_magnitude > 63:
        raise ValueError("not a histogram: a bucket lies beyond 64 bits")
    return (sub << shift) + (1 << shift) - 1


def _unpacked(encoded: str) -> tuple[tuple[int, int, int, int, int, int, float], bytes]:
    """The fields of the inner header, and the payload."""
    try:
        raw = base64.b64decode(encoded, validate=True)
        cookie, length = OUTER.unpack_from(raw)
        reader = zlib.decompressobj()
        inner = reader.decompress(raw[OUTER.size : OUTER.size + length], MAX_UNPACKED_BYTES)
        header = HEADER.unpack_from(inner)
    except (binascii.Error, struct.error, zlib.error, ValueError) as error:
        raise ValueError(f"not an encoded histogram: {error}") from error
    if cookie & COOKIE_MASK != COMPRESSED_COOKIE & COOKIE_MASK or header[0] & COOKIE_MASK != COOKIE & COOKIE_MASK:
        raise ValueError("not a histogram in HdrHistogram's V2 encoding")
    payload = inner[HEADER.size : HEADER.size + max(header[1], 0)]
    if not reader.eof or len(payload) != header[1]:
        raise ValueError("not a whole histogram: its data end early")
    return header, payload


def _numbers(data: bytes) -> list[int]:
    values, value, shift = [], 0, 0
    for byte in data:
        if shift == 56:  # the ninth byte carries eight bits and ends the number
            value, more = value | byte << shift, False
        else:
            value, more = value | (byte & 0x7F) << shift, bool(byte & 0x80)
        if more:
            shift += 7
            continue
        values.append((value >> 1) ^ -(value & 1))
        value, shift = 0, 0
    return values
