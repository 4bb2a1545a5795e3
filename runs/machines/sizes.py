"""Sizes as people write them. GB is 1000³ bytes, GiB 1024³: the two are never mixed."""

from __future__ import annotations

import re

_UNITS = {
    "": 1, "b": 1, "bytes": 1,
    "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4, "pb": 1000**5,
    "kib": 1024, "mib": 1024**2, "gib": 1024**3, "tib": 1024**4, "pib": 1024**5,
}  # fmt: skip
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
MAX_BYTES = 2**63 - 1


def parse_size(text: str) -> int:
    """Bytes. Raises ValueError with words for the person who typed it."""
    match = _SIZE.fullmatch(text.strip())
    factor = _UNITS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise ValueError(f"“{text}” is not a size: a number with B, KB, MB, GB, TB or KiB, MiB, GiB, TiB.")
    size_bytes = round(float(match[1]) * factor)
    if not 0 < size_bytes <= MAX_BYTES:
        raise ValueError("A size is more than 0 and less than 8 EiB.")
    return size_bytes


def size_text(size_bytes: int) -> str:
    """The shortest spelling that `parse_size` reads back as the same number."""
    for unit in ("TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB"):
        size = size_bytes / _UNITS[unit.lower()]
        if size >= 1 and round(round(size, 3) * _UNITS[unit.lower()]) == size_bytes:
            return f"{round(size, 3):g} {unit}"
    return str(size_bytes)
