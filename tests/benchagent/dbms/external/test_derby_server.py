"""Derby's network server as a server of others, full of tables that nobody may touch."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.cli.main import main
from benchagent.dbms.base import EngineContext
from benchagent.dbms.embedded import jars
from benchagent.dbms.external.connections import Connections, ServerConnection
from benchagent.dbms.external.own_schema import Asker
from benchagent.dbms.external.server import MARKER, external_server
from benchagent.dbms.external.space import NOT_WATCHED
from benchagent.java import JavaToolchain
from benchagent.java.jars import tool_jars
from benchagent.machine.process import Children
from benchagent.paths import AgentDirs

from tests.benchagent.dbms.external.conftest import AGENT_ID, NAME, SCHEMA, RunOn
from tests.benchagent.dbms.external.java_server import running
from tests.benchagent.dbms.external.test_foreign_server import SCRIPT

pytestmark = pytest.mark.engines
USER, VERSION = "shop_owner", "10.16.1.1"
# Quick to start, and without a sync at commit, of which the runs are told nothing.
OPTIONS = ["-XX:TieredStopAtLevel=1", "-Dderby.system.durability=test"]
START = ["org.apache.derby.drda.NetworkServerControl", "start", "-noSecurityManager", "-h", "127.0.0.1", "-p"]
FOREIGN = ("accounts", "history", "warehouse", "big", "precious", MARKER)
THEIRS = {table: f"SELECT agent_id, made, n FROM {USER}.{table} ORDER BY n" for table in FOREIGN} | {
    "all": "SELECT S.SCHEMANAME, T.TABLENAME, T.TABLETYPE FROM SYS.SYSTABLES T JOIN SYS.SYSSCHEMAS S "
    f"ON S.SCHEMAID = T.SCHEMAID WHERE T.TABLETYPE <> 'S' AND S.SCHEMANAME <> '{SCHEMA.upper()}' ORDER BY 1, 2"
}
OWN_TABLES = (
    "SELECT TABLENAME FROM SYS.SYSTABLES T JOIN SYS.SYSSCHEMAS S ON S.SCHEMAID = T.SCHEMAID "
    f"WHERE SCHEMANAME = '{SCHEMA.upper()}'"
)
OF_EACH_KIND = {
    "t": "CREATE TABLE full_one.t (n INTEGER)",
    "v": "CREATE VIEW full_one.v AS SELECT n FROM full_one.t",
    "routine f": "CREATE FUNCTION full_one.f (x DOUBLE) RETURNS DOUBLE PARAMETER STYLE JAVA NO SQL LANGUAGE JAVA "
    "EXTERNAL NAME 'java.lang.Math.sqrt'",
    "routine p": "CREATE PROCEDURE full_one.p () PARAMETER STYLE JAVA LANGUAGE JAVA "
    "EXTERNAL NAME 'java.lang.System.gc'",
    "type u": "CREATE TYPE full_one.u EXTERNAL NAME 'java.util.Locale' LANGUAGE JAVA",
    "synonym s": "CREATE SYNONYM full_one.s FOR full_one.t",
    "sequence q": "CREATE SEQUENCE full_one.q",
    "trigger r": "CREATE TRIGGER full_one.r AFTER INSERT ON full_one.t FOR EACH STATEMENT DELETE FROM full_one.t",
}


@pytest.fixture(scope="module")
def url(toolchain: JavaToolchain) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="benchagent-derby-"))
    class_path = [*jars(toolchain, "derby", VERSION), *toolchain.store.files(tool_jars("derbynet"))]
    try:
        with running(toolchain, class_path, [*OPTIONS, *START], folder) as port:
            yield f"jdbc:derby://127.0.0.1:{port}/shop;create=true"
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def asker(url: str, registered: AgentDirs, toolchain: JavaToolchain, tmp_path: Path) -> Asker:
    """Of the owner of the database; the agent has the connection that it is given by `name_it`."""
    connection = ServerConnection("owner", "derby", url, USER, "open-sesame", USER)
    server = external_server("derby", VERSION, USER)
    class_path = jars(toolchain, "derby", server.driver, driver=True)
    return Asker(connection, server, class_path, toolchain, Children(tmp_path), tmp_path)


def name_it(dirs: AgentDirs, url: str, schema: str = SCHEMA) -> None:
    Connections(dirs.root).add(ServerConnection(NAME, "derby", url, USER, "open-sesame", schema))


def call(dirs: AgentDirs, *words: str) -> int:
    return main(["connections", *words, "--state", str(dirs.root)])


def test_it_runs_every_workload_and_touches_nothing_of_others(
    asker: Asker, url: str, registered: AgentDirs, run_on: RunOn
):
    for table in FOREIGN:
        rows = ", ".join(f"('somebody', '{table}', {n})" for n in range(9))
        made = f"CREATE TABLE {table} (agent_id VARCHAR(64), made VARCHAR(128), n INTEGER)"
        asker.execute([made, f"INSERT INTO {table} VALUES {rows}"])
    asker.execute(["CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.locks.waitTimeout', '33')"])
    before = asker.ask(THEIRS)
    assert not before.errors
    name_it(registered, url)
    items = {
        "tpcb": run_on("derby", "tpcb", scale_factor=1),
        "tpcc": run_on("derby", "tpcc", warehouses=1, queries="yes"),
        "inserts_selects": run_on("derby", "inserts_selects", rows_per_table=100, load="insert", preloaded="full"),
        "script": run_on("derby", "script", script_text=SCRIPT.format(identity="INTEGER GENERATED ALWAYS AS IDENTITY")),
    }
    for workload, item in items.items():
        assert (workload, item["outcome"], item["message"]) == (workload, "finished", "")
        result = item["result"]
        assert dict(result["effective_settings"]) == {"derby.locks.waitTimeout": "33", "derby.storage.pageSize": "4096"}
        assert result["durability"]["durability"] == "none"
        assert "durability not stated, and Derby's SQL does not tell it" in result["durability"]["reason"]
        assert NOT_WATCHED in result["warnings"]
        for secret in ("open-sesame", USER, url.partition("//")[2].partition("/")[0]):
            assert secret not in item["everything"]
    told = items["tpcb"]["result"]["statistics"]
    assert {table["table"]: table["size_bytes"] for table in told["tables"]}["accounts"] > 100_000
    assert asker.ask(THEIRS).rows == before.rows
    left = asker.ask({"tables": OWN_TABLES, "owner": f"SELECT agent_id, made FROM {SCHEMA}.{MARKER}"})
    assert left.rows == {"tables": [[MARKER.upper()]], "owner": [[AGENT_ID, None]]}


def test_it_refuses_a_schema_with_whatever_there_is_of_others(
    asker: Asker, url: str, registered: AgentDirs, run_on: RunOn
):
    asker.execute(["CREATE SCHEMA full_one", *OF_EACH_KIND.values()])
    listed = asker.ask({"objects": asker.server.objects.format(schema="full_one")}).rows["objects"]
    assert {str(row[0]).lower() for row in listed or []} == set(OF_EACH_KIND)
    name_it(registered, url, "full_one")
    item = run_on("derby", "tpcb")
    assert item["outcome"] == "failed"
    assert f"holds {len(OF_EACH_KIND)} objects that the agent has not made (routine f, routine p," in item["message"]


def test_it_shows_its_sql_sends_none_of_it_and_cleans_up_what_a_killed_run_has_left(
    asker: Asker, url: str, registered: AgentDirs, toolchain: JavaToolchain, monkeypatch: pytest.MonkeyPatch, capsys
):
    # The program sets its own temporary folder, for the whole process.
    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())
    (registered.root / "cache").rmdir()
    (registered.root / "cache").symlink_to(toolchain.folder)
    name_it(registered, url, "dry")
    assert call(registered, "check", NAME, "--workload", "backup", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert f"Apache Derby {VERSION} answers" in shown
    assert "CREATE SCHEMA dry;" in shown
    assert "CALL SYSCS_UTIL.SYSCS_UPDATE_STATISTICS('DRY'," in shown
    assert "CALL SYSCS_UTIL.SYSCS_BACKUP_DATABASE('JOB/" in shown
    assert "createFrom=JOB/" in shown
    schemas = {"schemas": "SELECT SCHEMANAME FROM SYS.SYSSCHEMAS WHERE SCHEMANAME = 'DRY'"}
    assert asker.ask(schemas).rows == {"schemas": []}

    asker.execute(
        [
            "CREATE SCHEMA dry",
            f"CREATE TABLE dry.{MARKER} (agent_id VARCHAR(64) NOT NULL, made VARCHAR(128))",
            f"INSERT INTO dry.{MARKER} VALUES ('{AGENT_ID}', NULL), ('{AGENT_ID}', 'b'), ('{AGENT_ID}', 'a')",
            "CREATE TABLE dry.a (n INTEGER NOT NULL PRIMARY KEY)",
            "CREATE TABLE dry.b (n INTEGER REFERENCES dry.a)",
        ]
    )
    assert call(registered, "clean", NAME) == 0
    assert "what the agent had made is gone" in capsys.readouterr().out
    left = asker.ask({"owner": f"SELECT agent_id, made FROM dry.{MARKER}", "b": "SELECT n FROM dry.b"})
    assert left.rows == {"owner": [[AGENT_ID, None]], "b": None}


def test_its_driver_is_not_offered_as_an_engine(toolchain: JavaToolchain, tmp_path: Path):
    installed = EngineContext(toolchain, frozenset((f"derby-jdbc-{VERSION}",)), tmp_path, tmp_path)
    assert [facts["version"] for facts in dbms.adapter("derby").discover(installed)] == [VERSION]
