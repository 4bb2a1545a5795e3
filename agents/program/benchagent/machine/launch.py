"""Becomes the program of a child, once it has entered its limits and its sandbox and is tied to its parent.

It runs by itself, of the standard library alone, and not between fork and exec: Python code there can hang where
nobody sees it. This is a process like any other, which can be killed.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from typing import Any

_RESTRICT_SELF = 446
_SET_DEATH_SIGNAL, _DROP_CAPABILITY, _SET_NO_NEW_PRIVILEGES = 1, 24, 38
# More than there are: what is not there is refused and skipped.
_CAPABILITIES = range(64)
LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def confine(ruleset: int) -> None:
    """Put the calling process behind the rules of Landlock with this file number, for ever. Raises `OSError`.

    Root keeps its number and loses its capabilities: with one of them it reads the memory of every process.
    """
    if LIBC is not None and os.geteuid() == 0:
        for capability in _CAPABILITIES:
            LIBC.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    if LIBC is None or LIBC.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError("privileges could not be given up")
    if LIBC.syscall(_RESTRICT_SELF, ruleset, 0):
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")


def _become(plan: dict[str, Any]) -> None:
    """The death signal comes last: a change of the user takes it away."""
    for door in plan["doors"]:
        os.write(door, b"0")
    if plan["cpus"]:
        os.sched_setaffinity(0, plan["cpus"])
    if plan["extra_groups"] is not None:
        os.setgroups(plan["extra_groups"])
    if plan["group"] is not None:
        os.setregid(plan["group"], plan["group"])
    if plan["user"] is not None:
        os.setreuid(plan["user"], plan["user"])
    if plan["ruleset"] is not None:
        confine(plan["ruleset"])
    if LIBC is not None:
        LIBC.prctl(_SET_DEATH_SIGNAL, plan["death_signal"])
    if os.getppid() != plan["parent"]:  # it died before that
        sys.exit(1)
    for number in signal.valid_signals():  # what Python, nohup or a shell ignores would stay ignored
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    os.execvpe(plan["argv"][0], plan["argv"], plan["environment"])  # noqa: S606 - that is what it is for


def main(control: int) -> None:
    """Read the plan to its end and carry it out; `control` is closed by the program's begin, or told what failed."""
    with os.fdopen(os.dup(control), "rb") as file:
        plan = json.load(file)
    for number in (control, *plan["doors"], plan["ruleset"]):
        if number is not None:
            os.set_inheritable(number, False)
    try:
        _become(plan)
    except OSError as error:
        os.write(control, str(error).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]))
