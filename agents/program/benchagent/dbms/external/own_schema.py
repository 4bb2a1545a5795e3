"""The schema of its own in which the agent works on a server of others, found by a table with its id.

The table ``benchagent_owner`` has one row with an empty `made` for the schema itself, and one for each table or view
that the agent makes in it, written before that is made: a kill between the two leaves a note without a table, not a
table without a note. What stands in no row was made by somebody else: the agent refuses to work beside it.
"""

# ruff: noqa: S608 - names were checked, values are our own
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchagent.dbms import probes
from benchagent.dbms.base import JobError
from benchagent.dbms.external.connections import Scrubber, ServerConnection
from benchagent.dbms.external.guard import created
from benchagent.dbms.external.server import MARKER, ExternalServer
from benchagent.java import JavaToolchain, LoadGenerator
from benchagent.machine.process import Children

ATTEMPT = "attempt"


@dataclass
class Answers:
    """Rows by the name of the query, None where it failed; `errors` has the reason.

    `product_version`: in the words of the driver, where the engine has no query for it; else empty.
    """

    rows: dict[str, list[list[Any]] | None] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    product_version: str = ""


@dataclass(frozen=True)
class Asker:
    """`folder` is the working directory of the JVM."""

    connection: ServerConnection
    server: ExternalServer
    class_path: Sequence[Path]
    toolchain: JavaToolchain
    children: Children
    folder: Path

    def login(self) -> dict[str, str]:
        return {"user": self.connection.user, "password": self.connection.password, **self.server.properties}

    def ask(self, queries: Mapping[str, str]) -> Answers:
        """Raises `JobError` when there is no connection; a query that fails has None for rows."""
        about = [] if self.server.version_query else [{"op": "product"}]
        return self._run([*about, *probes.steps("", queries, optional=True)])

    def attempt(self, statements: Sequence[str], queries: Mapping[str, str]) -> Answers:
        """Ask after statements in the agent's schema, each of which may fail: then ``errors[ATTEMPT]`` has a reason."""
        use = [statement.format(schema=self.connection.schema) for statement in self.server.use]
        inside = {"op": "execute", "phase": "use", "statements": use}
        attempt = {"op": "execute", "phase": ATTEMPT, "statements": list(statements), "optional": True}
        return self._run([*([inside] if use else []), attempt, *probes.steps("", queries, optional=True)])

    def execute(self, statements: Sequence[str]) -> None:
        """Raises `JobError` at the first statement that fails."""
        if statements:
            self._run([{"op": "execute", "phase": "prepare", "statements": list(statements)}])

    def _run(self, steps: Sequence[Mapping[str, Any]]) -> Answers:
        scrub = Scrubber(self.connection)
        answers = Answers()
        problem = ""
        generator = LoadGenerator(
            self.toolchain,
            self.class_path,
            heap_mb=256,
            cwd=self.folder,
            env=self.children.environment(),
            spawn=self.children.spawn,
        )
        opened = {"url": self.connection.url, "driver_class": self.server.driver_class, "properties": self.login()}
        generator.start({"version": 1, "connection": opened, "steps": list(steps)})
        try:
            for event in generator.events():
                seen = scrub.event(event)
                match seen["event"]:
                    case "error":
                        problem = str(seen["message"])
                    case "query":
                        answers.rows[seen["name"]] = None if "error" in seen else seen["rows"]
                        if "error" in seen:
                            answers.errors[seen["name"]] = str(seen["error"])
                    case "product":
                        answers.product_version = str(seen["product_version"])
                    case "phase" if "error" in seen:
                        answers.errors[seen["phase"]] = str(seen["error"])
        finally:
            status = generator.abort(10)
        if problem or status:
            words = problem or scrub.text(generator.stderr_tail)[-500:] or "the load generator was killed"
            raise JobError(f"connection {self.connection.name}: {words}")
        return answers


SHOWN = 5
VIEW = "view:"
NOTE = re.compile(rf"(?:{VIEW})?[A-Za-z_][A-Za-z0-9_]*\Z")
ASK_SCHEMA, ASK_OBJECTS, ASK_OWNER = "schema", "objects", "owner"
Rows = list[list[Any]] | None


@dataclass(frozen=True)
class Target:
    """`connection` is the name by which the user knows it."""

    server: ExternalServer
    connection: str
    schema: str
    agent_id: str

    @property
    def marker(self) -> str:
        return f"{self.schema}.{MARKER}" if self.server.use else MARKER

    def questions(self) -> dict[str, str]:
        """What is there; the last one fails where there is no marker yet."""
        return {
            ASK_SCHEMA: self.server.schemas.format(schema=self.schema),
            ASK_OBJECTS: self.server.objects.format(schema=self.schema),
            ASK_OWNER: f"SELECT agent_id, made FROM {self.marker}",
        }

    def preparation(self, schemas: Rows, objects: Rows, owner: Rows) -> list[str]:
        """Statements that make the schema the agent's own and empty. `owner` None: there is no marker.

        Raises `JobError` where the schema holds anything that the agent has not made.
        """
        if owner is None:
            return self._claim(schemas, _names(objects))
        drops, forgotten = self.left(owner, objects)
        # A kill can have come between the table and its first row.
        return [*drops, *forgotten] if owner else [self._note("")]

    def left(self, owner: Rows, objects: Rows) -> tuple[list[str], list[str]]:
        """Statements that drop what the agent has made and is still there, the last first; and the notes to forget.

        Raises `JobError` where the schema holds anything that the agent has not made.
        """
        if {str(row[0]).strip() for row in owner or []} - {self.agent_id}:
            raise JobError(f"schema {self.schema} of connection {self.connection} belongs to another agent")
        present = _names(objects)
        notes = list(dict.fromkeys(str(row[1]).strip() for row in owner or [] if row[1] and str(row[1]).strip()))
        if wrong := [note for note in notes if not NOTE.match(note)]:
            raise JobError(f"{self.marker} of connection {self.connection} was written by somebody else: {wrong[0]!r}")
        self._refuse(present - {_name_in(note) for note in notes} - {MARKER})
        drops = [
            f"DROP VIEW {note.removeprefix(VIEW)}" if note.startswith(VIEW) else f"DROP TABLE {note}"
            for note in reversed(notes)
            if _name_in(note) in present
        ]
        return drops, [f"DELETE FROM {self.marker} WHERE made = '{note}'" for note in notes]

    def _claim(self, schemas: Rows, present: set[str]) -> list[str]:
        if not schemas and not self.server.create:
            raise JobError(f"connection {self.connection} has no schema {self.schema}, and the agent cannot make one")
        self._refuse(present)
        create = [] if schemas else [self.server.create.format(schema=self.schema)]
        char = self.server.dialect.varchar
        table = f"CREATE TABLE {self.marker} (agent_id {char(64)} NOT NULL, made {char(128)})"
        return [*create, table, self._note("")]

    def _refuse(self, foreign: set[str]) -> None:
        if foreign:
            shown = ", ".join(sorted(foreign)[:SHOWN]) + (", …" if len(foreign) > SHOWN else "")
            raise JobError(
                f"schema {self.schema} of connection {self.connection} holds {len(foreign)} objects that the "
                f"agent has not made ({shown}): give it a schema of its own"
            )

    def noted(self, statements: Sequence[str]) -> list[str]:
        """The same statements, before each that makes a table or view a note that it is the agent's."""
        result = []
        for statement in statements:
            kind, name = created(statement)
            if name:
                result.append(self._note(f"{VIEW}{name}" if kind == "VIEW" else name))
            result.append(statement)
        return result

    def _note(self, made: str) -> str:
        # Not an empty text: to Oracle that is NULL.
        value = f"'{made}'" if made else "NULL"
        return f"INSERT INTO {self.marker} (agent_id, made) VALUES ('{self.agent_id}', {value})"


def _names(objects: Rows) -> set[str]:
    return {str(row[0]).strip().lower() for row in objects or []}


def _name_in(note: str) -> str:
    return note.removeprefix(VIEW).lower()
