"""What the agent's tests share: a server in memory, a state folder, a spool."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchagent.java import JavaToolchain
from benchagent.link.client import Client
from benchagent.link.spool import Spool
from benchagent.paths import AgentDirs, agent_dirs

from tests.benchagent.fake_server import FakeServer
from tests.benchagent.jobs import FAST_SYNCS_PER_S, MakeJob, maker, write_sync_rate
from tests.benchagent.small import make_smaller


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()
    yield fake
    fake.stop()


@pytest.fixture
def client(server: FakeServer) -> Client:
    return Client(server.url, "agent-token")


@pytest.fixture
def dirs() -> Iterator[AgentDirs]:
    """A state folder that every user can reach, on a disk that is known: pytest's own is closed to PostgreSQL's."""
    folder = Path(tempfile.mkdtemp(prefix="benchagent-test-"))
    folder.chmod(0o755)
    made = agent_dirs(folder / "agent").create()
    write_sync_rate(made, FAST_SYNCS_PER_S)
    yield made
    shutil.rmtree(folder)


@pytest.fixture
def own_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program `benchagent` sets it for its process, which is ours here."""
    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())


@pytest.fixture(scope="session")
def toolchain(repository: Path) -> JavaToolchain:
    """Jars and classes are kept from one test run to the next, below the folder that git ignores."""
    cache = Path(os.environ.get("BENCHSITE_TEST_CACHE", repository / "var" / "test-cache"))
    made = JavaToolchain(cache)
    made.prepare([group for group in made.engine_groups() if group.default], lambda line: None)
    return made


@pytest.fixture
def spool(dirs: AgentDirs) -> Iterator[Spool]:
    made = Spool(dirs.spool)
    yield made
    made.close()


@pytest.fixture
def make_job(dirs: AgentDirs, spool: Spool, toolchain: JavaToolchain, monkeypatch: pytest.MonkeyPatch) -> MakeJob:
    make_smaller(monkeypatch)
    return maker(dirs, spool, toolchain)
