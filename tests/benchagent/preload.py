"""What swallows syncs, for tests: libeatmydata, as people use it, and the kernel itself, as `systemd-nspawn
--suppress-sync` asks it to."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

NAME = "libeatmydata.so.1"


def eater() -> Path:
    library = next((path for path in Path("/usr/lib").glob(f"*/{NAME}")), None)
    if library is None:
        pytest.skip(f"no {NAME} on this machine; on Debian: apt-get install libeatmydata1")
    return library.resolve()


# fsync, fdatasync, msync, sync_file_range, syncfs by the kernel's own header of the machine; x86-64 and ARM.
NUMBERS = {"x86_64": (74, 75, 26, 277, 306), "aarch64": (82, 83, 227, 84, 267)}
# prctl(2): no more rights by exec, then a filter (seccomp(2), classic BPF) that answers those calls with 0 and does
# nothing: load the number; equal: to the last line; all others are allowed.
PROGRAM = """
import ctypes, os, struct, sys
numbers = {numbers}
load, equal, answer = 0x20, 0x15, 0x06
lines = [(load, 0, 0, 0), *((equal, len(numbers) - at, 0, number) for at, number in enumerate(numbers))]
lines += [(answer, 0, 0, 0x7FFF0000), (answer, 0, 0, 0x00050000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter, 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
"""


def without_syncs(argv: Sequence[str | Path]) -> list[str | Path]:
    """The same program and all its children, whose syncs the kernel passes over; nothing in the process shows it."""
    numbers = NUMBERS.get(platform.machine())
    if numbers is None:
        pytest.skip(f"the numbers of the kernel's calls on {platform.machine()} are not known to this test")
    return [sys.executable, "-c", PROGRAM.format(numbers=numbers), *argv]
