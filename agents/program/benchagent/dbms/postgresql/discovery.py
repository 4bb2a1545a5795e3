"""Which PostgreSQL installations there are, side by side, and as which user they can be run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from benchagent.dbms.base import EngineContext
from benchagent.dbms.embedded import java_problem
from benchagent.dbms.postgresql.cluster import SLUG
from benchagent.dbms.postgresql.version import numbers
from benchagent.engines import installed
from benchagent.machine.users import ServiceUser, first_blocked, service_user
from benchagent.protocol import EngineFacts

# A colon-separated list of folders that replaces the usual places.
DIRS_VARIABLE = "BENCHAGENT_POSTGRESQL_DIRS"
USUAL_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/postgresql/*/bin")
SERVICE_USERS = ("postgres",)
VERSION = re.compile(r"\(PostgreSQL\) (\S+)")


@dataclass(frozen=True)
class Installation:
    """`environment`: variables that its programs need. `problem`: why it cannot be used, empty when it can."""

    version: str
    bin_dir: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    def has(self, program: str) -> bool:
        """Whether it is there and runs: slim installations leave tools out, old ones miss libraries."""
        path = self.bin_dir / program
        try:
            return not _version(path, path.stat().st_mtime, tuple(self.environment.items()))[1]
        except OSError:
            return False


def found(engines_dir: Path | None = None) -> list[Installation]:
    """All, those that cannot be used too: the machine's own first, then those that the agent has installed."""
    listed = [_looked_at(folder, {}, "") for folder in bin_dirs()]
    for engine in installed(engines_dir, SLUG) if engines_dir else []:
        listed.append(_looked_at(engine.bin_dir, engine.environment(), engine.version))
    return listed


def installations(engines_dir: Path | None = None) -> dict[str, Installation]:
    """Those that can be used, by version; the first place wins."""
    usable: dict[str, Installation] = {}
    for one in found(engines_dir):
        if not one.problem:
            usable.setdefault(one.version, one)
    return usable


def clients(engines_dir: Path) -> list[Installation]:
    """Where a pg_dump runs, with a server beside it or not, in the order of `found`."""
    listed: list[tuple[Path, Mapping[str, str]]] = [(folder, {}) for folder in bin_dirs("pg_dump")]
    listed += [(engine.bin_dir, engine.environment()) for engine in installed(engines_dir, SLUG)]
    asked = [(folder, variables, *_asked(folder / "pg_dump", variables)) for folder, variables in listed]
    return [
        Installation(version, folder, dict(variables)) for folder, variables, version, problem in asked if not problem
    ]


def bin_dirs(program: str = "postgres") -> list[Path]:
    """Folders with that program, newest version first as far as names tell."""
    override = os.environ.get(DIRS_VARIABLE)
    folders = list(_named(override) if override is not None else _usual())
    # os.access answers also for a folder of the search path that may not be entered.
    return list(dict.fromkeys(folder.resolve() for folder in folders if os.access(folder / program, os.X_OK)))


def _named(override: str) -> Iterator[Path]:
    for root in (Path(part) for part in override.split(":") if part):
        yield from (root, root / "bin", *sorted(root.glob("*/bin"), key=_by_version, reverse=True))


def _usual() -> Iterator[Path]:
    for place in USUAL_PLACES:
        yield from sorted(Path("/").glob(place[1:]), key=_by_version, reverse=True)
    for part in (_pg_config_bindir(), *os.environ.get("PATH", "").split(":")):
        if part:
            yield Path(part)


def _by_version(folder: Path) -> tuple[int, int]:
    return numbers(folder.parent.name)


def _pg_config_bindir() -> str | None:
    tool = shutil.which("pg_config")
    if not tool:
        return None
    try:
        return subprocess.run([tool, "--bindir"], capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def _looked_at(bin_dir: Path, environment: Mapping[str, str], stated: str) -> Installation:
    """`stated`: the version that the record of an installed engine names."""
    version, problem = _asked(bin_dir / "postgres", environment)
    if not problem and not os.access(bin_dir / "initdb", os.X_OK):
        problem = f"{bin_dir} has no initdb"
    return Installation(version or stated or _guessed(bin_dir), bin_dir, dict(environment), problem)


def _guessed(bin_dir: Path) -> str:
    """From the name of its folder, for one that does not answer."""
    match = re.search(r"\d+(\.\d+)*", bin_dir.parent.name)
    return match.group() if match else "unknown"


def _asked(binary: Path, environment: Mapping[str, str]) -> tuple[str, str]:
    """Version, and what is wrong with it."""
    try:
        return _version(binary, binary.stat().st_mtime, tuple(environment.items()))
    except OSError as error:
        return "", f"{binary}: {error.strerror}"


@lru_cache(maxsize=64)
def _version(binary: Path, _changed: float, environment: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    variables = {**os.environ, **dict(environment)}
    try:
        answer = subprocess.run(
            [str(binary), "--version"], capture_output=True, text=True, timeout=60, check=False, env=variables
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"{binary} does not run: {error}"
    match = VERSION.search(answer.stdout)
    if match:
        return match.group(1), ""
    return "", f"{binary} does not tell its version: {(answer.stderr or answer.stdout).strip()[-300:]}"


def run_user() -> ServiceUser | None:
    """The user that runs the server. Raises `LookupError` where there is none."""
    return service_user(SERVICE_USERS)


def user_problem(jobs_dir: Path, bin_dir: Path) -> str:
    """Why no instance can be run below `jobs_dir`; empty when one can. The agent never opens a folder to make it so."""
    try:
        user = run_user()
    except LookupError as error:
        return str(error)
    if user is None:
        return ""
    probe = Path(tempfile.mkdtemp(dir=jobs_dir, prefix=".probe-"))
    try:
        os.chown(probe, user.uid, user.gid)
        blocked = first_blocked(user, probe) or first_blocked(user, bin_dir)
    except (OSError, subprocess.SubprocessError) as error:
        return f"cannot act as user {user.name!r}: {error}"
    finally:
        probe.rmdir()
    return "" if blocked is None else _blocked_words(user, blocked)


def _blocked_words(user: ServiceUser, blocked: Path) -> str:
    return (
        f"PostgreSQL has to run as user {user.name!r}, who may not enter {blocked}: "
        "start the agent with a state folder that every user can reach"
    )


def discover(context: EngineContext) -> list[EngineFacts]:
    """One entry for a version: the first that can be used, else the first."""
    chosen: dict[str, EngineFacts] = {}
    for one in found(context.engines_dir):
        known = chosen.get(one.version)
        if known is None or (not known["available"] and not one.problem):
            chosen[one.version] = _facts(one, context)
    return list(chosen.values())


def _facts(one: Installation, context: EngineContext) -> EngineFacts:
    reason = one.problem or java_problem(context.toolchain) or user_problem(context.jobs_dir, one.bin_dir)
    return {
        "dbms": SLUG,
        "version": one.version,
        "available": not reason,
        "reason": reason,
        "path": str(one.bin_dir),
    }
