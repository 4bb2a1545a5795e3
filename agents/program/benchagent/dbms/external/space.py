"""Free space on a server of others: a run that would fill its disk is stopped before it does."""

from __future__ import annotations

import re
import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path

SMALLEST_SHARE = 0.10
SMALLEST_BYTES = 5_000_000_000
EACH_S = 2.0
HOST = re.compile(r"//(\[[0-9a-fA-F:]+\]|[^:/;,?]+)|@(?://)?([\w.-]+):\d|^jdbc:\w+:([\w.-]+):\d+:")


def shortage(free_bytes: float, all_bytes: float) -> str:
    """Why no run may go on with so little space; empty while there is enough."""
    if free_bytes < SMALLEST_BYTES:
        return f"{free_bytes / 1e9:.1f} GB of space are left on the server, less than {SMALLEST_BYTES / 1e9:.0f} GB"
    if all_bytes and free_bytes < SMALLEST_SHARE * all_bytes:
        return f"{100 * free_bytes / all_bytes:.1f} % of the server's space are left, less than {SMALLEST_SHARE:.0%}"
    return ""


def host_of(url: str) -> str:
    """Host in a JDBC URL; empty where none is found."""
    found = HOST.search(url)
    return (found[1] or found[2] or found[3]).strip("[]") if found else ""


def is_this_machine(url: str) -> bool:
    return any(address.startswith("127.") or address == "::1" or _bound(address) for address in addresses_of(url))


def addresses_of(url: str) -> list[str]:
    """Of the host in a JDBC URL, as drivers name them beside it; empty where it has none or cannot be found."""
    host = host_of(url)
    try:
        return sorted({str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}) if host else []
    except OSError:
        return []


def _bound(address: str) -> bool:
    """Whether the address is one of this machine's: only then can a socket be bound to it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


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
