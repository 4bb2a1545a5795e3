"""H2 and HSQLDB as servers of others, full of tables that nobody may touch."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from benchagent.catalog import Durability
from benchagent.configfiles.meaning import of_effective
from benchagent.dbms.embedded import jars
from benchagent.dbms.external.connections import Connections, ServerConnection
from benchagent.dbms.external.own_schema import Asker
from benchagent.dbms.external.server import external_server
from benchagent.dbms.external.space import Watched, watched
from benchagent.java import JavaToolchain
from benchagent.machine.process import Children
from benchagent.paths import AgentDirs

from tests.benchagent.dbms.external.conftest import NAME, SCHEMA, RunOn
from tests.benchagent.dbms.external.java_server import running
from tests.whole import whole_but

pytestmark = pytest.mark.engines
FOREIGN = ("accounts", "history", "precious")
SERVERS = {
    "h2": ("jdbc:h2:tcp://127.0.0.1:{port}/./shop", "sa", ["org.h2.tools.Server", "-tcp", "-ifNotExists", "-tcpPort"]),
    "hsqldb": (
        "jdbc:hsqldb:hsql://127.0.0.1:{port}/shop",
        "SA",
        [
            *("org.hsqldb.server.Server", "--database.0", "file:shop", "--dbname.0", "shop"),
            *("--database.1", "mem:passing", "--dbname.1", "passing", "--port"),
        ],
    ),
}
IN_MEMORY = {
    "h2": "jdbc:h2:tcp://127.0.0.1:{port}/mem:passing",
    "hsqldb": "jdbc:hsqldb:hsql://127.0.0.1:{port}/passing",
}


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="benchagent-java-"))
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("dbms", whole_but(("hsqldb",), SERVERS))
def test_it_runs_on_a_java_server_and_touches_nothing_of_others(
    dbms: str, folder: Path, toolchain: JavaToolchain, registered: AgentDirs, run_on: RunOn
):
    url, user, main = SERVERS[dbms]
    class_path = jars(toolchain, dbms)
    more = ["-baseDir", "."] if dbms == "h2" else []
    with running(toolchain, class_path, main, folder, *more) as port:
        connection = ServerConnection(NAME, dbms, url.format(port=port), user, "", SCHEMA, "2.0")
        Connections(registered.root).add(connection)
        (folder / "tmp").mkdir()
        asker = Asker(connection, external_server(dbms, "2.0", SCHEMA), class_path, toolchain, Children(folder), folder)
        made = [f"CREATE TABLE {table} (n INTEGER)" for table in FOREIGN]
        asker.execute([*made, *(f"INSERT INTO {table} VALUES ({n})" for table in FOREIGN for n in range(9))])
        rows = {table: f"SELECT n FROM {table} ORDER BY n" for table in FOREIGN}
        item = run_on(dbms, "tpcb", scale_factor=1)
        assert (item["outcome"], item["message"]) == ("finished", "")
        assert dict(item["result"]["effective_settings"])["storage"] == "file"
        assert not any("not watched" in words for words in item["result"]["warnings"])
        told = asker.server.read_folders(asker.ask({"folders": asker.server.folders}).rows["folders"] or ())
        assert [Path(path) for _, path in told] == [folder]
        assert {table["table"] for table in item["result"]["statistics"]["tables"]} >= {"accounts", "history"}
        assert asker.ask(rows).rows == {table: [[n] for n in range(9)] for table in FOREIGN}

        elsewhere = replace(asker, connection=replace(connection, url=IN_MEMORY[dbms].format(port=port)))
        found = elsewhere.ask({**asker.server.effective_queries, "folders": asker.server.folders})
        assert not found.errors
        assert (
            watched(asker.server.read_folders(found.rows["folders"] or ()), here=True) == Watched()
        )  # no disk to fill
        told = asker.server.in_force({name: rows for name, rows in found.rows.items() if rows is not None})
        assert of_effective(dbms, dict(told))[0] is Durability.MEMORY
