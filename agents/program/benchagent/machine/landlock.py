"""Landlock: a process gives up every file that is not on its list, for itself and for all that it starts.

Of Linux 5.19 or later (version 2; version 1 forbids to rename between folders, which DBMSs do), without root:
https://docs.kernel.org/userspace-api/landlock.html. It confines root as well, and there is no way back.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from benchagent.machine.launch import LIBC

LEAST_VERSION = 2

# The same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE = 444, 445
_ASK_FOR_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV, _RESOLVE_UNIX = 1 << 14, 1 << 15, 1 << 16
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV | _RESOLVE_UNIX
_READ = _EXECUTE | _READ_FILE | _READ_DIR
# How many rights each version knows.
_RIGHTS = {2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16, 8: 16, 9: 17}
# From version 4 on: which TCP ports are bound and connected to. From version 6 on: abstract sockets of, and signals to,
# processes outside.
_TCP, NETWORK_SINCE, _NET_PORT = 0b11, 4, 2
_SCOPES, _SCOPED_SINCE = 0b11, 6
# From version 9 on: sockets that are files and that a process outside listens on.
SOCKETS_SINCE = 9


def _call(number: int, *arguments: object) -> int:
    result = int(LIBC.syscall(number, *arguments)) if LIBC else -1
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result


@cache
def version() -> int:
    """Landlock's version in the running kernel; 0 where none suffices."""
    try:
        number = _call(_CREATE_RULESET, None, 0, _ASK_FOR_VERSION)
    except OSError:
        return 0
    return number if number >= LEAST_VERSION else 0


class Ruleset:
    """The list of one job: what is below `writable` may be changed, what is below `readable` read and executed.

    `ports`: of TCP, to listen on and to connect to, where the kernel can tell them apart. What is not there is left
    out. `number` is for `launch.confine`. Raises `OSError` where the kernel has no Landlock.
    """

    def __init__(self, *, readable: Iterable[Path], writable: Iterable[Path], ports: Iterable[int] = ()) -> None:
        abi = version()
        if not abi:
            raise OSError("this kernel has no Landlock that suffices (Linux 5.19 or later, CONFIG_SECURITY_LANDLOCK)")
        self._all = (1 << _RIGHTS.get(abi, max(_RIGHTS.values()))) - 1
        attributes = struct.pack("Q", self._all)
        if abi >= NETWORK_SINCE:
            attributes += struct.pack("Q", _TCP)
        if abi >= _SCOPED_SINCE:
            attributes += struct.pack("Q", _SCOPES)
        self.number = _call(_CREATE_RULESET, attributes, len(attributes), 0)
        try:
            for paths, rights in ((readable, _READ), (writable, self._all)):
                for path in paths:
                    self._allow(path, rights)
            for port in ports if abi >= NETWORK_SINCE else ():
                _call(_ADD_RULE, self.number, _NET_PORT, struct.pack("=QQ", _TCP, port), 0)
        except BaseException:
            self.close()
            raise

    def _allow(self, path: Path, rights: int) -> None:
        try:
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return
        try:
            if not stat.S_ISDIR(os.fstat(beneath).st_mode):
                rights &= _OF_FILES
            rule = struct.pack("=Qi", rights & self._all, beneath)
            _call(_ADD_RULE, self.number, _PATH_BENEATH, rule, 0)
        finally:
            os.close(beneath)

    def close(self) -> None:
        os.close(self.number)
