"""Attacks on a running Benchsite and on real engines: each class of attack counts what it tried."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

import pytest

from tests.conftest import REPOSITORY
from tests.e2e.conftest import Site, site

__all__ = ["Site", "site"]

TRIES: Counter[str] = Counter()


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> Callable[[int], None]:
    """Add a number of tries to those of the class of attack that the test's module is named after."""
    name = request.path.stem.removeprefix("test_").replace("_", " ")

    def add(number: int = 1) -> None:
        TRIES[name] += number

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, number in sorted(TRIES.items()):
        terminalreporter.write_line(f"tried, {name}: {number}")


def token(site: Site, scopes: str) -> str:
    """One of the operator's."""
    command = [sys.executable, "manage.py", "token", "--name", f"attack {scopes}", "--scopes", scopes]
    environment = os.environ | {"STATE": str(site.state)}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()
