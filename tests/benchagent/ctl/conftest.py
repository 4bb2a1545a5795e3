"""A server in memory, and a person who is logged in to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchagent.ctl.api import Login, save

from .fake_api import TOKEN, FakeApi


@pytest.fixture
def api() -> Iterator[FakeApi]:
    fake = FakeApi()
    yield fake
    fake.stop()


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config" / "benchctl.json"
    monkeypatch.setenv("BENCHCTL_CONFIG", str(path))
    for name in ("BENCHCTL_SERVER", "BENCHCTL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture
def logged_in(api: FakeApi, config: Path) -> FakeApi:
    save(Login(api.url, TOKEN))
    return api
