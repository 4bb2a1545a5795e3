"""Libraries in a process that take the place of the system's syncs, as libeatmydata does. Linux."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

# The names that such libraries are published under. One with another name is not known here; commits that are faster
# than the disk can sync are noticed by their number (catalog/durability.py).
SWALLOWS_SYNCS = re.compile(r"eatmydata|no[-_]?f?(data)?sync|fake[-_]?f?sync", re.IGNORECASE)


def fake_sync_libraries(pids: Iterable[int]) -> list[str]:
    """In words, library by library, however it came in: LD_PRELOAD, /etc/ld.so.preload or linked.

    A process that may not be looked into says nothing.
    """
    libraries: dict[str, None] = {}
    for pid in pids:
        try:
            maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
            process = Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
        except OSError:
            continue
        for path in re.findall(r"(/\S+\.so\S*)", maps):
            if SWALLOWS_SYNCS.search(Path(path).name):
                libraries[f"{Path(path).name} in {process}"] = None
    return list(libraries)
