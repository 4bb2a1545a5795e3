"""Installed servers: what their programs say of their version, and whether the user that runs them can get to them."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from benchagent.dbms.base import EngineContext
from benchagent.java import JavaToolchain
from benchagent.machine.system import answer_of, first_blocked, service_user
from benchagent.protocol import EngineFacts


def engine_facts(dbms: str, version: str, reason: str, path: Path | str) -> EngineFacts:
    """`reason`: why it cannot be used; empty when it can."""
    return {"dbms": dbms, "version": version, "available": not reason, "reason": reason, "path": str(path)}


def java_problem(toolchain: JavaToolchain) -> str:
    """Empty when a Java runtime is there."""
    try:
        toolchain.java()
    except Exception as error:  # whatever it is, the form shows it as the reason
        return f"no Java runtime: {error}"
    return ""


def servers(
    dbms: str, context: EngineContext, runs_as: str, listed: Iterable[tuple[str, str, Path]]
) -> list[EngineFacts]:
    """One of each version: the first that can be used, else the first.

    `listed`: version, why it cannot be used, where its programs are. `runs_as`: see `user_problem`.
    """
    java = java_problem(context.toolchain)
    chosen: dict[str, EngineFacts] = {}
    for version, problem, path in listed:
        reason = problem or java or user_problem(runs_as, context.jobs_dir, path)
        other = chosen.get(version)
        if other is None or not (reason or other["available"]):
            chosen[version] = engine_facts(dbms, version, reason, path)
    return list(chosen.values())


def version_of(option: str, pattern: re.Pattern[str], program: Path, environment: Mapping[str, str]) -> tuple[str, str]:
    """The version by what a program says of itself, empty if it does not, and what is wrong; asked anew if it changes.

    The first group of `pattern` is the version.
    """
    try:
        return _asked(program, program.stat().st_mtime, option, pattern, tuple(environment.items()))
    except OSError as error:
        return "", f"{program}: {error.strerror}"


@lru_cache(maxsize=64)
def _asked(
    program: Path, _changed: float, option: str, pattern: re.Pattern[str], environment: tuple[tuple[str, str], ...]
) -> tuple[str, str]:
    try:
        answer = answer_of([program, *option.split()], timeout_s=60, env={**os.environ, **dict(environment)})
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"{program} does not run: {error}"
    if match := pattern.search(answer.stdout + answer.stderr):
        return match[1], ""
    return "", f"{program} does not tell its version: {(answer.stderr or answer.stdout).strip()[-300:]}"


def user_problem(runs_as: str, jobs_dir: Path, *folders: Path) -> str:
    """Why no instance can be run below `jobs_dir`; empty when one can. The agent never opens a folder to make it so.

    `runs_as`: begin of the words, as "PostgreSQL has to run as".
    """
    try:
        user = service_user()
    except LookupError as error:
        return str(error)
    if user is None:
        return ""
    try:
        with tempfile.TemporaryDirectory(dir=jobs_dir, prefix=".probe-") as probe:
            os.chown(probe, user.uid, user.gid)
            blocked = first_blocked(user, Path(probe), *folders)
    except (OSError, subprocess.SubprocessError) as error:
        return f"cannot act as user {user.name!r}: {error}"
    if blocked is None:
        return ""
    return (
        f"{runs_as} user {user.name!r}, who may not enter {blocked}: "
        "start the agent with a state folder that every user can reach"
    )
