"""A script's guest against the doors of each engine: files, programs, code and other people's rights.

One instance per engine. `script_ways` holds what each engine's manual names, a statement a line: `{canary}` is a file
of text, `{database}` one of SQLite with the same word in it, `{new}` one that is not there yet. A line that begins with
`+` may be done, as it opens nothing by itself. The files lie in the folder of the job's backups: neither the
confinement of a job nor `secure_file_priv` keeps anybody from that, so what holds are the rights in the engine. That
the ways lead there is shown by the agent's own user, who goes some of them at the end.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.catalog import DBMSS
from benchagent.dbms.base import EngineContext, JobError
from benchagent.java import JavaToolchain

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.mysql.family import installed_engines
from tests.benchagent.dbms.trial import Trial
from tests.benchagent.live import EMBEDDED, SERVERS

pytestmark = pytest.mark.engines
WAYS = Path(__file__).parent / "script_ways"
WORD = "canary-sings"
# What the guest may do, and what it needs for its ways.
PREPARED: Mapping[str, Sequence[str]] = {
    "hsqldb": ["CREATE TABLE t (a VARCHAR(99))", "CREATE TEXT TABLE x (a VARCHAR(99))"]
}
# The owner reads the word and writes `{new}-owner`.
OWNER: Mapping[str, Sequence[str]] = {
    "sqlite": ["ATTACH DATABASE '{database}' AS other", "SELECT words FROM other.canary", "VACUUM INTO '{new}-owner'"],
    "h2": ["SELECT FILE_READ('{canary}', NULL)", "SELECT FILE_WRITE('x', '{new}-owner')"],
    "hsqldb": ["CALL LOAD_FILE('{canary}', 'UTF-8')", "SCRIPT '{new}-owner'"],
    "derby": [
        "CREATE TABLE own (a VARCHAR(99))",
        "CALL SYSCS_UTIL.SYSCS_IMPORT_TABLE(NULL, 'OWN', '{canary}', NULL, NULL, NULL, 0)",
        "SELECT a FROM own",
        "CALL SYSCS_UTIL.SYSCS_EXPORT_QUERY('SELECT a FROM own', '{new}-owner', NULL, NULL, NULL)",
    ],
    "postgresql": [
        "CREATE TEMPORARY TABLE own (a text)",
        "COPY own FROM '{canary}'",
        "SELECT a FROM own",
        "COPY (SELECT 1) TO '{new}-owner'",
    ],
    "mysql": ["SELECT CAST(LOAD_FILE('{canary}') AS CHAR)", "SELECT 'x' INTO OUTFILE '{new}-owner'"],
    "mariadb": ["SELECT CAST(LOAD_FILE('{canary}') AS CHAR)", "SELECT 'x' INTO OUTFILE '{new}-owner'"],
    # Its files are closed to everybody.
    "firebird": ["CREATE SHADOW 1 '{new}-owner'", "DROP SHADOW 1 PRESERVE FILE"],
}
# Begins of versions and what is installed for them: the usual one, the newest, and the oldest of engines that learned
# to guard themselves with time. With BENCHSITE_ALL_ENGINES=1 the others that the agent offers too.
OTHERS = {
    ("derby", "10.3"): "",
    ("postgresql", "9.2"): "postgresql-9.2.2",
    ("mysql", "8.0"): "mysql-8.0.31",
    ("firebird", "5."): "firebird-5.0.4",
}
BETWEEN = {
    ("derby", "10.6"): "",
    ("postgresql", "9.6"): "postgresql-9.6.24",
    ("postgresql", "15"): "postgresql-15",
    ("postgresql", "17"): "postgresql-17",
    ("mysql", "5.7"): "mysql-5.7.22",
}
INSTALLED = {
    **{(slug, ""): "" for slug in EMBEDDED},
    **{(slug, begin): name for slug, (name, begin) in SERVERS.items()},
    **OTHERS,
    **(BETWEEN if os.environ.get("BENCHSITE_ALL_ENGINES") else {}),
}


@pytest.fixture(scope="module")
def engines_dir(repository: Path) -> Path:
    return installed_engines(repository, *filter(None, INSTALLED.values()))


@pytest.fixture
def make_engine(make_trial: MakeTrial, engines_dir: Path, toolchain: JavaToolchain) -> MakeTrial:
    def make(slug: str, begin: str) -> Trial:
        context = EngineContext(toolchain, frozenset({"derby-10.3.2.1", "derby-10.6.2.1"}), Path("/tmp"), engines_dir)
        offered = [facts["version"] for facts in dbms.adapter(slug).discover(context)]
        version = next(version for version in offered if version.startswith(begin))
        return make_trial(slug, version, dict(DBMSS[slug].settings), engines_dir=engines_dir)

    return make


def canaries(folder: Path) -> dict[str, str]:
    folder.chmod(0o777)
    (folder / "canary").write_text(f"{WORD}\n")
    with sqlite3.connect(folder / "other.db") as made:
        made.execute("CREATE TABLE canary (words TEXT)")
        made.execute("INSERT INTO canary VALUES (?)", [WORD])
    made.close()
    for path in folder.iterdir():
        path.chmod(0o666)
    names = {"canary": "canary", "database": "other.db", "new": "new"}
    return {"folder": str(folder), **{name: str(folder / file) for name, file in names.items()}}


def filled(statements: Sequence[str], canary: Mapping[str, str]) -> list[str]:
    """Without `str.format`: SQL has braces of its own."""
    return [re.sub(r"\{(\w+)\}", lambda match: canary[match[1]], statement) for statement in statements]


def asked(prefix: str, statements: Sequence[str], **more: object) -> list[dict[str, object]]:
    return [
        {"op": "query", "name": f"{prefix}{number}", "sql": sql, "optional": True, **more}
        for number, sql in enumerate(statements)
    ]


def ways(slug: str) -> list[str]:
    names = ["mysql", "mariadb"] if slug == "mariadb" else [slug]
    return [line for name in names for line in (WAYS / f"{name}.txt").read_text().splitlines()]


@pytest.mark.parametrize(("slug", "begin"), INSTALLED)
def test_it_reaches_no_file_no_code_and_nobody_elses_rights(
    slug: str, begin: str, make_engine: MakeTrial, tries: Callable[[int], None]
):
    trial = make_engine(slug, begin)
    folder = trial.folders.backup
    canary = canaries(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    guest = trial.instance.guest()
    assert guest is not None
    sent = []
    tries(len(ways(slug)))
    for way in filled(ways(slug), canary):
        with suppress(JobError):
            guest.check(way)
            sent.append(way)
    own = PREPARED.get(slug, ["CREATE TABLE t (a VARCHAR(99))"])
    prepared = {"op": "execute", "phase": "own", "statements": list(own), "guest": True}
    session = trial.events([prepared, *asked("guest:", [way.removeprefix("+ ") for way in sent], guest=True)])

    assert session.error is None, session.error
    answers = {sql: session.queries[f"guest:{number}"] for number, sql in enumerate(sent)}
    assert [sql for sql, answer in answers.items() if "error" not in answer and not sql.startswith("+")] == []
    assert WORD not in str(answers)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    owner = trial.events([{**prepared, "statements": []}, *asked("owner:", filled(OWNER[slug], canary))])
    told = [owner.queries[f"owner:{number}"] for number in range(len(OWNER[slug]))]
    assert [answer["error"] for answer in told if "error" in answer] == []
    assert slug == "firebird" or WORD in str(told)
    assert (folder / "new-owner").exists()


# It fits the names of the catalogue better than the system's own, which takes texts.
TRAP = """CREATE FUNCTION public.lower(name) RETURNS text AS $$ BEGIN
 ALTER ROLE bench_guest SUPERUSER; RETURN $1::text; END $$ LANGUAGE plpgsql"""


def test_what_the_agent_asks_of_postgresql_calls_no_function_of_a_script(make_engine: MakeTrial):
    trial = make_engine("postgresql", "18")
    own = {"op": "execute", "phase": "own", "statements": ["CREATE TABLE t (a INT)", TRAP], "guest": True}
    source = trial.instance.engine_counters
    queries = {
        **source.schema_queries(["t"]),
        **source.maintenance_queries(["t"]),
        **source.counter_queries(),
        **source.waiting,
        **trial.instance.effective_queries,
        "superuser": "SELECT rolsuper FROM pg_roles WHERE rolname = 'bench_guest'",
        "trapped": "SELECT public.lower('x'::name)",
        "then": "SELECT rolsuper FROM pg_roles WHERE rolname = 'bench_guest'",
    }
    steps = [{"op": "query", "name": name, "sql": sql} for name, sql in queries.items()]
    session = trial.events([own, *steps])
    assert session.error is None, session.error
    assert [row[0] for row in session.rows["tables"]] == ["t"]
    assert session.rows["superuser"] == [[False]]
    assert session.rows["then"] == [[True]], "the trap does not work: this test shows nothing"
