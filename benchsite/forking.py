"""`python -m module` in a copy of this process, with what this one has loaded instead of loading it again."""

from __future__ import annotations

import ctypes
import gc
import os
import runpy
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

PR_SET_NAME = 15


def go_on_as(name: str, command: Sequence[str], environment: dict[str, str]) -> NoReturn:
    """Called after a fork by a process of one thread, when standard input and output are the program's own.

    `command` is `[python, "-m", module, argument…]`. Nothing of the caller is unwound: that is not ours to end.
    """
    code: object = 1
    try:
        release_files()
        like_a_new_process()
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = list(command[2:])
        show_as(name, " ".join(sys.argv))
        runpy.run_module(command[2], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(code)


def release_files() -> None:
    """The caller's locks and connections become files of nothing: where its objects close theirs, no other is closed.

    `subprocess` learns by that, as by the start of another program, that all went well.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in [int(file.name) for file in Path("/dev/fd").iterdir()]:
        if number > 2 and number != nothing:
            os.dup2(nothing, number, inheritable=False)


def like_a_new_process() -> None:
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    gc.enable()  # `subprocess` has paused it
    tempfile.tempdir = None  # looked up anew, in TMPDIR
    sys.stdout, sys.stderr = os.fdopen(1, "w", 1, closefd=False), os.fdopen(2, "w", 1, closefd=False)


def show_as(name: str, words: str) -> None:
    """What `top` and `ps` show of this process: the words in the room that its command line has."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode())
    start, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
    if start:
        ctypes.memmove(start, words.encode()[: end - start - 1].ljust(end - start, b"\0"), end - start)
