"""What the tests of MySQL and MariaDB share: installed engines, statements, a run of each backup method."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from benchagent.dbms.backup import BackupMethod
from benchagent.engines import catalogue
from benchagent.engines.install import install

from tests.benchagent.dbms.trial import Trial

MakeServer = Callable[..., Trial]
TABLE = (
    "CREATE TABLE t (id INTEGER PRIMARY KEY, tenth INTEGER NOT NULL, filler VARCHAR(100))",
    "CREATE INDEX t_tenth ON t (tenth)",
    "INSERT INTO t VALUES (1, 1, REPEAT('x', 100))",
    *(f"INSERT INTO t SELECT id + {1 << n}, (id + {1 << n}) % 10, filler FROM t" for n in range(11)),
    "ANALYZE TABLE t",
)
ROWS = 1 << 11
# As servers of others have it: the agent's own enable it.
NOT_ENABLED = [
    {"op": "execute", "phase": "off", "statements": ["SET GLOBAL innodb_monitor_disable = 'log_checkpoints'"]}
]


def installed_engines(repository: Path, *names: str) -> Path:
    folder = Path(os.environ.get("BENCHSITE_TEST_CACHE", repository / "var" / "test-cache")) / "engines"
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        install(catalogue()[name], folder, lambda line: None)
    return folder


def with_rows(trial: Trial) -> Trial:
    session = trial.events([{"op": "execute", "phase": "create", "statements": list(TABLE)}])
    assert session.error is None, session.error
    return trial


def command_lines_of_the_machine() -> str:
    return "\n".join(" ".join(found.info["cmdline"] or []) for found in psutil.process_iter(["cmdline"]))


def backed_up_and_restored(trial: Trial, method: BackupMethod) -> list[list[Any]]:
    """Rows of the restored table, counted; the backup is left where it is."""
    target = trial.folders.backup / method.slug
    scratch = trial.folders.backup / f"{method.slug}-scratch"
    method.check({})
    trial.act(list(method.backup(target, {"verbose": "on", "jobs": "2"})))
    scratch.mkdir()
    trial.own(scratch)
    trial.act([*method.restore(target, scratch), *method.prepare(scratch)])
    close = method.open_restored(target, scratch)
    try:
        connection = dataclasses.replace(trial.instance.connection, url=method.restored_url(target, scratch))
        assert connection.url != trial.instance.connection.url
        (rows,) = trial.query("SELECT COUNT(*), SUM(id), MAX(filler) FROM t", connection=connection)
    finally:
        close()
        trial.act(list(method.discard(target, scratch)))
    return rows
