"""MariaDB for the trials: fetched once into the tests' cache, with the agent's own means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchagent.dbms.mysql import discovery

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.mysql.family import MakeServer, installed_engines
from tests.benchagent.dbms.trial import Trial


@pytest.fixture(scope="session")
def mariadb_dir(repository: Path) -> Path:
    return installed_engines(repository, "mariadb-10.11")


@pytest.fixture
def make_mariadb(make_trial: MakeTrial, mariadb_dir: Path) -> MakeServer:
    """Of the newest 10.11 that was packaged when it was installed."""
    version = next(iter(discovery.installations("mariadb", mariadb_dir)))

    def make(settings: dict[str, str] | None = None, **more: Any) -> Trial:
        return make_trial("mariadb", version, settings or {}, engines_dir=mariadb_dir, **more)

    return make
