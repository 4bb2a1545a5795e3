"""The load generator names no DBMS: what is special about one arrives as data. Its packages import one way."""

from __future__ import annotations

import re

import pytest
from benchagent.java.toolchain import source_dir

LONG = r"(?i:postgres|mysql|mariadb|sqlite|derby|hsqldb|firebird|oracle|cubrid|interbase)"
# In small letters they are parts of other words.
SHORT = r"(?<![A-Za-z])(?i:h2|db2)(?!\d)|H2|DB2"
NAMED = re.compile(f"{LONG}|{SHORT}")
SOURCES = sorted(source_dir().rglob("*.java"))
ROOT = "benchsite.loadgen"
PACKAGE_ROW = re.compile(r"^\| (`[^|]+) \|", re.MULTILINE)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_it_names_no_dbms(path):
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if NAMED.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text", ["jdbc:h2:mem", "PostgreSQL", "org.sqlite.JDBC", "Oracle's", "isMySQL", "useH2", "(DB2)"]
)
def test_the_search_finds_names(text):
    assert NAMED.search(text)


@pytest.fixture(scope="module")
def levels(repository) -> dict[str, int]:
    """Level of each package as docs/extend/load-generator.md lists them from the top; those of one row share theirs."""
    section = (repository / "docs" / "extend" / "load-generator.md").read_text().split("## Packages")[1]
    rows = [re.findall(r"`([\w.]+)`", row) for row in PACKAGE_ROW.findall(section)]
    return {package: level for level, row in enumerate(reversed(rows)) for package in row}


def test_the_document_lists_every_package(levels):
    assert set(levels) == {path.parent.name for path in SOURCES}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_it_knows_only_packages_below_its_own(path, levels):
    text = path.read_text()
    own = path.parent.name
    assert f"package {ROOT}{'' if own == 'loadgen' else '.' + own};" in text
    for subpackage, _ in re.findall(rf"{ROOT}\.(?:([a-z]\w*)\.)?([A-Z*]\w*)", text):
        assert subpackage == own or levels[subpackage or "loadgen"] < levels[own], subpackage
