"""SQL on a server of others outside of a workload, through the load generator and its driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchagent.dbms.base import JobError
from benchagent.dbms.external.connections import ServerConnection
from benchagent.dbms.external.secrets import Scrubber
from benchagent.dbms.external.side import Side
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
    side: Side
    class_path: Sequence[Path]
    toolchain: JavaToolchain
    children: Children
    folder: Path

    def login(self) -> dict[str, str]:
        return {"user": self.connection.user, "password": self.connection.password, **self.side.properties}

    def ask(self, queries: Mapping[str, str]) -> Answers:
        """Raises `JobError` when there is no connection; a query that fails has None for rows."""
        about = [] if self.side.version_query else [{"op": "product"}]
        return self._run([*about, *_asked(queries)])

    def attempt(self, statements: Sequence[str], queries: Mapping[str, str]) -> Answers:
        """Ask after statements in the agent's schema, each of which may fail: then ``errors[ATTEMPT]`` has a reason."""
        use = [statement.format(schema=self.connection.schema) for statement in self.side.use]
        inside = {"op": "execute", "phase": "use", "statements": use}
        attempt = {"op": "execute", "phase": ATTEMPT, "statements": list(statements), "optional": True}
        return self._run([*([inside] if use else []), attempt, *_asked(queries)])

    def execute(self, statements: Sequence[str]) -> Answers:
        """Raises `JobError` at the first statement that fails."""
        if not statements:
            return Answers()
        return self._run([{"op": "execute", "phase": "prepare", "statements": list(statements)}])

    def _run(self, steps: Sequence[Mapping[str, Any]]) -> Answers:
        scrub = Scrubber(self.connection)
        found = Answers()
        problem = ""
        generator = LoadGenerator(
            self.toolchain,
            self.class_path,
            heap_mb=256,
            cwd=self.folder,
            env=self.children.environment(),
            spawn=self.children.spawn,
        )
        generator.start(self._job(steps))
        try:
            for event in generator.events():
                seen = scrub.event(event)
                if seen["event"] == "error":
                    problem = str(seen["message"])
                _take(found, seen)
        finally:
            status = generator.abort(10)
        if problem or status:
            words = problem or scrub.text(generator.stderr_tail)[-500:] or "the load generator was killed"
            raise JobError(f"connection {self.connection.name}: {words}")
        return found

    def _job(self, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        opened = {"url": self.connection.url, "driver_class": self.side.driver_class, "properties": self.login()}
        return {"version": 1, "connection": opened, "steps": list(steps)}


def _asked(queries: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"op": "query", "name": name, "sql": sql, "optional": True} for name, sql in queries.items()]


def _take(found: Answers, event: Mapping[str, Any]) -> None:
    if event["event"] == "query":
        failed = "error" in event
        found.rows[event["name"]] = None if failed else event["rows"]
        if failed:
            found.errors[event["name"]] = str(event["error"])
    elif event["event"] == "product":
        found.product_version = str(event["product_version"])
    elif event["event"] == "phase" and "error" in event:
        found.errors[event["phase"]] = str(event["error"])
