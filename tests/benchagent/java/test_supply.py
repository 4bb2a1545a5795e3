"""Jars that are fetched in the background: from a mirror that is closed at first, with nothing else in the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchagent.java import JarSupply, JavaToolchain, supply
from benchagent.java.jars import engine_groups, tool_jars

from tests.benchagent.company import TOLD_BY_ENVIRONMENT, Mirror
from tests.benchagent.fake_server import wait_until

HSQLDB = next(group for group in engine_groups() if group.name == "hsqldb-2.7.4").jars


@pytest.fixture
def mirror(toolchain: JavaToolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    made = Mirror(toolchain.store.folder)
    made.settings(tmp_path, password=made.password)
    for name in TOLD_BY_ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(supply, "FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(supply, "LOOK_EVERY_S", 0.05)
    yield made
    made.stop()


@pytest.fixture
def empty(tmp_path: Path) -> JavaToolchain:
    return JavaToolchain(tmp_path / "cache")


class Watched(JarSupply):
    def __init__(self, toolchain: JavaToolchain) -> None:
        self.news: list[str] = []
        self.allowed = True
        super().__init__(toolchain, may_fetch=lambda: self.allowed, on_news=self._note)

    def _note(self) -> None:
        self.news.append(self.why_missing(HSQLDB))


@pytest.fixture
def watched(empty: JavaToolchain) -> Iterator[Watched]:
    made = Watched(empty)
    made.start()
    yield made
    made.stop()


def test_an_engine_lacks_its_jars_until_they_are_here(mirror: Mirror, watched: Watched, empty: JavaToolchain):
    assert watched.why_missing(HSQLDB) == "its jars are being fetched"
    wait_until(lambda: not watched.why_missing(HSQLDB))
    assert len(empty.store.files([*tool_jars("loadgen"), *HSQLDB])) == 3
    asked = [path for path in mirror.asked if path.endswith(".jar")]
    assert [path.rsplit("/", 1)[1] for path in dict.fromkeys(asked)][-1] == "hsqldb-2.7.4.jar"
    wait_until(lambda: watched.news[-1:] == [""])


def test_what_cannot_be_had_is_tried_again_until_it_can(mirror: Mirror, watched: Watched):
    mirror.closed = True
    wait_until(lambda: "tried again by itself" in watched.why_missing(HSQLDB))
    assert f"repository ours ({mirror.url}) answers 503" in watched.why_missing(HSQLDB)
    tries = len(mirror.asked)
    wait_until(lambda: len(mirror.asked) > tries + 10)
    mirror.closed = False
    wait_until(lambda: not watched.why_missing(HSQLDB))


def test_what_came_instead_of_a_jar_is_not_kept(mirror: Mirror, watched: Watched, tmp_path: Path):
    whole = mirror.folder
    mirror.folder = tmp_path / "portal"
    answer = mirror.folder / "org/hsqldb/hsqldb/2.7.4/hsqldb-2.7.4.jar"
    answer.parent.mkdir(parents=True)
    answer.write_text("<html>Please log in</html>")
    watched.why_missing(HSQLDB)
    wait_until(lambda: "what came for hsqldb-2.7.4.jar has SHA-256" in str(watched._wanted))
    mirror.folder = whole
    wait_until(lambda: not watched.why_missing(HSQLDB))


def test_nothing_is_fetched_while_something_is_measured(mirror: Mirror, watched: Watched):
    watched.allowed = False
    looks: list[bool] = []
    watched._may_fetch = lambda: looks.append(True) or watched.allowed
    assert watched.why_missing(HSQLDB)
    wait_until(lambda: len(looks) > 5)
    assert mirror.asked == []
    watched.allowed = True
    wait_until(lambda: not watched.why_missing(HSQLDB))


def test_what_is_removed_is_fetched_anew(mirror: Mirror, watched: Watched, empty: JavaToolchain, tmp_path: Path):
    watched.why_missing(HSQLDB)
    wait_until(lambda: not watched.why_missing(HSQLDB))
    empty.store.folder.rename(tmp_path / "removed")
    assert watched.why_missing(HSQLDB)
    wait_until(lambda: not watched.why_missing(HSQLDB))
