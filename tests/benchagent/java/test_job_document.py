"""docs/extend/load-generator.md names every step, field, kind and event of the load generator, but for tpcc's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchagent.java.toolchain import source_dir

SOURCES = sorted(path for path in source_dir().rglob("*.java") if path.parent.name != "tpcc")
# Read from a job or put into an event: opt("x"), getLong("x"), put("x", …), atLeastOne(given, "x", …), case "x".
NAMES = re.compile(r'(?:\b(?:get|opt|put|has|isNull|textOrNull|atLeastOne|unscaled)\w*\((?:\w+, )?|case )"(\w+)"')


@pytest.fixture(scope="module")
def documented(repository: Path) -> set[str]:
    text = (repository / "docs" / "extend" / "load-generator.md").read_text()
    spans = re.findall(r"`([^`\n]+)`", text)
    return {word for span in spans for word in re.findall(r"\w+", span)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_it_names_everything_in(path: Path, documented: set[str]) -> None:
    names = set(NAMES.findall(path.read_text()))
    assert names - documented == set()


def test_the_search_finds_names():
    found = {name for path in SOURCES for name in NAMES.findall(path.read_text())}
    assert {"prepare_all", "nurand", "rate_per_s", "slow_share", "unstarted", "slow_batch", "backlog"} <= found
