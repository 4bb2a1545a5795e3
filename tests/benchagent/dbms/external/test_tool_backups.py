"""How tools are called for a server of others: what their arguments, files and surroundings hold."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchagent.catalog import WORKLOADS
from benchagent.dbms.backup import Action, BackupMethod, ToolCommand
from benchagent.dbms.base import JobError
from benchagent.dbms.external import Visit
from benchagent.dbms.external.connections import ServerConnection, ToolLogin
from benchagent.dbms.external.own_schema import Answers, Asker, Target
from benchagent.dbms.external.server import MARKER, external_server
from benchagent.dbms.mysql import discovery as mysql
from benchagent.dbms.postgresql import discovery as postgresql
from benchagent.java import JavaToolchain
from benchagent.job.dryrun import planned
from benchagent.machine.process import Children
from benchagent.workloads import workload

PASSWORD = 'o:p\\e"n#'
URLS = {
    "postgresql": "jdbc:postgresql://db.example:5433/shop?sslmode=require",
    "mariadb": "jdbc:mariadb://db.example:3307/?sslMode=verify-full&serverSslCert=/etc/ca.pem",
    "mysql": "jdbc:mysql://db.example/?useSSL=false",
}


def tool_login(dbms: str, folder: Path, *, version: str = "15.3", url: str = "") -> ToolLogin:
    connection = ServerConnection("theirs", dbms, url or URLS[dbms], "ann", PASSWORD, "own", version)
    return ToolLogin(connection, version, folder / "engines", folder / "login")


def methods(found: ToolLogin) -> dict[str, BackupMethod]:
    server = external_server(found.connection.dbms, found.version, found.connection.schema)
    return {method.slug: method for method in server.backups(found)}


def commands(actions: Sequence[Action]) -> list[str]:
    return [" ".join(map(str, action.argv)) for action in actions if isinstance(action, ToolCommand)]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One folder as search path, and the usual places empty: tools of one PostgreSQL and one MariaDB, no server."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("pg_dump", "pg_restore", "psql"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) 15.7'\n")
    for name in ("mariadb-dump", "mariadb"):
        (folder / name).write_text("#!/bin/sh\n")
    for file in folder.iterdir():
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv(postgresql.DIRS_VARIABLE, str(folder))
    for variable in mysql.DIRS_VARIABLES.values():
        monkeypatch.setenv(variable, "")
    return folder


def test_postgresqls_tools_find_the_login_in_private_files_and_dump_the_own_tables_only(tools: Path, tmp_path: Path):
    found = tool_login("postgresql", tmp_path)
    custom = methods(found)["pg_dump_custom"]
    source = tmp_path / "backup"
    (dump,) = custom.backup(source, {"verbose": "on"})
    assert commands([dump]) == [f"{tools}/pg_dump -w -F c -f {source} -t own.* -T own.{MARKER} -v service=theirs"]
    assert commands(custom.restore(source, tmp_path)) == [
        f"{tools}/pg_restore -w --exit-on-error -d service=theirs {source}"
    ]
    assert isinstance(dump, ToolCommand)
    assert PASSWORD not in str(dump)
    service = Path(dump.environment["PGSERVICEFILE"])
    assert service.read_text().splitlines() == [
        "[theirs]", "host=db.example", "port=5433", "dbname=shop", "user=ann", "connect_timeout=30", "sslmode=require",
    ]  # fmt: skip
    password = Path(dump.environment["PGPASSFILE"])
    assert password.read_text() == '*:*:*:*:o\\:p\\\\e"n#\n'
    assert {stat.S_IMODE(file.stat().st_mode) for file in (service, password)} == {0o600}
    found.forget()
    assert not service.parent.exists()


def test_the_other_formats_of_postgresql(tools: Path, tmp_path: Path):
    offered = methods(tool_login("postgresql", tmp_path))
    assert list(offered) == ["pg_dump_plain", "pg_dump_custom", "pg_dump_directory"]
    assert " -F d -f x " in commands(offered["pg_dump_directory"].backup(Path("x"), {}))[0]
    assert " -j 3 " in commands(offered["pg_dump_directory"].backup(Path("x"), {"jobs": "3"}))[0]
    (restore,) = commands(offered["pg_dump_plain"].restore(Path("x"), tmp_path))
    assert restore == f"{tools}/psql -w -X -q -v ON_ERROR_STOP=1 -o /dev/null -d service=theirs -f x"


@pytest.mark.parametrize(
    ("url", "lines"),
    [
        ("jdbc:postgresql:shop", ["host=localhost", "port=5432", "dbname=shop"]),
        ("jdbc:postgresql://[::1]/", ["host=::1", "port=5432", "dbname=ann"]),
        ("jdbc:postgresql://h/x?ssl=true&sslrootcert=/r", ["host=h", "sslmode=verify-full", "sslrootcert=/r"]),
    ],
)
def test_they_connect_as_the_driver_would(url: str, lines: list[str], tools: Path, tmp_path: Path):
    found = tool_login("postgresql", tmp_path, url=url)
    methods(found)
    assert set(lines) <= set((found.folder / "pg_service.conf").read_text().splitlines())


@pytest.mark.parametrize(
    ("dbms", "url"),
    [("postgresql", "jdbc:postgresql://one,two/x"), ("mariadb", "jdbc:mariadb:loadbalance://one:1,two:2/x")],
)
def test_an_url_that_only_a_driver_understands_is_refused_and_not_shown(dbms: str, url: str, tools: Path, tmp_path):
    with pytest.raises(JobError, match=r"connection theirs: a backup needs a URL with one host, as jdbc:…"):
        methods(tool_login(dbms, tmp_path, url=url))


@pytest.mark.parametrize(
    ("dbms", "told"),
    [
        ("mariadb", ['port="3307"', "loose-ssl", "loose-ssl-verify-server-cert", 'loose-ssl-ca="/etc/ca.pem"']),
        ("mysql", ['port="3306"', "loose-skip-ssl", "loose-ssl-mode=DISABLED"]),
    ],
)
def test_the_tools_of_the_mysql_family_find_it_in_an_option_file(dbms: str, told: list[str], tools: Path, tmp_path):
    found = tool_login(dbms, tmp_path)
    (method,) = methods(found).values()
    source, file = tmp_path / "backup", found.folder / "client.cnf"
    (dump,) = method.backup(source, {})
    assert isinstance(dump, ToolCommand)
    assert dump.stdout == source
    (line,) = commands([dump])
    assert line.startswith(f"{tools}/mariadb-dump --defaults-file={file} --single-transaction ")
    assert line.endswith(f" --ignore-table=own.{MARKER} own")
    assert commands(method.restore(source, tmp_path)) == [f"{tools}/mariadb --defaults-file={file} own"]
    lines = file.read_text().splitlines()
    assert {'host="db.example"', 'user="ann"', 'password="o:p\\\\e\\"n#"', *told} <= set(lines)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("dbms", "words"),
    [
        ("postgresql", "needs pg_dump, pg_restore, psql of PostgreSQL 14 for a backup of connection theirs; .*: 15.7"),
        ("mariadb", "needs mariadb-dump or mysqldump, and mariadb or mysql, for a backup of connection theirs"),
        ("firebird", "Firebird backs up or restores whole databases, not the agent's schema alone"),
    ],
)
def test_it_says_which_tool_is_missing(dbms: str, words: str, tools: Path, tmp_path: Path):
    (tools / "mariadb").unlink()
    with pytest.raises(JobError, match=words):
        methods(tool_login(dbms, tmp_path, version="14.2", url="jdbc:x://h/y"))


def lines_planned(dbms: str, version: str, folder: Path) -> list[str]:
    """Of a dry run of the workload `backup`, without a server."""
    connection = ServerConnection("theirs", dbms, URLS.get(dbms, "jdbc:x"), "ann", PASSWORD, "own", version)
    server = external_server(dbms, version, "own")
    asker = Asker(connection, server, (), JavaToolchain(folder), Children(folder), folder)
    visit = Visit(asker, Target(server, "theirs", "own", "agent"), Answers())
    found = planned(workload("backup", WORKLOADS["backup"].version), visit, folder / "engines")
    return [line for _, lines in found for line in lines]


def test_a_dry_run_shows_the_commands_in_their_place_among_the_sql(tools: Path, tmp_path: Path):
    lines = lines_planned("mariadb", "10.11.2", tmp_path)
    dump, restore = [number for number, line in enumerate(lines) if line.startswith("$")]
    assert lines[dump].startswith(f"$ {tools}/mariadb-dump --defaults-file=JOB/login/client.cnf --single-transaction")
    assert lines[dump].endswith("own > JOB/backup")
    assert lines[restore] == f"$ {tools}/mariadb --defaults-file=JOB/login/client.cnf own < JOB/backup"
    assert lines.index("CREATE INDEX big_parent ON big (parent);") < dump < lines.index("DROP TABLE big;") < restore
    assert restore < len(lines) - 1 - lines[::-1].index("SELECT COUNT(*) FROM big;")
    assert not [line for line in lines if PASSWORD in line or "db.example" in line]


def test_a_dry_run_shows_what_no_job_runs(tmp_path: Path):
    lines = lines_planned("oracle", "19.3", tmp_path)
    assert [line for line in lines if line.startswith("$") and "BACKUP DATABASE FORMAT" in line]
