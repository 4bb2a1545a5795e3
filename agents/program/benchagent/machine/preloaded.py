"""Libraries in a process that take the place of the system's syncs, as libeatmydata does. Linux, ELF of 64 bits."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

SYNCS = frozenset((b"fsync", b"fdatasync"))
# The system's own, which define what the others take the place of.
SYSTEM = re.compile(
    r"(libc|libpthread|ld|ld-linux[\w-]*|ld-musl[\w-]*|libc\.musl[\w-]*|libc-[\d.]+|libpthread-[\d.]+)\.so"
)
DYNAMIC_SYMBOLS, UNDEFINED = 11, 0


def swallowing(pids: Iterable[int], proc: Path = Path("/proc")) -> list[str]:
    """In words, library by library, however it came in: LD_PRELOAD, /etc/ld.so.preload or linked.

    A process that may not be looked into says nothing.
    """
    libraries: dict[str, None] = {}
    for pid in pids:
        try:
            maps = (proc / str(pid) / "maps").read_text(errors="replace")
            name = (proc / str(pid) / "comm").read_text(errors="replace").strip()
        except OSError:
            continue
        for path in dict.fromkeys(re.findall(r"(/\S+\.so\S*)", maps)):
            inside = proc / str(pid) / "root" / path.lstrip("/")
            if not SYSTEM.match(Path(path).name) and defines_syncs(str(inside if inside.exists() else path)):
                libraries[f"{Path(path).name} in {name}"] = None
    return list(libraries)


@lru_cache(maxsize=500)
def defines_syncs(path: str) -> bool:
    """Whether the library has an fsync or fdatasync of its own among its dynamic symbols."""
    try:
        content = Path(path).read_bytes()
        return content[:5] == b"\x7fELF\x02" and bool(SYNCS & _defined(content))
    except (OSError, struct.error, ValueError):
        return False


def _defined(content: bytes) -> frozenset[bytes]:
    """Names of the dynamic symbols that a library defines, by its section headers (System V ABI, chapter 4)."""
    (sections_at,) = struct.unpack_from("<Q", content, 0x28)
    size, count = struct.unpack_from("<HH", content, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", content, sections_at + size * index) for index in range(count)]
    names = set()
    for header in headers:
        kind, at, length, link, entry = header[1], header[4], header[5], header[6], header[9]
        if kind != DYNAMIC_SYMBOLS or not entry:
            continue
        texts = headers[link][4]
        for offset in range(at, at + length, entry):
            name, _, _, section = struct.unpack_from("<IBBH", content, offset)
            if section != UNDEFINED:
                begin = texts + name
                names.add(content[begin : content.index(b"\0", begin)])
    return frozenset(names)
