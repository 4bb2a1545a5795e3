"""Installed engines for the trials: fetched once into the tests' cache, with the agent's own means."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchagent.dbms.postgresql.discovery import installations
from benchagent.engines import catalogue
from benchagent.engines.install import install

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.trial import Trial

OLDEST, SLIM, LOG_VIEW, NEWEST = "9.2.2", "9.6.24", "17.10", "18.6"
# Debian's newest, as the experiments run it.
DEBIAN = "15"
ENGINES = ("postgresql-9.2.2", "postgresql-9.6.24", "postgresql-15", "postgresql-17", "postgresql-18")
MakePostgresql = Callable[..., Trial]


@pytest.fixture(scope="session")
def engines_dir(repository: Path) -> Path:
    """With several versions side by side."""
    folder = Path(os.environ.get("BENCHSITE_TEST_CACHE", repository / "var" / "test-cache")) / "engines"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ENGINES:
        install(catalogue()[name], folder, lambda line: None)
    assert {OLDEST, SLIM, LOG_VIEW, NEWEST} <= installations(folder).keys()
    return folder


@pytest.fixture
def make_postgresql(make_trial: MakeTrial, engines_dir: Path) -> MakePostgresql:
    def make(version: str = NEWEST, settings: dict[str, str] | None = None, **more: Any) -> Trial:
        found = version if version != DEBIAN else debians(engines_dir)
        return make_trial("postgresql", found, settings or {}, engines_dir=engines_dir, **more)

    return make


def debians(engines_dir: Path) -> str:
    return next(version for version in installations(engines_dir) if version.startswith(f"{DEBIAN}."))
