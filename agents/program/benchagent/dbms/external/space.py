"""Free space on a server of others: a run that would fill its disk is stopped before it does."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

SMALLEST_SHARE = 0.10
SMALLEST_BYTES = 5_000_000_000
EACH_S = 2.0


def shortage(free_bytes: float, all_bytes: float) -> str:
    """Why no run may go on with so little space; empty while there is enough."""
    if free_bytes < SMALLEST_BYTES:
        return f"{free_bytes / 1e9:.1f} GB of space are left on the server, less than {SMALLEST_BYTES / 1e9:.0f} GB"
    if all_bytes and free_bytes < SMALLEST_SHARE * all_bytes:
        return f"{100 * free_bytes / all_bytes:.1f} % of the server's space are left, less than {SMALLEST_SHARE:.0%}"
    return ""


class Watch:
    """Looks at the file system of a folder until it is stopped; calls `low` once."""

    def __init__(self, folder: Path, low: Callable[[str], None]) -> None:
        self._folder = folder
        self._low = low
        self._done = threading.Event()
        threading.Thread(target=self._look, name="free-space", daemon=True).start()

    def stop(self) -> None:
        self._done.set()

    def _look(self) -> None:
        while not self._done.wait(EACH_S):
            words = folder_shortage(self._folder)
            if words:
                self._low(words)
                return


def folder_shortage(folder: Path) -> str:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:  # not this machine after all, or not for our eyes
        return ""
    return shortage(usage.free, usage.total)
