"""Which PostgreSQL installations there are, side by side, and which versions they are of."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchagent.dbms.discovery import version_of
from benchagent.engines import installed
from benchagent.machine.system import answer_of

SLUG = "postgresql"
Version = tuple[int, int]
# A colon-separated list of folders that replaces the usual folders.
DIRS_VARIABLE = "BENCHAGENT_POSTGRESQL_DIRS"
USUAL_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/postgresql/*/bin")
# A program, and what is wrong with it.
_version = partial(version_of, "--version", re.compile(r"\(PostgreSQL\) (\S+)"))


def numbers(version: str) -> Version:
    """ "9.6.24" is (9, 6), "15.20" is (15, 20), "18devel-1204" is (18, 0): compare with (9, 5) or (17, 0)."""
    match = re.search(r"(\d+)(?:\.(\d+))?", version)
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


@dataclass(frozen=True)
class Installation:
    """`environment`: variables that its programs need. `problem`: why it cannot be used, empty when it can."""

    version: str
    bin_dir: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    def has(self, program: str) -> bool:
        """Whether it is there and runs: slim installations leave tools out, old ones miss libraries."""
        return not _version(self.bin_dir / program, self.environment)[1]


def all_installations(engines_dir: Path | None = None) -> list[Installation]:
    """All, those that cannot be used too: the machine's own first, then those that the agent has installed."""
    listed = [_looked_at(folder, {}, "") for folder in bin_dirs()]
    for engine in installed(engines_dir, SLUG) if engines_dir else []:
        listed.append(_looked_at(engine.bin_dir, engine.environment(), engine.version))
    return listed


def installations(engines_dir: Path | None = None) -> dict[str, Installation]:
    """Those that can be used, by version; the first wins."""
    return {
        installation.version: installation
        for installation in reversed(all_installations(engines_dir))
        if not installation.problem
    }


def clients(engines_dir: Path) -> list[Installation]:
    """Where a pg_dump runs, with a server beside it or not, in the order of `all_installations`."""
    listed: list[tuple[Path, Mapping[str, str]]] = [(folder, {}) for folder in bin_dirs("pg_dump")]
    listed += [(engine.bin_dir, engine.environment()) for engine in installed(engines_dir, SLUG)]
    dumpers = [(folder, variables, *_version(folder / "pg_dump", variables)) for folder, variables in listed]
    return [
        Installation(version, folder, dict(variables)) for folder, variables, version, problem in dumpers if not problem
    ]


def bin_dirs(program: str = "postgres") -> list[Path]:
    """Folders with that program, newest version first as far as names tell."""
    folders: list[Path] = []
    if (override := os.environ.get(DIRS_VARIABLE)) is not None:
        for root in (Path(part) for part in override.split(":") if part):
            folders += [root, root / "bin", *sorted(root.glob("*/bin"), key=_by_version, reverse=True)]
    else:
        for pattern in USUAL_FOLDERS:
            folders += sorted(Path("/").glob(pattern[1:]), key=_by_version, reverse=True)
        on_path = (_pg_config_bindir(), *os.environ.get("PATH", "").split(":"))
        folders += [Path(part) for part in on_path if part]
    # os.access answers also for a folder of the search path that may not be entered.
    return list(dict.fromkeys(folder.resolve() for folder in folders if os.access(folder / program, os.X_OK)))


def _by_version(folder: Path) -> tuple[int, int]:
    return numbers(folder.parent.name)


def _pg_config_bindir() -> str | None:
    tool = shutil.which("pg_config")
    if not tool:
        return None
    try:
        answer = answer_of([tool, "--bindir"], timeout_s=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def _looked_at(bin_dir: Path, environment: Mapping[str, str], stated: str) -> Installation:
    """`stated`: the version that the record of an installed engine names, of a build with what tells it from others of
    its version; else one that does not answer is guessed.
    """
    version, problem = _version(bin_dir / "postgres", environment)
    if not problem and not os.access(bin_dir / "initdb", os.X_OK):
        problem = f"{bin_dir} has no initdb"
    guessed = re.search(r"\d+(\.\d+)*", bin_dir.parent.name)
    if stated.startswith(version):
        version = stated
    return Installation(version or (guessed[0] if guessed else "unknown"), bin_dir, dict(environment), problem)
