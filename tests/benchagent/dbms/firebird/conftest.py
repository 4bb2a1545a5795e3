"""Firebird for the trials: Debian's on this machine, else the agent's own; and version 5, out of the tests' cache."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchagent.dbms.firebird.discovery import homes
from benchagent.engines import catalogue
from benchagent.engines.install import install

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.trial import Trial

ENGINES = ("firebird-3.0", "firebird-5.0.4")
TABLE = (
    "CREATE TABLE wide (id INTEGER NOT NULL, part INTEGER, text1 VARCHAR(400) CHARACTER SET ASCII,"
    " CONSTRAINT wide_pk PRIMARY KEY (id))"
)
FILL = (
    "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN WHILE (i < {rows}) DO BEGIN"
    " INSERT INTO wide VALUES (:i, MOD(:i, 100), UUID_TO_CHAR(GEN_UUID()) || LPAD('', 260, UUID_TO_CHAR(GEN_UUID())));"
    " i = i + 1; END END"
)
MakeFirebird = Callable[..., Trial]


@pytest.fixture(scope="session")
def engines_dir(repository: Path) -> Path:
    folder = Path(os.environ.get("BENCHSITE_TEST_CACHE", repository / "var" / "test-cache")) / "engines"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ENGINES:
        install(catalogue()[name], folder, lambda line: None)
    return folder


@pytest.fixture
def make_firebird(make_trial: MakeTrial, engines_dir: Path) -> MakeFirebird:
    """`make_firebird("3.0", {...})`: of the version that begins so."""

    def make(version: str = "3.0", settings: dict[str, str] | None = None, **more: Any) -> Trial:
        (found,) = (known for known in homes(engines_dir) if known.startswith(version))
        return make_trial("firebird", found, settings or {}, engines_dir=engines_dir, **more)

    return make


def with_rows(trial: Trial, rows: int) -> Trial:
    """With a table of wide rows, made and filled inside the server."""
    server = trial.instance.server
    script = f"{TABLE};\nSET TERM ^;\n{FILL.format(rows=rows)}^\nSET TERM ;^\nCOMMIT;\n"
    server.run_sql(script, server.remote(server.database))
    return trial
