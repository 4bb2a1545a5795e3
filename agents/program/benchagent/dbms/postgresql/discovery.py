"""Which PostgreSQL installations there are, and as which user they can be run."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchagent.dbms.base import EngineContext
from benchagent.dbms.embedded import java_problem
from benchagent.protocol import EngineFacts

# A colon-separated list of folders that replaces the usual places.
DIRS_VARIABLE = "BENCHAGENT_POSTGRESQL_DIRS"
USUAL_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/postgresql/*/bin")
TOOLS = ("initdb", "postgres")
SERVICE_USER = "postgres"
VERSION = re.compile(r"\(PostgreSQL\) (\S+)")


@dataclass(frozen=True)
class ServiceUser:
    """The user that runs the server when the agent is root, which PostgreSQL refuses."""

    name: str
    uid: int
    gid: int

    def popen(self) -> dict[str, Any]:
        """Arguments of `subprocess.Popen`."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def service_user() -> ServiceUser | None:
    """None when the agent is not root: the server then runs as the agent's own user. Raises `LookupError`."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(SERVICE_USER)
    except KeyError:
        raise LookupError(
            f"PostgreSQL refuses to run as root, and this machine has no user {SERVICE_USER!r} to run it"
        ) from None
    return ServiceUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def bin_dirs() -> list[Path]:
    """Folders with `initdb` and `postgres`, newest version first as far as names tell."""
    override = os.environ.get(DIRS_VARIABLE)
    if override is not None:
        roots = [Path(part) for part in override.split(":") if part]
        found = [folder for root in roots for folder in (root, root / "bin", *sorted(root.glob("*/bin"), reverse=True))]
    else:
        found = [folder for place in USUAL_PLACES for folder in sorted(Path("/").glob(place[1:]), reverse=True)]
        found += [Path(part) for part in (_pg_config_bindir(), *os.environ.get("PATH", "").split(":")) if part]
    # os.access answers also for a folder of the search path that may not be entered.
    usable = [folder.resolve() for folder in found if all(os.access(folder / tool, os.X_OK) for tool in TOOLS)]
    return list(dict.fromkeys(usable))


def _pg_config_bindir() -> str | None:
    tool = shutil.which("pg_config")
    if not tool:
        return None
    try:
        return subprocess.run([tool, "--bindir"], capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def version_of(folder: Path) -> str | None:
    binary = folder / "postgres"
    try:
        return _version(binary, binary.stat().st_mtime)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _version(binary: Path, _changed: float) -> str | None:
    try:
        answer = subprocess.run([str(binary), "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = VERSION.search(answer.stdout)
    return found.group(1) if found else None


def installations() -> dict[str, Path]:
    """Folder of the binaries by version; the first place wins."""
    found: dict[str, Path] = {}
    for folder in bin_dirs():
        version = version_of(folder)
        if version:
            found.setdefault(version, folder)
    return found


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


def user_problem(jobs_dir: Path) -> str:
    """Why no instance can be run below `jobs_dir`; empty when one can. The agent never opens a folder to make it so."""
    try:
        user = service_user()
    except LookupError as error:
        return str(error)
    if user is None:
        return ""
    probe = Path(tempfile.mkdtemp(dir=jobs_dir, prefix=".probe-"))
    try:
        os.chown(probe, user.uid, user.gid)
        blocked = first_blocked(user, probe)
    except (OSError, subprocess.SubprocessError) as error:
        return f"cannot act as user {user.name!r}: {error}"
    finally:
        probe.rmdir()
    if blocked is None:
        return ""
    return (
        f"PostgreSQL has to run as user {user.name!r}, who may not enter {blocked}: "
        "start the agent with a state folder that every user can reach"
    )


def discover(context: EngineContext) -> list[EngineFacts]:
    found = installations()
    reason = (java_problem(context.toolchain) or user_problem(context.jobs_dir)) if found else ""
    return [
        {"dbms": "postgresql", "version": version, "available": not reason, "reason": reason, "path": str(folder)}
        for version, folder in found.items()
    ]
