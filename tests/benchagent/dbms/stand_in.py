"""H2 as a stand-in for engines that no registry offers: every statement of every workload is executed on it.

The steps are those that a workload gives the load generator for the adapter, in a small size; they run for real, the
transactions too. What H2 has no kin of is left out for a stated reason, listed and counted.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.dbms.embedded import jars
from benchagent.dbms.external.guard import created, statements
from benchagent.dbms.external.own_schema import Target
from benchagent.dbms.external.server import ExternalServer
from benchagent.dbms.probes import Step
from benchagent.java import JavaToolchain, LoadGenerator
from benchagent.job.dryrun import TOOL, PaperBench
from benchagent.workloads import workload as workload_of

from tests.benchagent.small import make_backups_smaller, make_smaller

SCHEMA = "bench_own"
CATALOGUE = "asks the engine's own catalogue"
CONDITIONS = ("after the load:", "after the run:")
# Enough for each of a mix to come up, and a window that no machine is too slow for: it ends with the last of them.
TRANSACTIONS = 500
WINDOW: dict[str, int | str] = {"terminals": 1, "warm_up_s": 0, "duration_s": 600}
SCRIPT = """
[setup]
CREATE TABLE counters (id INTEGER NOT NULL, v INTEGER);
[load counters 100]
id = sequence
v = constant(0)
[transaction count]
\\set id random(1, 100)
UPDATE counters SET v = v + 1 WHERE id = :id;
\\rows 1
[check counted]
SELECT SUM(v) FROM counters;
+ committed(count)
"""
# Factors by workload; with others the SELECTs of the articles.
SMALL: list[tuple[str, dict[str, int | str]]] = [
    ("tpcb", {"scale_factor": 1}),
    ("tpcc", {"warehouses": 1, "warehouse_rows": "hundredth", "queries": "yes"}),
    ("inserts_selects", {"rows_per_table": 100, "preloaded": "full"}),
    ("inserts_selects", {"rows_per_table": 100, "preloaded": "full", "load": "select_wide"}),
    ("script", {"script_text": SCRIPT}),
    ("backup", {"dataset_mb": 10}),
]
# Of each table of a backup, whose tools run on the server's own machine and not here.
BACKUP_ROWS = 10


@dataclass
class Report:
    executed: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    dead: list[Any] = field(default_factory=list)
    violated: list[str] = field(default_factory=list)
    # What has come to its end, in order: phases, and queries by name.
    ended: list[str] = field(default_factory=list)

    def words(self, dbms: str) -> str:
        lines = [f"{DBMSS[dbms].name}: {len(self.executed)} statements executed on H2"]
        lines += [f"  {len(found)} left out: {reason}" for reason, found in self.left_out.items()]
        return "\n".join(lines)


class StandIn:
    """`left_out`: pattern -> reason. `translated`: what is written differently in H2, as pattern -> text."""

    def __init__(
        self,
        server: ExternalServer,
        url: str,
        *,
        left_out: Mapping[str, str],
        translated: Mapping[str, str] | None = None,
    ) -> None:
        self.server = server
        self._url = url
        self._left_out = left_out
        self._translated = translated or {}
        self.report = Report()

    def steps(self) -> list[Step]:
        assert {slug for slug, _ in SMALL} == set(WORKLOADS)
        found = [step for slug, factors in SMALL for step in self._performed(slug, factors)]
        return [kept for step in [*self._own(), *found] if (kept := self._kept(step))]

    def _performed(self, slug: str, factors: Mapping[str, int | str]) -> list[Step]:
        chosen = workload_of(slug, WORKLOADS[slug].version)
        given = chosen.factors({**({} if slug == "backup" else WINDOW), **factors}, self.server.dbms)
        with tempfile.TemporaryDirectory() as folder:
            bench = PaperBench(
                chosen, self.server, given, backups=lambda: self.server.shown_backups, folder=Path(folder)
            )
            chosen.perform(bench)
        steps = [_with_few_rows(step) if slug == "backup" else step for step in bench.steps if step["op"] != TOOL]
        made = [sql for step in steps if step["op"] == "execute" for sql in step["statements"]]
        tables = [name for kind, name in map(created, made) if kind == "TABLE"]
        drops = [f"DROP TABLE {table}" for table in tables]
        return [*steps, {"op": "execute", "phase": "drop", "statements": drops}]

    def _own(self) -> list[Step]:
        """What the agent does to make a schema its own, and what it asks."""
        target = Target(self.server, "stand-in", SCHEMA, "agent")
        prepared = target.preparation([[1]] if not self.server.create else [], [], None)
        use = [statement.format(schema=SCHEMA) for statement in self.server.use]
        first = [] if self.server.create else [f"CREATE SCHEMA {SCHEMA}"] if SCHEMA in target.marker else []
        asked = {**target.questions(), "version": self.server.version_query, "space": self.server.free_space}
        source = self.server.engine_counters
        asked |= {**source.counter_queries(), **source.waiting, **source.effort_sql}
        noted = target.noted(["CREATE TABLE kept (a INTEGER)"])
        dropped = target.preparation([[1]], [["kept"]], [["agent", None], ["agent", "kept"]])
        return [
            {"op": "execute", "phase": "own", "statements": [*first, *prepared, *use, *noted, *dropped]},
            *({"op": "query", "name": name, "sql": sql} for name, sql in asked.items() if sql),
        ]

    def _kept(self, step: Step) -> Step | None:
        """The step without what is left out, a run with its end; None when nothing remains."""
        kept = {key: value for key, value in step.items() if key not in ("snapshots", "sampled", "optional")}
        for watched in ("snapshots", "sampled"):
            for sql in step.get(watched, {}).values():
                self._take(sql)
        if step["op"] == "query":
            text = self._take(step["sql"])
            return {**kept, "sql": text} if text else None
        if step["op"] == "execute":
            texts = [text for sql in step["statements"] if (text := self._take(sql))]
            return {**kept, "statements": texts} if texts else None
        if step["op"] == "run":
            kept["max_transactions"] = TRANSACTIONS
        for sql in statements(kept):
            assert self._take(sql) == self._translate(sql)
        return _mapped(kept, self._translate)

    def _take(self, sql: str) -> str | None:
        for pattern, reason in self._left_out.items():
            if re.search(pattern, sql, re.IGNORECASE):
                if sql not in self.report.left_out[reason]:
                    self.report.left_out[reason].append(sql)
                return None
        self.report.executed[sql] = None
        return self._translate(sql)

    def _translate(self, sql: str) -> str:
        for pattern, text in self._translated.items():
            sql = re.sub(pattern, text, sql)
        return sql

    def run(self, toolchain: JavaToolchain, folder: Path) -> Report:
        generator = LoadGenerator(toolchain, jars(toolchain, "h2"), heap_mb=768, cwd=folder)
        return self.perform(generator, {"url": self._url, "properties": {"user": "sa", "password": ""}})

    def perform(self, generator: LoadGenerator, connection: Mapping[str, Any]) -> Report:
        """All steps in one session, to its end."""
        with pytest.MonkeyPatch.context() as patch:
            make_smaller(patch)
            make_backups_smaller(patch)  # its small tables differ in their number only
            steps = self.steps()
            generator.start({"version": 1, "connection": {"driver_class": None, **connection}, "steps": steps})
        try:
            for event in generator.events():
                self._see(event)
        finally:
            status = generator.abort(60)
        if status != 0:
            self.report.errors.append(f"the load generator ended with {status}")
        if self.report.ended != [name for step in steps for name in _endings(step)]:
            self.report.errors.append(f"after {len(self.report.ended)} of {len(steps)} steps")
        return self.report

    def _see(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "error":
            self.report.errors.append(f"{event.get('phase')}: {event['message']}")
        elif event["event"] == "summary":
            self.report.dead += event["dead_terminals"]
            if event.get("errors") or not event["transactions"]:
                self.report.errors.append(f"{event.get('errors')} errors, {event['transactions']} transactions")
            idle = [name for name, found in event["per_type"].items() if not found["transactions"]]
            self.report.errors += [f"no transaction {name}" for name in idle]
        elif event["event"] == "query":
            self.report.ended.append(event["name"])
            if event["name"].startswith(CONDITIONS) and event["rows"] != [[0]]:
                self.report.violated.append(event["name"])
        elif event["event"] == "phase" and event["state"] == "end":
            self.report.ended.append(event["phase"])


def _endings(step: Step) -> list[str]:
    """By what its end is known: its phase and, of a query, its name."""
    return [str(step[key]) for key in ("phase", "name") if key in step]


def _with_few_rows(step: Step) -> Step:
    if step["op"] != "load":
        return step
    return {**step, "tables": [{**table, "rows": min(table["rows"], BACKUP_ROWS)} for table in step["tables"]]}


def _mapped(value: Any, change: Any) -> Any:
    """Every text below ``sql``, ``insert`` and ``statements`` changed."""
    if isinstance(value, dict):
        return {
            key: change(part)
            if key in ("sql", "insert") and isinstance(part, str)
            else {name: change(text) for name, text in part.items()}
            if key == "sql"
            else _mapped(part, change)
            for key, part in value.items()
        }
    return (
        [_mapped(part, change) for part in value]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else value
    )
