"""Get the files of a job out of the page cache, and see how much of them is in it.

The files themselves are asked for first (``posix_fadvise``): that does not disturb the rest of the machine. Only when
pages stay nevertheless, all of the machine's page cache is dropped, where that is permitted. What cannot be dropped
is said, never assumed. Pages that a running process has mapped stay in any case: the DBMS has to be stopped.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
# What may stay: single pages that the kernel has just read ahead or is still writing.
TOLERATED_SHARE = 0.01
TOLERATED_BYTES = 1 << 20
MEGABYTE = 1_000_000
MAP_PIECE_BYTES = 1 << 30

_LIBC = ctypes.CDLL(None, use_errno=True)


def drop_page_cache(paths: Iterable[Path]) -> str:
    """Drop the pages of these files and of all files below these folders, so that reads will go to the disk.

    Returns what was done, in words. Never raises.
    """
    roots = list(paths)
    before = resident_bytes(roots)
    total = sum(size for _, size in _files(roots))
    for path, _ in _files(roots):
        with suppress(OSError), path.open("rb") as file:
            os.fsync(file.fileno())  # only clean pages can be dropped
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    after, words = resident_bytes(roots), "the files' pages were dropped from the page cache"
    if not _is_gone(after, total):
        with suppress(OSError):
            DROP_CACHES.write_text("3")
            after, words = resident_bytes(roots), "the machine's page cache was dropped"
    if not _is_gone(after, total):
        words = "not controlled: the files' pages could not be dropped from the page cache"
    if before is not None and after is not None:
        words += f" ({before / MEGABYTE:.1f} MB were in it, {after / MEGABYTE:.1f} MB are left)"
    return words


def write_back(folder: Path) -> float:
    """Seconds until all that was written to the file system of a folder, by anybody, is on its disk.

    Raises `OSError`, also where something written before could not be stored.
    """
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    begun = time.perf_counter()
    try:
        if _LIBC.syncfs(opened):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), str(folder))
    finally:
        os.close(opened)
    return time.perf_counter() - begun


def resident_bytes(paths: Iterable[Path]) -> int | None:
    """How much of these files is in the page cache; None where the kernel does not tell."""
    try:
        return sum(_resident_in(file) for file, _ in _files(paths))
    except (OSError, ValueError):
        return None


def resident_words(paths: Iterable[Path]) -> str:
    """How much of these files is in the page cache, of how much."""
    roots = list(paths)
    resident, total = resident_bytes(roots), sum(size for _, size in _files(roots))
    if resident is None:
        return f"of {total / MEGABYTE:.1f} MB the kernel does not tell how much is in the page cache"
    return f"{resident / MEGABYTE:.1f} of {total / MEGABYTE:.1f} MB are in the page cache"


def _is_gone(resident: int | None, total: int) -> bool:
    return resident is not None and resident <= max(TOLERATED_BYTES, total * TOLERATED_SHARE)


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    """Files with their sizes; links are not followed."""
    for path in paths:
        for file in path.rglob("*") if path.is_dir() else (path,):
            with suppress(OSError):
                if file.is_file() and not file.is_symlink():
                    yield file, file.stat().st_size


def _resident_in(path: Path) -> int:
    """The bytes of a file in the page cache by mincore(2), piece by piece; 0 for a file that has just gone.

    Raises `OSError` and `ValueError` where the kernel does not tell.
    """
    resident = 0
    with suppress(FileNotFoundError), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        for at in range(0, size, MAP_PIECE_BYTES):
            resident += mmap.PAGESIZE * _resident_pages(file.fileno(), at, min(MAP_PIECE_BYTES, size - at))
    return resident


def _resident_pages(file: int, at: int, length: int) -> int:
    pages = -(-length // mmap.PAGESIZE)
    seen = (ctypes.c_ubyte * pages)()
    # A private mapping may be asked for its address, and nobody writes to it.
    with mmap.mmap(file, length, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE, offset=at) as mapped:
        start = ctypes.c_ubyte.from_buffer(mapped)
        failed = _LIBC.mincore(ctypes.c_void_p(ctypes.addressof(start)), ctypes.c_size_t(length), seen)
        del start
    if failed:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(page & 1 for page in bytes(seen))
