"""Installed engines for the trials: fetched once into the tests' cache, with the agent's own means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.mysql.family import MakeServer, installed_engines
from tests.benchagent.dbms.trial import Trial

OLD, MIDDLE, NEW = "5.5.34", "5.7.22", "8.0.31"


@pytest.fixture(scope="session")
def mysql_dir(repository: Path) -> Path:
    """With three versions side by side."""
    return installed_engines(repository, *(f"mysql-{version}" for version in (OLD, MIDDLE, NEW)))


@pytest.fixture
def make_mysql(make_trial: MakeTrial, mysql_dir: Path) -> MakeServer:
    def make(version: str = OLD, settings: dict[str, str] | None = None, **more: Any) -> Trial:
        return make_trial("mysql", version, settings or {}, engines_dir=mysql_dir, **more)

    return make
