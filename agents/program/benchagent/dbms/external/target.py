"""The place on a server of others in which the agent works: a schema of its own, found by a table with its id.

The table ``benchagent_owner`` has one row with an empty `made` for the schema itself, and one for each table that the
agent has made in it. What stands in no row was made by somebody else: the agent refuses to work beside it.
"""

# ruff: noqa: S608 - names were checked, values are our own
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchagent.dbms.base import JobError
from benchagent.dbms.external.guard import created_table
from benchagent.dbms.external.side import MARKER, Side

SHOWN = 5
ASK_SCHEMA, ASK_OBJECTS, ASK_OWNER = "schema", "objects", "owner"
Rows = list[list[Any]] | None


@dataclass(frozen=True)
class Target:
    """`connection` is the name by which the user knows it."""

    side: Side
    connection: str
    schema: str
    agent_id: str

    @property
    def marker(self) -> str:
        return self.side.marker.format(schema=self.schema)

    def questions(self) -> dict[str, str]:
        """What is there; the last one fails where there is no marker yet."""
        return {
            ASK_SCHEMA: self.side.schemas.format(schema=self.schema),
            ASK_OBJECTS: self.side.objects.format(schema=self.schema),
            ASK_OWNER: f"SELECT agent_id, made FROM {self.marker}",
        }

    def preparation(self, schemas: Rows, objects: Rows, owner: Rows) -> list[str]:
        """Statements that make the schema the agent's own and empty. `owner` None: there is no marker.

        Raises `JobError` where the schema holds anything that the agent has not made.
        """
        found = {str(row[0]).strip().lower() for row in objects or []}
        if owner is None:
            return self._claim(schemas, found)
        if {str(row[0]).strip() for row in owner} - {self.agent_id}:
            raise JobError(f"schema {self.schema} of connection {self.connection} belongs to another agent")
        made = {str(row[1]).strip().lower() for row in owner if row[1] and str(row[1]).strip()}
        self._refuse(found - made - {MARKER})
        return [statement for table in sorted(made) for statement in self._dropped(table, there=table in found)]

    def _claim(self, schemas: Rows, found: set[str]) -> list[str]:
        if not schemas and not self.side.create:
            raise JobError(f"connection {self.connection} has no schema {self.schema}, and the agent cannot make one")
        self._refuse(found)
        create = [] if schemas else [self.side.create.format(schema=self.schema)]
        char = self.side.dialect.varchar
        table = f"CREATE TABLE {self.marker} (agent_id {char(64)} NOT NULL, made {char(128)})"
        return [*create, table, self._note("")]

    def _refuse(self, foreign: set[str]) -> None:
        if foreign:
            shown = ", ".join(sorted(foreign)[:SHOWN]) + (", …" if len(foreign) > SHOWN else "")
            raise JobError(
                f"schema {self.schema} of connection {self.connection} holds {len(foreign)} tables or views that the "
                f"agent has not made ({shown}): give it a schema of its own"
            )

    def noted(self, statements: Sequence[str]) -> list[str]:
        """The same statements, each CREATE TABLE followed by a note that the table is the agent's."""
        result = []
        for statement in statements:
            result.append(statement)
            table = created_table(statement)
            if table:
                result.append(self._note(table.lower()))
        return result

    def _note(self, made: str) -> str:
        # Not an empty text: to Oracle that is NULL.
        value = f"'{made}'" if made else "NULL"
        return f"INSERT INTO {self.marker} (agent_id, made) VALUES ('{self.agent_id}', {value})"

    def _dropped(self, table: str, *, there: bool) -> list[str]:
        drop = [self.side.dialect.drop_table.format(table=table)] if there else []
        return [*drop, f"DELETE FROM {self.marker} WHERE made = '{table}'"]

    def clearing(self, owner: Rows, objects: Rows) -> list[str]:
        """Statements that drop what the agent has made. The marker stays."""
        return [] if owner is None else self.preparation([[1]], objects, owner)
