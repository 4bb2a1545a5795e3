"""The load generator knows transactions, threads and clocks; what is special about a DBMS arrives as data."""

from __future__ import annotations

import re

import pytest
from benchagent.java.compile import source_dir

LONG = r"(?i:postgres|mysql|mariadb|sqlite|derby|hsqldb|firebird|oracle|cubrid|interbase)"
# In small letters they are parts of other words.
SHORT = r"(?<![A-Za-z])(?i:h2|db2)(?!\d)|H2|DB2"
NAMED = re.compile(f"{LONG}|{SHORT}")


@pytest.mark.parametrize("path", sorted(source_dir().rglob("*.java")), ids=lambda path: path.name)
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
