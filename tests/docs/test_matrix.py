"""The table of engines and workloads in docs/engines.md: what is said to have run is run by a test that there is."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from benchagent.catalog import DBMSS, WORKLOADS

from tests.conftest import REPOSITORY

SLUGS = {entry.name: slug for slug, entry in DBMSS.items()}
EMBEDDED = {slug for slug, entry in DBMSS.items() if entry.embedded}
TABLE = re.compile(r"^\| engine \|(.+?)\|\n\|[-|]+\|\n((?:\|.*\n)+)\n((?:\d\. .*\n)+)", re.MULTILINE)
TESTS = "tests/benchagent"
PRIVATE = {
    "tpcb": f"{TESTS}/test_statistics_table.py::test_it_delivers_what_it_declares_and_nothing_else[{{slug}}]",
    "tpcc": f"{TESTS}/workloads/tpcc/test_run.py::test_it_loads_runs_and_leaves_a_consistent_database[{{slug}}]",
}
CELL = f"{TESTS}/test_matrix.py::test_it_runs[{{workload}}-{{slug}}]"
IN_MEMORY = f"{TESTS}/test_matrix.py::test_it_runs_in_memory[{{slug}}-{{workload}}]"
TPCB_IN_MEMORY = f"{TESTS}/dbms/test_embedded.py::test_it_runs_in_memory_as_a_class_of_its_own[{{slug}}]"
OTHERS = (
    f"{TESTS}/dbms/external/test_foreign_server.py::test_it_runs_every_workload_and_touches_nothing_of_others[{{slug}}]"
)
STAND_IN = f"{TESTS}/dbms/{{slug}}/test_{{slug}}.py::test_it_executes_every_statement_of_every_workload"


def read() -> tuple[list[str], dict[str, list[str]], set[str]]:
    """Columns, rows by engine, numbers of the notes."""
    found = TABLE.search((REPOSITORY / "docs" / "engines.md").read_text())
    assert found
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[2].splitlines()]
    notes = {line[0] for line in found[3].splitlines()}
    return [cell.strip() for cell in found[1].split("|")], {line[0]: line[1:] for line in lines}, notes


COLUMNS, ROWS, NOTES = read()
CELLS = [
    pytest.param(engine, workload, word, id=f"{engine}-{workload}")
    for engine, words in ROWS.items()
    for workload, word in zip(COLUMNS, words, strict=True)
]


@pytest.fixture(scope="module")
def collected() -> str:
    """Ids of all tests that the table may name, one a line."""
    paths = ["test_matrix.py", "test_statistics_table.py", "workloads/tpcc/test_run.py", "dbms"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(f"{TESTS}/{path}" for path in paths)], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_it_has_every_engine_and_every_workload():
    assert list(WORKLOADS) == COLUMNS
    assert {slug_of(engine) for engine in ROWS} == set(DBMSS)


@pytest.mark.parametrize(("engine", "workload", "word"), CELLS)
def test_it_says_of_no_cell_what_no_test_shows(engine: str, workload: str, word: str, collected: str):
    slug = slug_of(engine)
    if word == "ran":
        assert backed_by(engine, workload).format(slug=slug, workload=workload) in collected.splitlines()
    elif word == "not verified":
        assert DBMSS[slug].unverified
        assert STAND_IN.format(slug=slug) in collected
    else:
        assert re.fullmatch("impossible [¹²³]", word)
        assert {"¹": "1", "²": "2", "³": "3"}[word[-1]] in NOTES


def slug_of(engine: str) -> str:
    return SLUGS[re.sub(r",.*| \(.*", "", engine)]


def backed_by(engine: str, workload: str) -> str:
    if engine.endswith("server of others"):
        return OTHERS
    if engine.endswith("in memory"):
        return TPCB_IN_MEMORY if workload == "tpcb" else IN_MEMORY
    if workload == "tpcb" or (workload == "tpcc" and slug_of(engine) in EMBEDDED):
        return PRIVATE[workload]
    return CELL
