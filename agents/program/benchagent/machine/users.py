"""As which user a server runs when the agent is root: most servers refuse root, none needs it."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LAST_RESORT = "nobody"


@dataclass(frozen=True)
class ServiceUser:
    name: str
    uid: int
    gid: int

    def popen(self) -> dict[str, Any]:
        """Arguments of `subprocess.Popen`."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def service_user(preferred: Sequence[str]) -> ServiceUser | None:
    """The first of the preferred users that exists, else `nobody`. None when the agent is not root: the server then
    runs as the agent's own user. Raises `LookupError` when there is none of them."""
    if os.geteuid() != 0:
        return None
    for name in (*preferred, LAST_RESORT):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServiceUser(entry.pw_name, entry.pw_uid, entry.pw_gid)
    names = " or ".join(repr(name) for name in (*preferred, LAST_RESORT))
    raise LookupError(f"this machine has no user {names} to run the server, which must not be root")


def first_blocked(user: ServiceUser, folder: Path) -> Path | None:
    """The first folder on the way to `folder` that the user cannot enter, found out by trying as that user."""
    script = 'for d; do [ -x "$d" ] || { printf %s "$d"; exit 1; }; done'
    way = [str(part) for part in [*reversed(folder.parents), folder]]
    answer = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *way],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
        **user.popen(),
    )
    return Path(answer.stdout) if answer.returncode else None
