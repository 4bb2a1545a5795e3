"""One toolchain for all: jars and classes are fetched and compiled once per machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from benchagent.java import EngineJars, JavaToolchain


@pytest.fixture(scope="session")
def cache_dir(repository: Path) -> Path:
    return Path(os.environ.get("BENCHSITE_TEST_CACHE") or repository / "var" / "test-cache")


@pytest.fixture(scope="session")
def toolchain(cache_dir: Path) -> JavaToolchain:
    return JavaToolchain(cache_dir)


@pytest.fixture(scope="session")
def engine(toolchain: JavaToolchain) -> Callable[[str], EngineJars]:
    """`engine("h2")` -> the default version's jars."""

    def find(dbms: str) -> EngineJars:
        return next(group for group in toolchain.engine_groups() if group.dbms == dbms and group.default)

    return find
