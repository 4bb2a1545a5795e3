"""Free space: that a server tells by a query, as Oracle and Db2 do, and that of its folders on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchagent.dbms import probes
from benchagent.dbms.external import Visit
from benchagent.dbms.external.connections import ServerConnection
from benchagent.dbms.external.instance import ExternalInstance, outgoing
from benchagent.dbms.external.own_schema import Answers, Asker, Target
from benchagent.dbms.external.server import external_server
from benchagent.dbms.external.space import (
    FAR,
    IN_MEMORY,
    NOT_WATCHED,
    SPACE,
    Watched,
    is_told,
    shortage,
    told_shortage,
    watched,
)
from benchagent.dbms.mysql.external import read_folders
from benchagent.java import JavaToolchain
from benchagent.machine.process import Abort, Children

TARGET = Target(external_server("db2", "11.5", "own"), "theirs", "own", "agent-1")
QUERY = "SELECT free, total FROM space"


@pytest.mark.parametrize(
    ("free", "total", "words"),
    [
        (4e9, 1e10, "4.0 GB of space are left"),
        (6e9, 1e12, "0.6 % of the server's space"),
        (5e11, 1e12, ""),
        (6e9, 0, ""),
    ],
)
def test_it_wants_5_gb_and_10_percent_of_the_servers_space(free: float, total: float, words: str):
    found = shortage(free, total)
    assert words in found
    assert bool(found) == bool(words)


def test_each_place_has_to_have_enough_of_its_own():
    assert told_shortage([[6e9, 6e9], [8e9, 1e12]]) == "0.8 % of the server's space are left, less than 10%"
    assert told_shortage([[6e9, 6e9], [None, None]]) == ""
    assert is_told([[6e9, 6e9], [None, None]])
    assert not is_told([[None, None]])
    assert not is_told(None)


def test_it_is_asked_for_during_load_and_run_and_after_what_may_take_a_lot():
    steps = [{"op": "execute", "phase": "create", "statements": ["CREATE TABLE a (n INTEGER)"]}, {"op": "load"}]
    steps += [{"op": "run", "sampled": {"waits:w": "SELECT 1"}}, {"op": "query", "name": "x", "sql": "SELECT 1"}]
    create, after, load, loaded, run, query = [part for step in steps for part in outgoing(step, TARGET, QUERY)]
    assert after == loaded == {"op": "query", "phase": probes.PHASE, "name": SPACE, "sql": QUERY, "optional": True}
    assert load["sampled"] == {SPACE: QUERY}
    assert run["sampled"] == {"waits:w": "SELECT 1", SPACE: QUERY}
    assert [create["op"], query] == ["execute", steps[-1]]
    assert [part["op"] for step in steps for part in outgoing(step, TARGET, "")] == [step["op"] for step in steps]


def test_it_watches_each_folder_that_is_on_this_machine_and_names_the_others(tmp_path: Path):
    (tmp_path / "data" / "pg_wal").mkdir(parents=True)
    data, elsewhere = str(tmp_path / "data"), str(tmp_path / "nowhere")
    told = [("data", data), ("log", "pg_wal"), ("again", data), ("fast", elsewhere), ("temp", "")]
    found = watched(told, here=True)
    assert found.folders == {tmp_path / "data": "data", tmp_path / "data" / "pg_wal": "log"}
    assert found.unwatched.startswith("free space not watched of fast, temp: not told, or not to be found")
    assert watched(told[:3], here=True).unwatched == ""
    assert watched(told, here=False) == Watched(unwatched=FAR)
    assert watched([("data", ""), ("log", "")], here=True) == watched([], here=True) == Watched(unwatched=NOT_WATCHED)
    # A folder for temporary files is there on each machine: beside the data of a container it is somebody else's.
    assert (
        "folder of data (data) is not to be found" in watched([("data", elsewhere), ("t", data)], here=True).unwatched
    )
    assert watched([("data", elsewhere), ("t", data)], here=True).folders == {}
    # PostgreSQL tells its tablespaces to everybody, its folder not.
    assert watched([("data", ""), ("fast", data)], here=True) == Watched(unwatched=NOT_WATCHED)
    assert watched([("data", IN_MEMORY)], here=True) == watched([("data", IN_MEMORY)], here=False) == Watched()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_it_looks_at_no_folder_here_of_a_server_behind_a_tunnel(
    elsewhere: bool, tmp_path: Path, toolchain: JavaToolchain
):
    url = "jdbc:postgresql://127.0.0.1:1/shop"
    connection = ServerConnection("theirs", "postgresql", url, "ann", "open-sesame", "own", elsewhere=elsewhere)
    asker = Asker(connection, external_server("postgresql", "18", "own"), [], toolchain, Children(tmp_path), tmp_path)
    found = Visit(asker, TARGET, Answers({"folders": [["data", str(tmp_path)]]}))
    assert found.watched == (Watched(unwatched=FAR) if elsewhere else Watched({tmp_path: "data"}))


def test_one_folder_with_too_little_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data, log, small = tmp_path / "data", tmp_path / "log", tmp_path / "small"
    usage = {data: (1e12, 5e11), log: (1e12, 8e9), small: (1e9, 9e8)}
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(total=usage[path][0], free=usage[path][1]))
    assert Watched({data: "data", small: "tmpdir"}).shortage() == ""  # a small one for temporary files is enough
    assert Watched({data: "d", log: "log"}).shortage() == "0.8 % of the server's space are left (log), less than 10%"
    assert Watched({small: "d"}).shortage() == "0.9 GB of space are left on the server (d), less than 5 GB"


def test_it_reads_the_folders_of_mysql_from_its_variables():
    rows = [
        ["datadir", "/data/"], ["innodb_data_home_dir", None], ["tmpdir", "/tmp:/fast"],
        ["innodb_data_file_path", "ibdata1:12M;/more/ib2:1G;/dev/sdb1:3Graw"],
        ["innodb_log_group_home_dir", "./"], ["innodb_undo_directory", "/undo"],
        ["innodb_tmpdir", ""], ["log_bin_basename", "/binlog/bin"], ["aria_log_dir_path", "/data/"],
    ]  # fmt: skip
    assert read_folders(rows) == [
        ("datadir", "/data/"), ("innodb_log_group_home_dir", "./"), ("innodb_undo_directory", "/undo"),
        ("aria_log_dir_path", "/data/"), ("tmpdir", "/tmp"), ("tmpdir", "/fast"), ("innodb_data_file_path", "/more"),
        ("log_bin_basename", "/binlog"),
    ]  # fmt: skip
    assert read_folders([]) == [("datadir", "")]


def test_it_reads_the_folder_of_a_cubrid_database_from_the_header_of_its_first_volume():
    told = external_server("cubrid", "11.3", "own").read_folders(
        [[0, "MAGIC", 16384, "(0|41|50)", "/db/shop/shop", "", None]]
    )
    assert told == [("the first volume", "/db/shop"), ("other volumes and the log", "")]


@pytest.fixture
def instance(tmp_path: Path, toolchain: JavaToolchain) -> ExternalInstance:
    return instance_of("jdbc:db2://db.example:1/shop", tmp_path, toolchain)


def instance_of(url: str, tmp_path: Path, toolchain: JavaToolchain, *, elsewhere: bool = False) -> ExternalInstance:
    connection = ServerConnection("theirs", "db2", url, "ann", "open-sesame", "own", elsewhere=elsewhere)
    server = replace(TARGET.server, free_space=QUERY)
    asker = Asker(connection, server, [], toolchain, Children(tmp_path), tmp_path)
    folders, plain = SimpleNamespace(data=tmp_path), {"settings": [], "engines_dir": tmp_path, "job_dir": tmp_path}
    request: Any = SimpleNamespace(**plain, folders=folders, abort=Abort(), log=lambda line: None)
    return ExternalInstance(request, Visit(asker, TARGET, Answers({SPACE: [[9e9, 1e10]]})))


@pytest.mark.parametrize("event", ["query", "sampled"])
def test_a_server_that_runs_out_of_space_stops_the_job(event: str, instance: ExternalInstance):
    answer = {"event": event, "name": SPACE, "t": 7, "rows": [[9e9, 1e10]]}
    assert instance.seen(answer) == {"event": SPACE}  # nothing that was measured
    abort = instance._request.abort
    assert not abort.requested
    instance.seen({**answer, "rows": [[4e9, 1e10]]})
    assert (abort.outcome, abort.message) == (
        "failed", "stopped: 4.0 GB of space are left on the server, less than 5 GB",
    )  # fmt: skip


def test_a_run_says_whether_its_server_is_on_the_same_machine(tmp_path: Path, toolchain: JavaToolchain):
    here, there = "jdbc:db2://127.0.0.1:1/shop", "jdbc:db2://192.0.2.1:1/shop"
    assert instance_of(here, tmp_path, toolchain).transport == "TCP, same machine"
    assert instance_of(there, tmp_path, toolchain).transport == "TCP, another machine"
    assert instance_of(here, tmp_path, toolchain, elsewhere=True).transport == "TCP, another machine"


def test_a_run_says_that_its_space_was_not_watched(instance: ExternalInstance):
    assert instance.warnings == []
    instance.seen({"event": "sampled", "name": SPACE, "t": 7, "error": "no right to ask"})
    assert instance.warnings == [NOT_WATCHED]
