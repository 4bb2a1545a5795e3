"""The reader of encoded histograms against an encoder written from the format's description."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest
from benchagent.histogram import total_count


def leb128(value: int) -> bytes:
    number = (value << 1) ^ (value >> 63)
    encoded = b""
    for _ in range(8):
        if number < 0x80:
            return encoded + bytes([number])
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def encoded(counts: list[int], cookie: int = 0x1C849303 | 0x10) -> str:
    payload = b"".join(leb128(count) for count in counts)
    header = struct.pack("!iiiiqqd", cookie, len(payload), 0, 3, 1, 3_600_000_000, 1.0)
    inner = zlib.compress(header + payload)
    return base64.b64encode(struct.pack("!ii", 0x1C849304 | 0x10, len(inner)) + inner).decode()


def test_it_adds_up_the_counts_and_skips_empty_buckets():
    assert total_count(encoded([-5, 3, -1_000_000, 200, 1 << 40, -2])) == 203 + (1 << 40)


def test_it_reads_a_number_of_nine_bytes():
    assert total_count(encoded([1 << 60, 7])) == (1 << 60) + 7


def test_it_finds_nothing_in_an_empty_one():
    assert total_count(encoded([])) == 0


@pytest.mark.parametrize("text", ["", "no base64!", "AAAA", encoded([1], cookie=0x1C849301)])
def test_it_refuses_what_is_no_histogram(text: str):
    with pytest.raises(ValueError, match="histogram"):
        total_count(text)
