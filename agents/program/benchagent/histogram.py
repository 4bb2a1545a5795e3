"""Counting what is in an encoded HdrHistogram (V2, compressed, base64), without the library.

Format: HdrHistogram's "V2 compressed" encoding: cookie and length, then zlib data with a 40-byte header and
ZigZag LEB128 numbers, where a negative one is a run of empty buckets.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib

COMPRESSED_COOKIE, COOKIE = 0x1C849304, 0x1C849303
COOKIE_MASK = 0xFFFFFF0F  # the word size is kept in these bits
OUTER, HEADER = struct.Struct("!ii"), struct.Struct("!iiiiqqd")


def total_count(encoded: str) -> int:
    """How many values the histogram holds. Raises `ValueError` when the text is not such a histogram."""
    try:
        raw = base64.b64decode(encoded, validate=True)
        cookie, length = OUTER.unpack_from(raw)
        inner = zlib.decompress(raw[OUTER.size : OUTER.size + length])
        inner_cookie, payload_length = HEADER.unpack_from(inner)[:2]
    except (binascii.Error, struct.error, zlib.error) as error:
        raise ValueError(f"not an encoded histogram: {error}") from error
    if cookie & COOKIE_MASK != COMPRESSED_COOKIE & COOKIE_MASK or inner_cookie & COOKIE_MASK != COOKIE & COOKIE_MASK:
        raise ValueError("not a histogram in HdrHistogram's V2 encoding")
    return sum(max(value, 0) for value in _numbers(inner[HEADER.size : HEADER.size + payload_length]))


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
