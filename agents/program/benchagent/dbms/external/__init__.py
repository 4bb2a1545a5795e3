"""Servers that somebody else runs: the agent works in a schema of its own there, and touches nothing else."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from benchagent.catalog import DBMSS
from benchagent.dbms.base import JobError, ProvisionRequest
from benchagent.dbms.discovery import engine_facts
from benchagent.dbms.external.connections import Connections, ConnectionsError
from benchagent.dbms.external.instance import ExternalInstance
from benchagent.dbms.external.server import reachable
from benchagent.dbms.external.visit import CLEANING_S, Visit, visit, within
from benchagent.java import JavaToolchain
from benchagent.link import identity
from benchagent.paths import AgentDirs
from benchagent.protocol import EngineFacts

__all__ = ["Visit", "clean_after_kill", "connect", "discover", "visit"]

log = logging.getLogger(__name__)


def connect(request: ProvisionRequest, root: Path, agent_id: str, dbms: str, name: str) -> ExternalInstance:
    """An instance on a server of others; `root` is the agent's state folder. Raises `JobError`."""
    connection = Connections(root).get(name)
    if connection.dbms != dbms:
        raise JobError(f"connection {name} leads to {DBMSS[connection.dbms].name}, not to {DBMSS[dbms].name}")
    folder = request.job_dir / "driver"
    folder.mkdir(exist_ok=True)
    seen = visit(connection, agent_id, request.toolchain, request.children, folder)
    if request.version and seen.version not in ("", request.version):  # its numbers would be told of another version
        raise JobError(
            f"connection {name}: the server is {DBMSS[dbms].name} {seen.version}, the run is of {request.version}: "
            f"`benchagent connections check {name}` on the agent's machine, then schedule it anew"
        )
    dropped = seen.prepare()
    if dropped and seen.shortage():  # what was dropped has made room
        seen = visit(connection, agent_id, request.toolchain, request.children, folder)
    if short := seen.shortage():
        raise JobError(short)
    request.log(f"connection {name}: working in a schema of the agent's own; the server is not sampled")
    return ExternalInstance(request, seen)


def clean_after_kill(dirs: AgentDirs, toolchain: JavaToolchain, name: str) -> None:
    """Drop what a killed job has left on a connection. Never raises: what cannot be dropped is before its next job."""
    try:
        connection = Connections(dirs.root).get(name)
        with tempfile.TemporaryDirectory(dir=dirs.tmp) as made, within(CLEANING_S, Path(made)) as children:
            seen = visit(connection, identity.agent_id(dirs.identity), toolchain, children, Path(made))
            log.warning("connection %s: %d tables of a killed job dropped", name, seen.drop_own())
    except Exception as error:  # the server may be gone, or hold what others have made meanwhile
        log.warning("connection %s: tables of a killed job may still be there: %s", name, error)


def discover(root: Path) -> list[EngineFacts]:
    """The connections of this machine as engines of the form: name and version, nothing that leads to the server."""
    try:
        listed = Connections(root).listed()
    except ConnectionsError as error:
        raise JobError(str(error)) from error
    engines = []
    for connection in listed:
        reason = "" if reachable(connection.dbms) else "the agent cannot work on a server of others of this DBMS"
        if not reason and connection.unusable:
            reason = f"{connection.unusable}: benchagent connections check {connection.name}"
        facts = engine_facts(connection.dbms, connection.version, reason, f"connection {connection.name}")
        facts["connection"] = connection.name
        if connection.observed_by:
            facts["observed_by"] = connection.observed_by
        engines.append(facts)
    return engines
