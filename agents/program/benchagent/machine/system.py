"""What the operating system is asked: a program's answer, who may run and enter what, and how large files are."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

# As whom jobs run when the agent is root: most servers refuse root, none needs it. The first is made by the operator
# (`useradd --system benchagent-job`); without it jobs run as `nobody`, whom others may use too.
JOB_USERS = ("benchagent-job", "nobody")


def answer_of(argv: Sequence[str | Path], *, timeout_s: float | None, **popen: Any) -> subprocess.CompletedProcess[str]:
    """What a program of the system says, however it ends. Raises `OSError`, `subprocess.TimeoutExpired`."""
    command = [str(part) for part in argv]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=timeout_s, **popen
    )


@dataclass(frozen=True)
class ServiceUser:
    name: str
    uid: int
    gid: int

    def popen(self) -> dict[str, Any]:
        """Arguments of `subprocess.Popen`."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def service_user() -> ServiceUser | None:
    """The first of `JOB_USERS` that exists. None when the agent is not root: the server then runs as the agent's own
    user. Raises `LookupError` when there is none of them."""
    if os.geteuid() != 0:
        return None
    for name in JOB_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServiceUser(entry.pw_name, entry.pw_uid, entry.pw_gid)
    names = " or ".join(map(repr, JOB_USERS))
    raise LookupError(f"this machine has no user {names} to run the server, which must not be root")


def first_blocked(user: ServiceUser, *folders: Path) -> Path | None:
    """The first folder on the way to one of these that the user cannot enter, found out by trying as that user."""
    script = 'for d; do [ -x "$d" ] || { printf %s "$d"; exit 1; }; done'
    way = dict.fromkeys(part for folder in folders for part in (*reversed(folder.parents), folder))
    answer = answer_of(["/bin/sh", "-c", script, "sh", *way], timeout_s=10, cwd="/", **user.popen())
    return Path(answer.stdout) if answer.returncode else None


def text_of(path: Path) -> str:
    """The text of a file of the kernel; empty where it is not there, or not for us."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def bytes_on_disk(folder: Path, without: Sequence[str] = ()) -> int:
    """Blocks of all files below, but for names that match a pattern. What links lead to is not counted."""

    def is_counted(name: str) -> bool:
        return not any(fnmatchcase(name, pattern) for pattern in without)

    total = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = filter(is_counted, folders)  # which it goes into next
        for name in filter(is_counted, files):
            with suppress(OSError):  # a file that the DBMS has just removed
                status = Path(parent, name).lstat()
                total += status.st_blocks * 512 if stat.S_ISREG(status.st_mode) else 0
    return total
