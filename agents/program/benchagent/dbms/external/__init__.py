"""Servers that somebody else runs: the agent works in a schema of its own there, and touches nothing else."""

from __future__ import annotations

import logging
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchagent.catalog import DBMSS
from benchagent.dbms.base import JobError, ProvisionRequest
from benchagent.dbms.discovery import engine_facts
from benchagent.dbms.embedded import jars
from benchagent.dbms.external.connections import (
    UNKNOWN_VERSION,
    Connections,
    ConnectionsError,
    ServerConnection,
    ToolLogin,
    is_this_machine,
)
from benchagent.dbms.external.instance import CLEANING_S, ExternalInstance, drop_own, within
from benchagent.dbms.external.own_schema import ASK_OBJECTS, ASK_OWNER, ASK_SCHEMA, Answers, Asker, Target
from benchagent.dbms.external.server import external_server, reachable
from benchagent.dbms.external.space import SPACE, Watched, is_told, told_shortage, watched
from benchagent.java import JavaToolchain
from benchagent.link import identity
from benchagent.machine.process import Children
from benchagent.paths import AgentDirs
from benchagent.protocol import EngineFacts

__all__ = ["Visit", "clean_after_kill", "connect", "discover", "drop_own", "visit"]

log = logging.getLogger(__name__)

FOLDERS, VERSION = "folders", "version"
UNREGISTERED = "an agent that never registered has no id: start it once with `benchagent run`"


@dataclass(frozen=True)
class Visit:
    """What was found on a server, before anything was changed."""

    asker: Asker
    target: Target
    answers: Answers

    @property
    def version(self) -> str:
        rows = self.answers.rows.get(VERSION)
        match = re.search(r"\d+(?:\.\d+)+", str(rows[0][0]) if rows else self.answers.product_version)
        return match[0] if match else ""

    @property
    def watched(self) -> Watched:
        """The server's folders, where it does not tell free space itself and is this machine."""
        if self.space_query:
            return Watched()
        folders = self.asker.server.read_folders(self.answers.rows.get(FOLDERS) or ())
        connection = self.asker.connection
        return watched(folders, here=is_this_machine(connection.url) and not connection.elsewhere)

    def preparation(self) -> list[str]:
        """Statements that make the schema ready. Raises `JobError` where it is not the agent's to use."""
        rows = self.answers.rows
        prepared = self.target.preparation(rows.get(ASK_SCHEMA), rows.get(ASK_OBJECTS), rows.get(ASK_OWNER))
        schema_there = bool(rows.get(ASK_SCHEMA))
        use = [statement.format(schema=self.target.schema) for statement in self.asker.server.use]
        return [*use, *prepared] if schema_there and prepared else prepared

    def prepare(self) -> int:
        """Make the schema the agent's own and empty; how many tables and views were dropped. Raises `JobError`."""
        prepared = self.preparation()
        if self.answers.rows.get(ASK_OWNER):
            return drop_own(self.asker, self.target) if prepared else 0
        self.asker.execute(prepared)
        return 0

    def tool_login(self, engines_dir: Path, folder: Path) -> ToolLogin:
        """What tools need; `folder` for their logins."""
        connection = self.asker.connection
        return ToolLogin(connection, self.version or connection.version, engines_dir, folder)

    @property
    def asked(self) -> list[str]:
        return list(_questions(self.target).values())

    @property
    def space_query(self) -> str:
        """Empty where the engine has none, or did not answer it."""
        return self.asker.server.free_space if is_told(self.answers.rows.get(SPACE)) else ""

    def shortage(self) -> str:
        return told_shortage(self.answers.rows.get(SPACE) or ()) or self.watched.shortage()


def visit(
    connection: ServerConnection, agent_id: str, toolchain: JavaToolchain, children: Children, folder: Path
) -> Visit:
    """Look at a server, changing nothing. Raises `JobError`."""
    if not agent_id:
        raise JobError(UNREGISTERED)
    server = external_server(connection.dbms, connection.version, connection.schema)
    class_path = jars(toolchain, connection.dbms, server.driver, driver=bool(server.driver))
    asker = Asker(connection, server, class_path, toolchain, children, folder)
    target = Target(server, connection.name, connection.schema, agent_id)
    answers = asker.ask(_questions(target))
    for name in (ASK_SCHEMA, ASK_OBJECTS):
        if name in answers.errors:
            raise JobError(f"connection {connection.name}: what is there cannot be asked: {answers.errors[name]}")
    return Visit(asker, target, answers)


def _questions(target: Target) -> dict[str, str]:
    server = target.server
    questions = {**target.questions(), VERSION: server.version_query, SPACE: server.free_space, FOLDERS: server.folders}
    return {name: sql for name, sql in questions.items() if sql}


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
    tool_login = seen.tool_login(request.engines_dir, request.job_dir / "login")
    return ExternalInstance(
        request, seen.asker, seen.target, tool_login, watched=seen.watched, space_query=seen.space_query
    )


def clean_after_kill(dirs: AgentDirs, toolchain: JavaToolchain, name: str) -> None:
    """Drop what a killed job has left on a connection. Never raises: what cannot be dropped is before its next job."""
    try:
        connection = Connections(dirs.root).get(name)
        with tempfile.TemporaryDirectory(dir=dirs.tmp) as made, within(CLEANING_S, Path(made)) as children:
            seen = visit(connection, identity.agent_id(dirs.identity), toolchain, children, Path(made))
            log.warning("connection %s: %d tables of a killed job dropped", name, drop_own(seen.asker, seen.target))
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
        if not reason and connection.version == UNKNOWN_VERSION:
            reason = f"not checked yet: benchagent connections check {connection.name}"
        facts = engine_facts(connection.dbms, connection.version, reason, f"connection {connection.name}")
        facts["connection"] = connection.name
        if connection.observed_by:
            facts["observed_by"] = connection.observed_by
        engines.append(facts)
    return engines
