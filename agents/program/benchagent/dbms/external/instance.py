"""A server of others as a job sees it: nothing is set, started or stopped; a schema of the agent's own is worked in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from benchagent.catalog import Durability
from benchagent.configfiles.meaning import of_effective
from benchagent.configfiles.settings import Facts
from benchagent.dbms import probes
from benchagent.dbms.backup import BackupMethod
from benchagent.dbms.base import Connection, Instance, JobError, ProvisionRequest, Settings
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.embedded import STORAGE, buffer_in_force
from benchagent.dbms.external.connections import Scrubber, is_this_machine
from benchagent.dbms.external.guard import check, follow, statements
from benchagent.dbms.external.own_schema import Target
from benchagent.dbms.external.server import ExternalServer
from benchagent.dbms.external.space import NOT_WATCHED, SPACE, told_shortage, watching
from benchagent.dbms.external.visit import CLEANING_S, Visit, within
from benchagent.dbms.probes import Step

NOT_OURS = "the agent does not stop or start a server of others"
ELSEWHERE = "the data are on a server of others, of whose disks nothing is known; the backup is on the agent's machine"
SHOWN_ONLY = (
    "{label} is of a whole database, on the server's own machine: no job runs it, `benchagent connections check {name} "
    "--workload backup --dry-run` shows it"
)
PLANNED = "SELECT 1"
# Queries that the agent itself puts around a run.
OF_THE_AGENT = (probes.EFFECTIVE, probes.MAINTENANCE, probes.SCHEMA)


class ExternalInstance(Instance):
    no_restart, elsewhere = NOT_OURS, ELSEWHERE

    def __init__(self, request: ProvisionRequest, seen: Visit) -> None:
        asker, target, watched = seen.asker, seen.target, seen.watched
        server, connection = asker.server, asker.connection
        super().__init__(
            connection=Connection(connection.url, server.driver_class, asker.login()),
            class_path=asker.class_path,
            data_path=request.folders.data,
            generator_dir=asker.folder,
        )
        self._request, self._visit = request, seen
        self._tool_login = seen.tool_login(request.engines_dir, request.job_dir / "login")
        self._scrubber = Scrubber(connection)
        if connection.elsewhere or not is_this_machine(connection.url):
            self.transport = "TCP, another machine"
        # A checkpoint would be one of the whole server.
        self.dialect = replace(server.dialect, after_load=())
        self.retryable, self.tolerable = server.retryable, server.tolerable
        self.engine_counters, self.effective_queries = server.engine_counters, server.effective_queries
        self.session_sql = [statement.format(schema=target.schema) for statement in server.use]
        self.ignored_settings = [f"{name}: nothing is set on a server of others" for name, _ in request.settings]
        self._guard = Guard(server)
        self._space_query = seen.space_query
        self._effective: Settings = ()
        self._watching = ExitStack()
        if watched.folders:
            self._watching.enter_context(watching(watched, self._low))
        self.warnings = [watched.unwatched] if watched.unwatched else []

    # What goes out and what comes in

    def adapted(self, steps: Sequence[Step]) -> list[Step]:
        """Only what works on the agent's own, tables noted before they are made, free space looked at."""
        result = []
        for step in steps:
            self._guard.admit(step)
            result += outgoing(step, self._visit.target, self._space_query)
        return result

    def seen(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """The event without secrets. What it tells about space is acted on, and is no part of what is measured."""
        if event["event"] in ("sampled", "query") and event.get("name") == SPACE:
            if words := told_shortage(event.get("rows") or ()):
                self._low(words)
            if "error" in event:
                self.warnings = [NOT_WATCHED]
                self._request.log(f"{NOT_WATCHED} ({self._scrubber.text(str(event['error']))})")
            return {"event": SPACE}
        return self._scrubber.event(event)

    def redacted(self, text: str) -> str:
        return self._scrubber.text(text)

    def _low(self, words: str) -> None:
        self._request.abort.request("failed", f"stopped: {words}")

    # What is told

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        in_force = [(name, self._scrubber.text(value)) for name, value in self._visit.asker.server.in_force(rows)]
        self._effective = in_force
        return in_force

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability | None, str]:
        server = self._visit.asker.server
        return of_effective(server.dbms, effective, Facts(complete=server.settings_complete))

    def buffer_bytes(self) -> int | None:
        server = self._visit.asker.server
        is_memory = dict(self._effective).get(STORAGE) == "memory"
        if is_memory or not server.buffer_is_set:
            return None
        return buffer_in_force(server.dbms, self._effective, complete=server.settings_complete)

    def size_bytes(self) -> int:
        """Not known: the files are not the agent's to look at."""
        return 0

    def backup_methods(self) -> Sequence[BackupMethod]:
        """Raises `JobError` where none keeps to the agent's schema, or this machine has no tool for it."""
        server = self._visit.asker.server
        if server.shown_backups:
            label, name = server.shown_backups[0].label, self._tool_login.connection.name
            raise JobError(SHOWN_ONLY.format(label=label, name=name))
        return server.backups(self._tool_login)

    # Life

    def shut_down(self) -> None:
        raise JobError(NOT_OURS)

    restart = shut_down

    def stop(self) -> None:
        """Drop what the agent has made. What cannot be dropped now is so before the next job."""
        self._watching.close()
        self._tool_login.forget()
        try:
            with within(CLEANING_S, self._request.job_dir) as children:  # those of a cancelled job start nothing more
                self._visit.drop_own(children)
        except Exception as error:  # SHALL NOT raise; the server may be gone
            self._request.log(f"tables of the agent may still be there: {self._scrubber.text(str(error))}")


class Guard:
    """Looks at all SQL of a run in its order, to know which tables are the run's own by then."""

    def __init__(self, server: ExternalServer) -> None:
        self._trusted, self._changes_lock = trusted_sql(server), server.changes_lock
        self._own: set[str] = set()

    def admit(self, step: Step) -> int:
        """How many statements were looked at. Raises `JobError` for one that could reach what is not the agent's."""
        creating, looked_at = step["op"] == "execute", 0
        by_agent = step["op"] == "query" and str(step["name"]).startswith(OF_THE_AGENT)
        for sql in () if by_agent else statements(step):
            if not self._trusted.match(sql):
                check(sql, own=self._own, may_create=creating, changes_lock=self._changes_lock)
                follow(sql, self._own)
                looked_at += 1
        return looked_at


def outgoing(step: Step, target: Target, space_query: str) -> list[Step]:
    """A step as it goes out: tables noted before they are made; free space asked for each second of a load or a run,
    and behind what may have taken a lot of it."""
    goes_out = dict(step)
    if step["op"] == "execute":
        goes_out["statements"] = target.noted(step["statements"])
    if space_query and step["op"] in ("load", "run"):
        goes_out["sampled"] = {**step.get("sampled", {}), SPACE: space_query}
    behind = {SPACE: space_query} if space_query and step["op"] in ("load", "execute") else {}
    return [goes_out, *probes.steps("", behind, optional=True)]


def trusted_sql(server: ExternalServer) -> re.Pattern[str]:
    """Statements that the adapter itself wrote, which may begin with CALL or SHOW."""
    source = server.engine_counters
    asked = [source.counter_queries(), source.waiting, source.effort_sql, server.effective_queries]
    exact = [sql for queries in asked for sql in queries.values()]
    exact += [sql for sql in source.plan_queries(PLANNED) if PLANNED not in sql] + [server.free_space]
    each = [re.escape(sql).replace(r"\{table\}", r"\w+") for sql in server.dialect.after_load_each]
    return re.compile("|".join(rf"(?:{pattern})\Z" for pattern in [*map(re.escape, filter(None, exact)), *each]))
