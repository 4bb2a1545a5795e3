"""Seeded damage to files: what mail, editors, copy and paste, other locales and full disks do to logs."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator

KINDS = ("cut", "cut_line", "doubled", "dropped", "swapped", "shuffled", "locale", "crlf", "gzip", "gzip_cut", "binary",
         "noise", "joined", "indented")  # fmt: skip
# Kinds that keep every figure readable: the report must be the same as of the file itself.
HARMLESS = frozenset({"crlf", "gzip"})


def mutations(data: bytes, *, seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """`count` damaged copies, each with the kind of its damage; the same seed gives the same copies."""
    random_ = random.Random(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        yield kind, _damage(kind, data, random_)


def _damage(kind: str, data: bytes, random_: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    position = random_.randrange(len(lines)) if lines else 0
    match kind:
        case "cut":
            return data[: random_.randrange(len(data) + 1)]
        case "cut_line":
            return b"".join(lines[:position])
        case "doubled":
            return b"".join([*lines[: position + 1], *lines[position:]])
        case "dropped":
            return b"".join([*lines[:position], *lines[position + 1 :]])
        case "swapped":
            other = random_.randrange(len(lines)) if lines else 0
            if lines:
                lines[position], lines[other] = lines[other], lines[position]
            return b"".join(lines)
        case "shuffled":
            random_.shuffle(lines)
            return b"".join(lines)
        case "locale":
            return re.sub(rb"(?<=\d)\.(?=\d)", b",", data)
        case "crlf":
            return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        case "gzip":
            return gzip.compress(data, mtime=0)
        case "gzip_cut":
            packed = gzip.compress(data, mtime=0)
            return packed[: random_.randrange(2, len(packed))]
        case "binary":
            at = random_.randrange(len(data) + 1)
            return data[:at] + random_.randbytes(random_.randrange(1, 64)) + data[at:]
        case "noise":
            at = random_.randrange(len(data) + 1)
            return data[:at] + bytes([random_.randrange(32, 127)]) + data[at + 1 :]
        case "joined":
            return data + data
        case _:
            return b"".join(b"  " + line for line in lines)
