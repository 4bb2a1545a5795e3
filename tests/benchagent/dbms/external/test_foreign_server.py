"""Every workload on servers full of tables of others, which have to be there afterwards as they were."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from benchagent.cli.main import main
from benchagent.dbms.base import JobError
from benchagent.dbms.external import space
from benchagent.dbms.external.connections import Connections, ServerConnection
from benchagent.dbms.external.guard import check, statements
from benchagent.dbms.external.instance import ExternalInstance
from benchagent.dbms.external.own_schema import MARKER
from benchagent.dbms.external.server import external_server
from benchagent.dbms.postgresql.external import RELATIONS
from benchagent.java import JavaToolchain, LoadGenerator
from benchagent.machine.process import Abort
from benchagent.paths import AgentDirs

from tests.benchagent.dbms.external.conftest import AGENT_ID, NAME, SCHEMA, RunOn, Servers, connect_to
from tests.benchagent.dbms.trial import Trial
from tests.whole import whole

pytestmark = pytest.mark.engines
# Named like those of the workloads, so that a name without a schema would hit them.
FOREIGN = (
    "accounts",
    "branches",
    "tellers",
    "history",
    "warehouse",
    "orders",
    "stock",
    "tbl_200",
    "big",
    "precious",
    MARKER,
)
BACKUPS = {"postgresql": "pg_dump_custom", "mariadb": "dump"}
IDENTITY = {"postgresql": "INTEGER GENERATED ALWAYS AS IDENTITY", "mariadb": "INTEGER AUTO_INCREMENT"}
NEXT = {"postgresql": "SELECT nextval('their_numbers')", "mariadb": "SELECT NEXT VALUE FOR their_numbers"}
COLUMNS = (
    "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns "
    f"WHERE table_name IN {FOREIGN} AND table_schema <> '{SCHEMA}' ORDER BY table_name, ordinal_position"
)
# Indexes, views and sequences of everybody but the agent.
DEFINITIONS = {
    "postgresql": (
        f"SELECT schemaname, tablename, indexdef FROM pg_indexes WHERE schemaname <> '{SCHEMA}' ORDER BY 1, 2, 3",
        "SELECT schemaname, viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1, 2",
        f"SELECT schemaname, sequencename, last_value FROM pg_sequences WHERE schemaname <> '{SCHEMA}' ORDER BY 1, 2",
    ),
    "mariadb": (
        "SELECT table_schema, table_name, index_name, column_name, index_type FROM information_schema.statistics "
        f"WHERE table_schema <> '{SCHEMA}' ORDER BY 1, 2, 3, seq_in_index",
        f"SELECT table_name, view_definition FROM information_schema.views WHERE table_schema <> '{SCHEMA}' ORDER BY 1",
        "SELECT * FROM their_numbers",
    ),
}
# Functions that PostgreSQL itself says to have effects or changing results, and SQL can call.
VOLATILE = """
SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile = 'v'
AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
AND NOT 'internal'::regtype = ANY (proargtypes)
"""
# Their results change, or the session alone knows of them.
HARMLESS = {
    "amvalidate", "array_sample", "array_shuffle", "clock_timestamp", "current_query", "currtid2", "currval",
    "gen_random_uuid", "lastval", "plpgsql_call_handler", "plpgsql_validator", "random", "random_normal", "setseed",
    "timeofday", "txid_status", "uuidv4", "uuidv7",
}  # fmt: skip
# With what depends on each other, in an order other than that of the alphabet.
SCRIPT = """
[setup]
CREATE TABLE precious (id INTEGER NOT NULL, v INTEGER);
CREATE TABLE parents (id {identity} PRIMARY KEY);
CREATE TABLE children (p INTEGER, FOREIGN KEY (p) REFERENCES parents (id));
CREATE VIEW z_view AS SELECT x.id FROM parents AS x;
CREATE VIEW a_view AS SELECT z.id FROM z_view AS z;
[load precious 100]
id = sequence
v = constant(0)
[transaction count]
\\set id random(1, 100)
UPDATE precious SET v = v + 1 WHERE id = :id;
"""


def make_foreign(trial: Trial) -> None:
    statements = ["DROP VIEW IF EXISTS their_view", "DROP SEQUENCE IF EXISTS their_numbers"]
    for table in FOREIGN:
        statements.append(f"DROP TABLE IF EXISTS {table}")
        statements.append(f"CREATE TABLE {table} (agent_id VARCHAR(64), made VARCHAR(128), n INTEGER)")
        statements.append(f"CREATE INDEX {table}_made ON {table} (made)")
        statements += [f"INSERT INTO {table} VALUES ('somebody', '{table}', {n})" for n in range(20)]
    statements.append("CREATE VIEW their_view AS SELECT p.n FROM precious p JOIN accounts a ON a.n = p.n")
    statements += ["CREATE SEQUENCE their_numbers START WITH 7", NEXT[trial.slug]]
    session = trial.events([{"op": "execute", "phase": "foreign", "statements": statements}])
    assert session.error is None, session.error


def foreign(trial: Trial) -> list[list[list[Any]]]:
    """First the tables themselves, then columns, indexes, views, sequences and every row of every foreign table."""
    listed = (
        f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema <> '{SCHEMA}' ORDER BY 1, 2"
    )
    rows = (f"SELECT * FROM {table} ORDER BY n" for table in FOREIGN)
    found = trial.query(listed, COLUMNS, *DEFINITIONS[trial.slug], *rows)
    assert all(found)
    return found


def leave_behind(trial: Trial, schema: str) -> None:
    """What a killed job has left: tables, noted in an order that cannot be dropped; and one that was not made yet."""
    notes = ", ".join(f"('{AGENT_ID}', {made})" for made in ("NULL", "'children'", "'precious'", "'x'"))
    left = [
        f"CREATE SCHEMA {schema}",
        f"CREATE TABLE {schema}.{MARKER} (agent_id VARCHAR(64) NOT NULL, made VARCHAR(128))",
        f"INSERT INTO {schema}.{MARKER} VALUES {notes}",
        f"CREATE TABLE {schema}.precious (a INTEGER PRIMARY KEY)",
        f"CREATE TABLE {schema}.children (a INTEGER REFERENCES {schema}.precious)",
    ]
    assert trial.events([{"op": "execute", "phase": "x", "statements": left}]).error is None


def secrets(connection: ServerConnection) -> list[str]:
    host, _, port = connection.url.partition("//")[2].partition("/")[0].partition(":")
    return [connection.password, connection.url, f"{host}:{port}"]


@pytest.fixture
def run_as_shown(
    run_on: RunOn,
    with_tools: AgentDirs,
    toolchain: JavaToolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> RunOn:
    """`run_on` after a dry run of the same, which has to have shown all SQL that the run then sends."""
    # The program sets its own, for the whole process.
    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())
    (with_tools.root / "cache").rmdir()
    (with_tools.root / "cache").symlink_to(toolchain.folder)
    script, check_it = tmp_path / "own.txt", ["connections", "check", NAME, "--dry-run", "--state", with_tools.root]

    def run(dbms: str, workload: str, *, script_text: str = "", **factors: Any) -> dict[str, Any]:
        given = {**factors, **({"script_text": script_text} if script_text else {})}
        script.write_text(script_text)
        asked = [word for name, value in factors.items() for word in ("--factor", f"{name}={value}")]
        small = ["--factor", "warehouse_rows=hundredth"] if workload == "tpcc" else []
        what = ["--script", script] if script_text else ["--workload", workload, *asked, *small]
        capsys.readouterr()
        assert main([str(word) for word in (*check_it, *what)]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        with monkeypatch.context() as patch:
            sent = recorded(patch)
            item = run_on(dbms, workload, **given)
        assert f"SET search_path TO {SCHEMA}" in sent
        assert [sql for sql in sent if sql.startswith("DROP TABLE ")]
        assert [sql for sql in sent if " ".join(f"{sql};".split()) not in shown] == []
        return item

    return run


def recorded(patch: pytest.MonkeyPatch) -> list[str]:
    """All SQL that is given to a load generator from now on."""
    sent: list[str] = []
    start = LoadGenerator.start

    def record(generator: LoadGenerator, job: Mapping[str, Any]) -> None:
        sent.extend([*job.get("session", []), *(sql for step in job["steps"] for sql in statements(step))])
        start(generator, job)

    patch.setattr(LoadGenerator, "start", record)
    return sent


def workloads_of(run_on: RunOn, dbms: str) -> dict[str, dict[str, Any]]:
    items = {
        "tpcb": run_on(dbms, "tpcb", scale_factor=1),
        "tpcc": run_on(dbms, "tpcc", warehouses=1, queries="yes"),
        "inserts_selects": run_on(dbms, "inserts_selects", rows_per_table=100, load="insert", preloaded="full"),
        "backup": run_on(dbms, "backup", dataset_mb=10, verbose="on", method=BACKUPS[dbms]),
        "script": run_on(dbms, "script", script_text=SCRIPT.format(identity=IDENTITY[dbms])),
    }
    if dbms == "mariadb":
        items["selects"] = run_on(dbms, "inserts_selects", rows_per_table=100, load="select_wide")
    return items


@pytest.mark.parametrize("dbms", ["postgresql", *whole("mariadb")])
def test_it_runs_every_workload_and_touches_nothing_of_others(
    dbms: str, servers: Servers, with_tools: AgentDirs, run_on: RunOn, run_as_shown: RunOn
):
    trial = servers(dbms)
    make_foreign(trial)
    before = foreign(trial)
    connection = connect_to(trial, with_tools)
    items = workloads_of(run_as_shown if dbms == "postgresql" else run_on, dbms)
    for workload, item in items.items():
        assert (workload, item["outcome"], item["message"]) == (workload, "finished", "")
        result = item["result"]
        assert result["effective_settings"]
        assert result["durability"]["durability"] == "power_loss"
        assert result["storage"] == []
        assert "db_size_bytes" not in {metric["name"] for metric in result["metrics"]}
        assert any("not sampled" in words for words in result["warnings"])
        for secret in secrets(connection):
            assert secret not in item["everything"]
    backup = items["backup"]["result"]
    assert [check["name"] for check in backup["checks"]] == ["backup_made", "rows_counted", "restored"]
    figures = {metric["name"]: metric["value"] for metric in backup["metrics"]}
    assert 500_000 < figures["backup_bytes"] < 3_000_000
    assert figures["restore_s"] > 0
    assert "backup_data_mb_per_s" not in figures  # the size of the database is not known
    assert foreign(trial) == before
    owner = f"SELECT agent_id, made FROM {SCHEMA}.{MARKER}"
    assert trial.query(owner) == [[[AGENT_ID, None]]]
    tables = f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{SCHEMA}'"
    assert trial.query(tables) == [[[MARKER]]]


def test_it_refuses_a_schema_with_tables_of_others_and_what_a_script_would_do_to_them(
    servers: Servers, registered: AgentDirs, run_on: RunOn
):
    trial = servers("postgresql")
    make_foreign(trial)
    before = foreign(trial)
    connect_to(trial, registered, schema="public")
    item = run_on("postgresql", "tpcb")
    assert item["outcome"] == "failed"
    assert "belongs to another agent" in item["message"]
    Connections(registered.root).remove(NAME)

    trial.events(
        [
            {
                "op": "execute",
                "phase": "x",
                "statements": ["CREATE SCHEMA full_one", "CREATE TYPE full_one.t AS ENUM ('a')"],
            }
        ]
    )
    connect_to(trial, registered, schema="full_one")
    item = run_on("postgresql", "tpcb")
    assert "holds 1 objects that the agent has not made (type t)" in item["message"]
    Connections(registered.root).remove(NAME)

    connection = connect_to(trial, registered)
    script = "[setup]\nDROP TABLE public.precious;\n[transaction one]\nSELECT 1;\n"
    item = run_on("postgresql", "script", script_text=script)
    assert "a statement that names the schema of what it changes is not sent" in item["message"]
    assert foreign(trial)[1:] == before[1:]
    assert connection.password not in item["everything"]


def test_it_finds_all_folders_that_a_server_on_this_machine_writes_to(servers: Servers):
    trial = servers("postgresql")
    data = Path(trial.query("SHOW data_directory")[0][0][0])
    fast = data.with_name("fast")
    fast.mkdir()
    trial.own(fast)
    made = [f"CREATE TABLESPACE fast LOCATION '{fast}'"]
    assert trial.events([{"op": "execute", "phase": "x", "statements": made}]).error is None
    assert told_of(trial) == space.Watched(
        {data: "data_directory", data / "pg_wal": "the log (pg_wal)", fast: "tablespace fast"}
    )

    trial = servers("mariadb")
    data, temporary = (Path(path) for path in trial.query("SELECT @@datadir, @@tmpdir")[0][0])
    assert {data, temporary} <= set(told_of(trial).folders)
    assert told_of(trial).unwatched == ""


def told_of(trial: Trial) -> space.Watched:
    server = external_server(trial.slug, trial.version, SCHEMA)
    return space.watched(server.read_folders(trial.query(server.folders)[0]), here=True)


def test_it_lets_through_no_function_of_postgresql_that_changes_anything(servers: Servers):
    passed = set()
    for (name,) in servers("postgresql").query(VOLATILE)[0]:
        try:
            check(f"SELECT {name}(1)")
            passed.add(name)
        except JobError as error:
            assert "not sent to a server of others" in str(error)
    assert passed <= HARMLESS


def test_it_drops_what_a_killed_run_has_left_before_the_next(servers: Servers, registered: AgentDirs, run_on: RunOn):
    trial, schema = servers("postgresql"), "left_behind"
    connect_to(trial, registered, schema=schema)
    leave_behind(trial, schema)
    item = run_on("postgresql", "script", script_text=SCRIPT.format(identity="SERIAL"))
    assert (item["outcome"], item["message"]) == ("finished", "")
    assert trial.query(f"SELECT made FROM {schema}.{MARKER}") == [[[None]]]


def test_it_leaves_nothing_of_a_job_that_is_cancelled_while_it_measures(
    servers: Servers, registered: AgentDirs, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
):
    trial, schema, abort = servers("postgresql"), "cancelled", Abort()
    connect_to(trial, registered, schema=schema)
    seen, there = ExternalInstance.seen, []

    def cancel(instance: ExternalInstance, event: Mapping[str, Any]) -> Mapping[str, Any]:
        if event["event"] == "second" and not abort.requested:
            there.extend(trial.query(f"SELECT made FROM {schema}.{MARKER} WHERE made IS NOT NULL")[0])
            abort.request("cancelled", "by its owner")
        return seen(instance, event)

    monkeypatch.setattr(ExternalInstance, "seen", cancel)
    item = run_on("postgresql", "tpcb", scale_factor=1, duration_s=60, abort=abort)
    assert (item["outcome"], item["message"]) == ("cancelled", "by its owner")
    assert len(there) == 4
    assert trial.query(RELATIONS.format(schema=schema), f"SELECT made FROM {schema}.{MARKER}") == [[[MARKER]], [[None]]]


def test_it_says_without_secrets_why_there_is_no_connection_and_sets_nothing(
    servers: Servers, registered: AgentDirs, run_on: RunOn
):
    trial = servers("postgresql")
    right = connect_to(trial, registered)
    item = run_on("postgresql", "tpcb", group_commit="2")
    assert "nothing is set, copied or started anew" in item["message"]
    file = Connections(registered.root)
    file.remove(NAME)
    wrong = ServerConnection(NAME, "postgresql", right.url, "nobody-there", "open-sesame", SCHEMA, right.version)
    file.add(wrong)
    item = run_on("postgresql", "tpcb", settings=[("fsync", "off")])
    assert item["outcome"] == "failed"
    assert f"connection {NAME}" in item["message"]
    assert "no pg_hba.conf entry" in item["message"]
    for secret in ("nobody-there", "open-sesame", *secrets(right)):
        assert secret not in item["everything"]


@pytest.mark.parametrize("asked_for", ["1.2", "unknown"])
def test_it_runs_on_no_other_version_than_was_asked_for(
    asked_for: str, servers: Servers, registered: AgentDirs, run_on: RunOn
):
    """A server that was upgraded, or never checked: its numbers would stand under a version that it is not."""
    trial, schema = servers("postgresql"), "upgraded"
    connect_to(trial, registered, schema=schema)
    item = run_on("postgresql", "tpcb", dbms_version=asked_for)
    assert item["outcome"] == "failed"
    assert f"the server is PostgreSQL {trial.version}, the run is of {asked_for}:" in item["message"]
    assert f"`benchagent connections check {NAME}`" in item["message"]
    assert trial.query(f"SELECT COUNT(*) FROM pg_namespace WHERE nspname = '{schema}'") == [[[0]]]


def test_it_stops_a_run_when_the_server_runs_out_of_space(
    servers: Servers, registered: AgentDirs, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
):
    trial, schema = servers("postgresql"), "full_disk"
    connect_to(trial, registered, schema=schema)
    leave_behind(trial, schema)
    monkeypatch.setattr("benchagent.dbms.external.space.SMALLEST_BYTES", 10**18)
    item = run_on("postgresql", "tpcb", scale_factor=1)
    assert item["outcome"] == "failed"
    assert "of space are left on the server (data_directory)" in item["message"]
    assert trial.query(RELATIONS.format(schema=schema)) == [[[MARKER]]]  # room was made, for what comes next


def test_it_stops_a_run_while_it_measures_when_the_server_runs_out_of_space(
    servers: Servers, registered: AgentDirs, run_on: RunOn, monkeypatch: pytest.MonkeyPatch
):
    trial, schema = servers("postgresql"), "filling_disk"
    connect_to(trial, registered, schema=schema)
    monkeypatch.setattr(space, "EACH_S", 0.1)
    seen, seconds = ExternalInstance.seen, []

    def fill(instance: ExternalInstance, event: Mapping[str, Any]) -> Mapping[str, Any]:
        if event["event"] == "second":
            seconds.append(event["t"])
            space.SMALLEST_BYTES = 10**18
        return seen(instance, event)

    monkeypatch.setattr(space, "SMALLEST_BYTES", 0)
    monkeypatch.setattr(ExternalInstance, "seen", fill)
    item = run_on("postgresql", "tpcb", scale_factor=1, duration_s=60)
    assert item["outcome"] == "failed"
    assert item["message"].startswith("stopped: ")
    assert "of space are left on the server (data_directory)" in item["message"]
    assert 1 <= len(seconds) < 30
    assert not any("not watched" in words for words in item["result"]["warnings"])
    assert trial.query(RELATIONS.format(schema=schema)) == [[[MARKER]]]
