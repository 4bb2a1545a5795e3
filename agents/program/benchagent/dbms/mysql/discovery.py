"""Which installations of MySQL and MariaDB there are, side by side, and as which user they can be run."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from benchagent.dbms.base import EngineContext
from benchagent.dbms.embedded import java_problem
from benchagent.dbms.mysql.product import MARIADB, MYSQL, Product
from benchagent.engines import InstalledEngine, installed
from benchagent.machine.users import ServiceUser, first_blocked, service_user
from benchagent.protocol import EngineFacts

# Colon-separated lists of folders that replace the usual places.
DIRS_VARIABLES = {MYSQL: "BENCHAGENT_MYSQL_DIRS", MARIADB: "BENCHAGENT_MARIADB_DIRS"}
USUAL_PLACES = ("/usr", "/usr/local/mysql*", "/usr/local/mariadb*", "/opt/mysql*", "/opt/mariadb*")
FOLDERS = ("bin", "sbin", "libexec", "scripts")
SERVERS = ("mariadbd", "mysqld")
SERVICE_USERS = ("mysql",)
VERSION = re.compile(r"Ver (\d+\.\d+\.\d+)(\S*)")
# The script that makes a data directory, where the server cannot do so itself.
INSTALLERS = ("mariadb-install-db", "mysql_install_db")


@dataclass(frozen=True)
class Installation:
    """`base` is what the server calls basedir; `environment`: variables that its programs need.

    `problem`: why it cannot be used, empty when it can.
    """

    product: Product
    base: Path
    server: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    def program(self, *names: str) -> Path | None:
        """The first of these programs that it has."""
        found = (self.base / folder / name for name in names for folder in FOLDERS)
        return next((path for path in found if os.access(path, os.X_OK)), None)

    @property
    def plugins(self) -> Path | None:
        """Where they are if the whole tree lies elsewhere than it was built for."""
        found = (self.base / part for part in ("lib/mysql/plugin", "lib/plugin"))
        return next((path for path in found if path.is_dir()), None)


def found(slug: str, engines_dir: Path | None = None) -> list[Installation]:
    """All, those that cannot be used too: the machine's own first, then those that the agent has installed."""
    listed = [_looked_at(base, server, {}) for base, server in _on_the_machine(slug)]
    listed += [_of_record(engine) for engine in (installed(engines_dir, slug) if engines_dir else [])]
    return [one for one in listed if one.product.slug == slug]


def installations(slug: str, engines_dir: Path | None = None) -> dict[str, Installation]:
    """Those that can be used, by version; the first place wins."""
    usable: dict[str, Installation] = {}
    for one in found(slug, engines_dir):
        if not one.problem:
            usable.setdefault(one.product.version, one)
    return usable


def _on_the_machine(slug: str) -> Iterator[tuple[Path, Path]]:
    """basedir and server, each server once."""
    override = os.environ.get(DIRS_VARIABLES[slug])
    seen = set()
    for base in _named(override) if override is not None else _usual():
        server = _server_below(base)
        if server is not None and server.resolve() not in seen:
            seen.add(server.resolve())
            yield base, server


def _named(override: str) -> Iterator[Path]:
    for root in (Path(part) for part in override.split(":") if part):
        yield from (root, root / "usr", *sorted(root.glob("*/"), reverse=True))


def _usual() -> Iterator[Path]:
    for place in USUAL_PLACES:
        yield from sorted(Path("/").glob(place[1:]), reverse=True)
    for part in os.environ.get("PATH", "").split(":"):
        if part:
            yield Path(part).parent


def _server_below(base: Path) -> Path | None:
    found = (base / folder / name for name in SERVERS for folder in FOLDERS)
    return next((path for path in found if os.access(path, os.X_OK)), None)


def _of_record(engine: InstalledEngine) -> Installation:
    server = engine.layout("server")
    return _looked_at(server.parent.parent, server, engine.environment(), Product(engine.dbms, engine.version))


def _looked_at(base: Path, server: Path, environment: Mapping[str, str], stated: Product | None = None) -> Installation:
    """`stated`: what the record of an installed engine says."""
    try:
        product, problem = _asked(server, server.stat().st_mtime, tuple(environment.items()))
    except OSError as error:
        product, problem = None, f"{server}: {error.strerror}"
    known = product or stated or _guessed(server)
    made = Installation(known, base, server, dict(environment), problem)
    if not problem and not makes_its_data(known) and made.program(*INSTALLERS) is None:
        return Installation(known, base, server, dict(environment), f"{base} has no {INSTALLERS[-1]}")
    return made


def makes_its_data(product: Product) -> bool:
    """True where the server itself makes a data directory."""
    return product.since((5, 7), None)


@lru_cache(maxsize=64)
def _asked(server: Path, _changed: float, environment: tuple[tuple[str, str], ...]) -> tuple[Product | None, str]:
    """What it is, and what is wrong with it."""
    command = [str(server), "--no-defaults", "--version"]
    variables = {**os.environ, **dict(environment)}
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=variables)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"{server} does not run: {error}"
    match = VERSION.search(answer.stdout)
    if match is None:
        return None, f"{server} does not tell its version: {(answer.stderr or answer.stdout).strip()[-300:]}"
    return Product(MARIADB if "mariadb" in match[2].lower() else MYSQL, match[1]), ""


def _guessed(server: Path) -> Product:
    """From names, for a server that does not answer."""
    match = re.search(r"\d+(\.\d+)+", str(server))
    return Product(MARIADB if "mariadb" in str(server) else MYSQL, match.group() if match else "unknown")


def run_user() -> ServiceUser | None:
    """The user that runs the server. Raises `LookupError` where there is none."""
    return service_user(SERVICE_USERS)


def user_problem(jobs_dir: Path, server: Path) -> str:
    """Why no instance can be run below `jobs_dir`; empty when one can. The agent never opens a folder to make it so."""
    try:
        user = run_user()
        if user is None:
            return ""
        with tempfile.TemporaryDirectory(dir=jobs_dir, prefix=".probe-") as folder:
            os.chown(folder, user.uid, user.gid)
            blocked = first_blocked(user, Path(folder)) or first_blocked(user, server.parent)
    except LookupError as error:
        return str(error)
    except (OSError, subprocess.SubprocessError) as error:
        return f"cannot act as another user: {error}"
    if blocked is None:
        return ""
    return (
        f"the server is run as user {user.name!r}, who may not enter {blocked}: "
        "start the agent with a state folder that every user can reach"
    )


def discover(slug: str, context: EngineContext) -> list[EngineFacts]:
    """One entry a version: a usable installation hides a broken one of the same version."""
    offered: dict[str, EngineFacts] = {}
    java = java_problem(context.toolchain)
    for one in found(slug, context.engines_dir):
        reason = one.problem or java or user_problem(context.jobs_dir, one.server)
        facts: EngineFacts = {
            "dbms": slug,
            "version": one.product.version,
            "available": not reason,
            "reason": reason,
            "path": str(one.server.parent),
        }
        if one.product.version not in offered or (facts["available"] and not offered[one.product.version]["available"]):
            offered[one.product.version] = facts
    return list(offered.values())
