"""sysbench's histogram as an HdrHistogram (V2, compressed, base64; microseconds, three digits).

sysbench prints the middle of each of its buckets (about 1.8 % wide) with its count; HdrHistogram keeps each of these
values to 0.1 %, so nothing is lost but what sysbench itself rounded.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Sequence

from benchagent.histogram import COMPRESSED_COOKIE, COOKIE, HEADER, OUTER

DIGITS = 3
HIGHEST_US = 3_600_000_000
# For three digits HdrHistogram has 2,048 sub-buckets, the lower half of which only the first bucket uses.
_HALF_BITS = 10
_HALF = 1 << _HALF_BITS
_WORD_SIZE = 0x10


def encoded(buckets_ms: Sequence[tuple[float, int]]) -> str:
    counts: dict[int, int] = {}
    for value_ms, count in buckets_ms:
        index = _index(max(1, min(HIGHEST_US, round(value_ms * 1000))))
        counts[index] = counts.get(index, 0) + count
    payload = b"".join(_numbers(counts))
    inner = HEADER.pack(COOKIE | _WORD_SIZE, len(payload), 0, DIGITS, 1, HIGHEST_US, 1.0) + payload
    packed = zlib.compress(inner)
    return base64.b64encode(OUTER.pack(COMPRESSED_COOKIE | _WORD_SIZE, len(packed)) + packed).decode()


def _index(value_us: int) -> int:
    bucket = (value_us | (2 * _HALF - 1)).bit_length() - (_HALF_BITS + 1)
    return ((bucket + 1) << _HALF_BITS) + (value_us >> bucket) - _HALF


def _numbers(counts: dict[int, int]) -> Iterator[bytes]:
    """The counts in order; a run of empty indexes is one negative number."""
    following = 0
    for index in sorted(counts):
        if index > following:
            yield _leb128(following - index)
        yield _leb128(counts[index])
        following = index + 1


def _leb128(value: int) -> bytes:
    """ZigZag LEB128, as HdrHistogram writes it; the counts here stay below 2^55."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    encoded_ = bytearray()
    while rest > 0x7F:
        encoded_.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded_.append(rest)
    return bytes(encoded_)
