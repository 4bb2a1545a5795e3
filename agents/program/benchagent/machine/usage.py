"""What processes use, read straight from /proc: cheap enough for every second beside a benchmark.

A look lists the processes and reads only those that are new or that are asked for. Parents hardly ever change; now
and then everything is read again, in case they did or a number was given to another process.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

READ_ATTEMPTS = 4
READ_ALL_EVERY = 30
STAT_BYTES = 4096
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
MEMORY_FIELDS = (b"RssAnon:", b"RssFile:", b"RssShmem:")


@dataclass(frozen=True)
class Stat:
    """Parent and CPU time of a process, with that of the children it has reaped (proc(5), "stat")."""

    parent: int
    ticks: int


class ProcessTable:
    """The processes of this machine as they were at the last look."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}
        self._looks = 0

    def look(self) -> None:
        """See who came and who went."""
        present = {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208 - a tenth of the cost
        if self._looks % READ_ALL_EVERY == 0:
            self._parents.clear()
        self._looks += 1
        for gone in self._parents.keys() - present:
            del self._parents[gone]
        for pid in present - self._parents.keys():
            stat = read_stat(pid)
            if stat:
                self._parents[pid] = stat.parent

    def tree(self, roots: Sequence[int]) -> list[int]:
        """These processes, as far as they are alive, and all their descendants."""
        children: defaultdict[int, list[int]] = defaultdict(list)
        for pid, parent in self._parents.items():
            children[parent].append(pid)
        members: set[int] = set()
        left = [root for root in roots if root in self._parents]
        while left:
            pid = left.pop()
            if pid not in members:
                members.add(pid)
                left += children[pid]
        return sorted(members)

    def cpu_seconds(self, roots: Sequence[int]) -> float | None:
        """CPU used so far by a tree and the children that its members have reaped; None when all are gone.

        A child that ends moves into its parent's account, so the sum of a tree never falls; it is read again when
        somebody came or went meanwhile.
        """
        members = self.tree(roots)
        for _ in range(READ_ATTEMPTS):
            stats = [read_stat(pid) for pid in members]
            self.look()
            now = self.tree(roots)
            if now == members:
                break
            members = now
        return sum(stat.ticks for stat in stats if stat) / TICKS_PER_S if members else None

    def memory_bytes(self, roots: Sequence[int]) -> int | None:
        """Memory of a tree: private pages of each, shared ones (buffer pool, program) counted once."""
        sizes = [size for size in map(_memory_kilobytes, self.tree(roots)) if size]
        if not sizes:
            return None
        private = sum(size[0] for size in sizes)
        return (private + max(size[1] for size in sizes) + max(size[2] for size in sizes)) * 1024


def read_stat(pid: int) -> Stat | None:
    """None when it is gone."""
    text = _read(f"/proc/{pid}/stat")
    fields = text[text.rfind(b")") + 2 :].split(None, 16)
    return Stat(int(fields[1]), sum(map(int, fields[11:15]))) if len(fields) > 15 else None


def _memory_kilobytes(pid: int) -> tuple[int, int, int] | None:
    """Private, of files, shared; None for a process that is gone or has ended."""
    text = _read(f"/proc/{pid}/status")
    kilobytes = []
    for field in MEMORY_FIELDS:
        at = text.find(field)
        if at < 0:
            return None
        kilobytes.append(int(text[at + len(field) : text.index(b"kB", at)]))
    return kilobytes[0], kilobytes[1], kilobytes[2]


def _read(path: str) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, STAT_BYTES)
    except OSError:  # it has ended since
        return b""
    finally:
        os.close(file)
