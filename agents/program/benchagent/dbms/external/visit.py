"""A look at a server of others, before anything is changed; what is the agent's own there is made and dropped by it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchagent.dbms.base import JobError
from benchagent.dbms.embedded import jars
from benchagent.dbms.external.connections import ServerConnection, ToolLogin, is_this_machine
from benchagent.dbms.external.own_schema import ASK_OBJECTS, ASK_OWNER, ASK_SCHEMA, ATTEMPT, Answers, Asker, Target
from benchagent.dbms.external.server import external_server
from benchagent.dbms.external.space import SPACE, Watched, is_told, told_shortage, watched
from benchagent.java import JavaToolchain
from benchagent.machine.process import Children

FOLDERS, VERSION = "folders", "version"
UNREGISTERED = "an agent that never registered has no id: start it once with `benchagent run`"
CLEANING_S = 60.0


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
            return self.drop_own() if prepared else 0
        self.asker.execute(prepared)
        return 0

    def drop_own(self, children: Children | None = None) -> int:
        """Drop the tables and views that the agent has made; how many there were. Raises `JobError`.

        What another depends on, by a foreign key or as a view, goes when that has gone. `children`: for clearing up
        after those of the job have ended.
        """
        asker, target = replace(self.asker, children=children or self.asker.children), self.target
        questions = {name: target.questions()[name] for name in (ASK_OBJECTS, ASK_OWNER)}
        answers, before, first = asker.ask(questions), None, 0
        while True:
            if ASK_OBJECTS in answers.errors:
                raise JobError(f"what is there cannot be asked: {answers.errors[ASK_OBJECTS]}")
            drops, forgotten = target.left(answers.rows.get(ASK_OWNER), answers.rows.get(ASK_OBJECTS))
            if not drops:
                asker.execute(forgotten)
                return first
            if drops == before:
                raise JobError(f"{len(drops)} tables or views cannot be dropped: {answers.errors.get(ATTEMPT)}")
            before, first = drops, first or len(drops)
            answers = asker.attempt(drops, questions)

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


@contextmanager
def within(limit_s: float, folder: Path) -> Iterator[Children]:
    """Children for clearing up, killed after so many seconds: a table may be locked, or the server silent."""
    children = Children(folder)
    timer = threading.Timer(limit_s, children.kill_all)
    timer.start()
    try:
        yield children
    finally:
        timer.cancel()
        children.kill_all()
