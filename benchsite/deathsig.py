"""Tie a child's life to its parent's (Linux; elsewhere the next start finds the leftovers by their records)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent(parent_pid: int) -> None:
    """Called in the child: SIGKILL when the parent *thread* that forked it ends, however it ends.

    The kernel forgets the signal when the process changes its user; it reaches direct children only.
    """
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # the parent ended between fork and prctl
        os._exit(1)
