"""One session of the load generator: the document that it gets, and whether it came to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from benchagent.configfiles.refusals import refused_setting
from benchagent.dbms import probes
from benchagent.dbms.base import ConfigurationRefused, Instance, JobError, Settings
from benchagent.dbms.external.guard import statements
from benchagent.dbms.probes import Step
from benchagent.job import checks
from benchagent.workloads.base import SessionResult
from benchagent.workloads.steps import execute

SETUP = "setup"
# HSQLDB's SQLSTATE of a word that its SQL does not know, as the name of a setting.
UNEXPECTED_TOKEN = "42581"


def session_job(instance: Instance, steps: Sequence[Step], *, setup: bool, foreign: bool = False) -> dict[str, Any]:
    """`setup`: run what the instance wants to be run once, before everything else.

    Steps marked as a `guest`'s hold SQL that somebody else wrote; `foreign`: this session or a later one of the job has
    such. Raises `JobError` where it is not to be run.
    """
    of_guest = [step for step in steps if step.get("guest")]
    guest = instance.guest() if foreign or of_guest else None
    if guest:
        for sql in chain.from_iterable(map(statements, of_guest)):
            guest.check(sql)
    grants = guest.grants if guest else ()
    before = execute(SETUP, [*instance.setup_sql, *grants]) if setup else []
    return {
        "version": 1,
        "connection": asdict(guest.owner if guest else instance.connection),
        **({"guest": asdict(guest.connection)} if guest else {}),
        "session": list(instance.session_sql),
        "transaction": asdict(instance.transaction),
        "retryable": asdict(instance.retryable),
        "tolerable": asdict(instance.tolerable),
        "close": list(instance.close_sql),
        **({"close_url": instance.close_url} if instance.close_url else {}),
        "steps": [*before, *instance.adapted(steps)],
    }


def watched(instance: Instance, run: Step, tables: Sequence[str], reading: frozenset[str] = frozenset()) -> list[Step]:
    """A ``run`` step with everything that is read around it: settings in force, ages, counters, waits, sizes.

    `reading`: names of the transactions that change nothing; they are marked as such.
    """
    source = instance.engine_counters
    prefixed = {probes.COUNTERS + name: sql for name, sql in source.counter_queries().items()}
    waits = {probes.WAITS + name: sql for name, sql in source.waiting.items()}
    growing = {probes.GROWING + metric: sql for metric, sql in source.growing.items()}
    transactions = [
        {**transaction, "read_only": True} if transaction["name"] in reading else transaction
        for transaction in run["transactions"]
    ]
    return [
        *probes.steps(probes.EFFECTIVE, instance.effective_queries),
        *probes.steps(probes.MAINTENANCE, source.maintenance_queries(tables), optional=True),
        {**run, "transactions": transactions, "snapshots": prefixed, "sampled": waits | growing},
        *probes.steps(probes.END + probes.EFFECTIVE, instance.effective_queries, optional=True),
        *probes.steps(probes.SCHEMA, source.schema_queries(tables), optional=True),
    ]


def changes(before: Settings, after: Settings) -> str:
    """Settings that have another value in force than before, in words."""
    had, has = dict(before), dict(after)
    names = [name for name in {**had, **has} if had and had.get(name) != has.get(name)]
    return ", ".join(f"{name} from {had.get(name, 'nothing')} to {has.get(name, 'nothing')}" for name in names)


def deaths(session: SessionResult) -> bool:
    return bool(session.summary and session.summary["dead_terminals"])


def require_end(session: SessionResult, status: int | None) -> SessionResult:
    """The session. Raises `JobError` when it did not come to its end."""
    if session.error:
        # What is asked after a run whose server is gone only fails too.
        dead = [checks.terminals_alive(session.summary)["detail"]] if session.summary and deaths(session) else []
        words = "; then ".join([*dead, _error_words(session.error)])
        raise ConfigurationRefused(words) if _is_of_settings(session.error) else JobError(words)
    if status:
        raise JobError("the load generator ended without a result; the end of its output is in the log")
    return session


def _is_of_settings(event: Mapping[str, Any]) -> bool:
    """Whether a driver does not take a setting: of the URL, or of the statements that HSQLDB is set up with."""
    if event.get("phase"):
        return event["phase"] == SETUP and event.get("sqlstate") == UNEXPECTED_TOKEN
    return refused_setting(str(event.get("message"))) is not None


def _error_words(event: Mapping[str, Any]) -> str:
    details = [f"{name} {event[key]}" for name, key in (("SQLSTATE", "sqlstate"), ("code", "code")) if event.get(key)]
    where = f"{event['phase']}: " if event.get("phase") else ""
    return f"{where}{event.get('message')}" + (f" ({', '.join(details)})" if details else "")
