"""The table of engines and workloads in docs/reference/engines.md: what is said to have run is run by a test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.dbms.base import JobError
from benchagent.dbms.external.connections import ServerConnection, ToolLogin
from benchagent.dbms.external.server import external_server
from benchagent.engines import catalogue
from benchagent.java import JavaToolchain

from tests.benchagent.live import SERVERS
from tests.conftest import REPOSITORY

SLUGS = {entry.name: slug for slug, entry in DBMSS.items()}
EMBEDDED = {slug for slug, entry in DBMSS.items() if entry.embedded}
TABLE = re.compile(r"^\| engine \|(.+?)\|\n\|[-|]+\|\n((?:\|.*\n)+)\n((?:\d\. .*\n)+)", re.MULTILINE)
NUMBERS = {"¹": "1", "²": "2", "³": "3", "⁴": "4"}
IN_MEMORY, NO_TOOLS, WHOLE_DATABASE, ELSEWHERE = NUMBERS
OF_OTHERS, MEMORY = "server of others", "in memory"
TESTS = "tests/benchagent"
PRIVATE = {
    "tpcb": f"{TESTS}/test_statistics_table.py::test_it_delivers_what_it_declares_and_nothing_else[{{slug}}]",
    "tpcc": f"{TESTS}/workloads/tpcc/test_run.py::test_it_loads_runs_and_leaves_a_consistent_database[{{slug}}]",
}
CELL = f"{TESTS}/test_matrix.py::test_it_runs[{{workload}}-{{slug}}]"
CELL_IN_MEMORY = f"{TESTS}/test_matrix.py::test_it_runs_in_memory[{{slug}}-{{workload}}]"
TPCB_IN_MEMORY = f"{TESTS}/dbms/test_embedded.py::test_it_runs_in_memory_as_a_class_of_its_own[{{slug}}]"
NONE_IN_MEMORY = f"{TESTS}/test_matrix.py::test_a_database_in_memory_leaves_nothing_to_back_up[{{slug}}]"
FOREIGN = f"{TESTS}/dbms/external"
EVERY_WORKLOAD = (
    f"{FOREIGN}/test_foreign_server.py::test_it_runs_every_workload_and_touches_nothing_of_others[{{slug}}]"
)
# On a server of its kind alone.
WORKLOADS_OF_OTHERS = {
    "derby": f"{FOREIGN}/test_derby_server.py::test_it_runs_every_workload_and_touches_nothing_of_others"
}
TPCB_OF_OTHERS = {
    "mysql": f"{FOREIGN}/test_more_servers.py::test_it_runs_on_a_mysql_of_others_which_does_not_count_checkpoints",
    "firebird": f"{FOREIGN}/test_more_servers.py::test_it_runs_in_a_firebird_database_that_was_given_to_it",
    "hsqldb": f"{FOREIGN}/test_java_servers.py::test_it_runs_on_a_java_server_and_touches_nothing_of_others[hsqldb]",
    "h2": f"{FOREIGN}/test_java_servers.py::test_it_runs_on_a_java_server_and_touches_nothing_of_others[h2]",
}
MYSQLS = f"{TESTS}/dbms/mysql/test_mysql.py::test_it_asks_every_version_for_its_statistics_in_its_own_words"
DERBYS = f"{TESTS}/dbms/derby/test_derby.py::test_it_keeps_the_log_on_a_storage_of_its_own_and_opens_a_copy_of_both"
# Versions beside the one on which every workload runs. Those of MySQL are without tools, which its test shows, too.
TPCB_OF_VERSION = {
    ("mysql", "5.7"): f"{MYSQLS}[5.7.22]",
    ("mysql", "8.0"): f"{MYSQLS}[8.0.31]",
    ("derby", "10.6"): f"{DERBYS}[10.6.2.1]",
    ("derby", "10.3"): f"{DERBYS}[10.3.2.1]",
    (
        "firebird",
        "5.0",
    ): f"{TESTS}/dbms/firebird/test_firebird.py::test_it_runs_the_engine_of_version_5_and_says_that_it_is_a_mix",
}
STAND_IN = f"{TESTS}/dbms/{{slug}}/test_{{slug}}.py::test_it_executes_every_statement_of_every_workload"


def read() -> tuple[list[str], dict[str, list[str]], set[str]]:
    """Columns, rows by engine, numbers of the notes."""
    found = TABLE.search((REPOSITORY / "docs" / "reference" / "engines.md").read_text())
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
def collected() -> set[str]:
    """Ids of all tests that the table may name; those of stand-ins without their version, too."""
    paths = ["test_matrix.py", "test_statistics_table.py", "workloads/tpcc/test_run.py", "dbms"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(f"{TESTS}/{path}" for path in paths)], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines())


def test_it_has_every_engine_and_every_workload():
    assert list(WORKLOADS) == COLUMNS
    assert {slug_of(engine) for engine in ROWS} == set(DBMSS)
    assert set(NUMBERS.values()) == NOTES


@pytest.mark.parametrize(
    "engine", [engine for engine in ROWS if not DBMSS[SLUGS[re.split(r",| \(", engine)[0]]].unverified]
)
def test_it_names_a_version_that_can_be_had(engine: str):
    slug, version = slug_of(engine), version_of(engine)
    known = [name.removeprefix(f"{slug}-") for name in catalogue() if name.startswith(f"{slug}-")]
    known += [
        group.version for group in JavaToolchain(Path()).engine_groups() if group.dbms == slug and slug in EMBEDDED
    ]
    assert any(one == version or one.startswith(f"{version}.") for one in known)


@pytest.mark.parametrize(("engine", "workload", "word"), CELLS)
def test_it_says_of_no_cell_what_no_test_shows(engine: str, workload: str, word: str, collected: set[str]):
    slug = slug_of(engine)
    test = backed_by(engine, workload).format(slug=slug, workload=workload)
    if word == "ran":
        assert test in collected
    elif word == "not verified":
        assert test == ""
        assert not DBMSS[slug].unverified or any(one.startswith(STAND_IN.format(slug=slug)) for one in collected)
    else:
        assert workload == "backup"
        assert re.fullmatch("(?:impossible|shown only) [¹²³⁴]", word)
        assert is_so(word[-1], engine, slug, collected)


def is_so(note: str, engine: str, slug: str, collected: set[str]) -> bool:
    """Whether tests and adapters bear out what the note says."""
    if note == IN_MEMORY:
        return engine.endswith(MEMORY) and NONE_IN_MEMORY.format(slug=slug) in collected
    if note == NO_TOOLS:
        return TPCB_OF_VERSION[slug, version_of(engine)] in collected
    server = external_server(slug, "", "own")
    if note == ELSEWHERE:
        return len(server.shown_backups) > 0
    connection = ServerConnection("theirs", slug, "jdbc:", "", "", "own")
    with pytest.raises(JobError, match="whole databases, not the agent's schema alone"):
        server.backups(ToolLogin(connection, "", Path(), Path()))
    return engine.endswith(OF_OTHERS)


def slug_of(engine: str) -> str:
    return SLUGS[re.sub(r",.*| \(.*", "", engine)]


def version_of(engine: str) -> str:
    found = re.search(r"\((.+)\)", engine)
    return found[1] if found else ""


def backed_by(engine: str, workload: str) -> str:
    """The id of the test that runs it; empty where there is none."""
    slug, version = slug_of(engine), version_of(engine)
    tpcb = workload == "tpcb"
    if engine.endswith(OF_OTHERS):
        every = WORKLOADS_OF_OTHERS.get(slug, EVERY_WORKLOAD)
        return (TPCB_OF_OTHERS[slug] if tpcb else "") if slug in TPCB_OF_OTHERS else every
    if engine.endswith(MEMORY):
        return TPCB_IN_MEMORY if tpcb else CELL_IN_MEMORY
    if DBMSS[slug].unverified:
        return ""
    if (slug, version) in TPCB_OF_VERSION:
        return TPCB_OF_VERSION[slug, version] if tpcb else ""
    if slug in SERVERS:
        assert version == SERVERS[slug][1]
    return PRIVATE[workload] if tpcb or (workload == "tpcc" and slug in EMBEDDED) else CELL
