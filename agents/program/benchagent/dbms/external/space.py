"""Free space on a server of others: a run that would fill its disk is stopped before it does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchagent.machine.sampling import repeated

SMALLEST_SHARE = 0.10
SMALLEST_BYTES = 5_000_000_000
EACH_S = 2.0
SPACE = "space"
NOT_WATCHED = "free space not watched: the server does not tell it to this login, so a run could fill its disk"
FAR = "free space not watched: the server is not on this machine and does not tell it, so a run could fill its disk"
NOT_HERE = (
    "free space not watched: the server's folder of data ({name}) is not to be found on this machine, as that of a "
    "container, so a run could fill its disk"
)
# Instead of a path: there is no folder, and no disk to fill.
IN_MEMORY = "(memory)"
PARTLY = "free space not watched of {names}: not told, or not to be found on this machine, so a run could fill its disk"


def shortage(free_bytes: float, all_bytes: float, storage: str = "", *, of_data: bool = True) -> str:
    """Why no run may go on with so little space; empty while there is enough.

    `of_data`: what has no data, as a small file system for temporary files, needs a share only.
    """
    where = f" ({storage})" if storage else ""
    if of_data and free_bytes < SMALLEST_BYTES:
        few = f"{free_bytes / 1e9:.1f} GB of space are left on the server{where}"
        return f"{few}, less than {SMALLEST_BYTES / 1e9:.0f} GB"
    if all_bytes and free_bytes < SMALLEST_SHARE * all_bytes:
        few = f"{100 * free_bytes / all_bytes:.1f} % of the server's space are left{where}"
        return f"{few}, less than {SMALLEST_SHARE:.0%}"
    return ""


def told_shortage(rows: Sequence[Sequence[Any]]) -> str:
    """The same of free and all bytes of each storage that a server tells of; the first with too little counts."""
    return next((words for free, total in _amounts(rows) if (words := shortage(free, total))), "")


def is_told(rows: Sequence[Sequence[Any]] | None) -> bool:
    return bool(_amounts(rows or ()))


def _amounts(rows: Sequence[Sequence[Any]]) -> list[tuple[float, float]]:
    return [(float(free), float(total)) for free, total in rows if free is not None and total is not None]


@dataclass(frozen=True)
class Watched:
    """Folders of a server on this machine with their names, that of the data first.

    `unwatched`: what a run says of the rest; empty where all is watched.
    """

    folders: Mapping[Path, str] = field(default_factory=dict)
    unwatched: str = ""

    def shortage(self) -> str:
        data = next(iter(self.folders), None)
        for folder, name in self.folders.items():
            with suppress(OSError):  # not this machine after all, or not for our eyes
                usage = shutil.disk_usage(folder)
                if words := shortage(usage.free, usage.total, name, of_data=folder == data):
                    return words
        return ""


def watched(listed: Sequence[tuple[str, str]], *, here: bool) -> Watched:
    """What is told of the server's folders: names, and paths that may be relative to the first; empty if not told.

    Where the first is not on this machine, none is: another of the same name would be somebody else's.
    """
    if listed and listed[0][1] == IN_MEMORY:
        return Watched()
    if not here or not listed or not listed[0][1]:
        return Watched(unwatched=NOT_WATCHED if here or not listed else FAR)
    first = Path(listed[0][1])
    if not (first.is_absolute() and _is_here(first)):
        return Watched(unwatched=NOT_HERE.format(name=listed[0][0]))
    folders: dict[Path, str] = {}
    for name, path in listed:
        if path and _is_here(first / path):
            folders.setdefault(first / path, name)
    missed = dict.fromkeys(name for name, path in listed if not path or first / path not in folders)
    return Watched(folders, PARTLY.format(names=", ".join(missed)) if missed else "")


def _is_here(folder: Path) -> bool:
    """Nor is it where no look at it is allowed."""
    try:
        return folder.is_dir()
    except OSError:
        return False


def watching(watched: Watched, low: Callable[[str], None]) -> AbstractContextManager[None]:
    """Look at the file systems of its folders in the block; `low` is called at each look while there is too little."""

    def look() -> None:
        if words := watched.shortage():
            low(words)

    return repeated(look, every_s=EACH_S)
