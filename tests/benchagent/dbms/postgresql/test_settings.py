"""What is written for the server, and which given settings it says are not in force."""

from __future__ import annotations

from typing import Any

import pytest
from benchagent.dbms import adapter
from benchagent.dbms.base import JobError
from benchagent.dbms.postgresql import settings
from benchagent.dbms.postgresql.counters import PostgresqlCounters
from benchagent.dbms.postgresql.discovery import numbers

V92, V96, V15, V18 = (9, 2), (9, 6), (15, 20), (18, 6)


def row(name: str, shown: str, kind: str, setting: str = "", unit: str | None = None, **more: Any) -> list[Any]:
    """Of the query of settings in force."""
    source, boot, pending = more.get("source", "configuration file"), more.get("boot", ""), more.get("pending", False)
    return [name, shown, source, setting or shown, unit, kind, boot, pending]


@pytest.mark.parametrize(
    ("version", "expected"),
    [("9.2.2", V92), ("9.6.24", V96), ("15.20", V15), ("18beta1", (18, 0)), ("unknown", (0, 0))],
)
def test_it_compares_versions_as_numbers(version, expected):
    assert numbers(version) == expected


def test_it_lets_the_users_settings_win_over_ours_and_keeps_what_only_the_agent_may_say():
    given = [("max_connections", "300"), ("PORT", "1"), ("work_mem", "1MB"), ("work_mem", "2MB")]
    made = settings.configuration(V15, given, connections=4, temp=True)
    assert made.index(("max_connections", "100")) < made.index(("max_connections", "300"))
    assert [value for name, value in made if name == "work_mem"] == ["1MB", "2MB"]
    assert ("temp_tablespaces", "bench_temp") in made
    assert ("unix_socket_directories", "") in made
    assert "port" not in {name.lower() for name, _ in made}


def test_it_makes_room_for_all_terminals():
    assert ("max_connections", "410") in settings.configuration(V15, [], connections=400, temp=False)
    with pytest.raises(JobError, match="max_connections = 20 is too few for 40 connections"):
        settings.configuration(V15, [("max_connections", "20")], connections=40, temp=False)


def test_it_names_the_socket_as_the_version_does():
    names = {name for name, _ in settings.configuration(V92, [], connections=1, temp=False)}
    assert "unix_socket_directory" in names
    assert "dynamic_shared_memory_type" not in names


@pytest.mark.parametrize(
    ("version", "given", "expected"),
    [
        (V18, {}, []),
        (V15, {"data_checksums": "on"}, ["--data-checksums"]),
        (V15, {"data_checksums": "off"}, []),
        (V18, {"data_checksums": "off"}, ["--no-data-checksums"]),
        (V15, {"wal_segment_size": "64MB"}, ["--wal-segsize=64"]),
        (V15, {"wal_segment_size": "16777216"}, ["--wal-segsize=16"]),
    ],
)
def test_it_tells_initdb_what_is_fixed_when_a_cluster_is_made(version, given, expected):
    assert settings.initdb_options(version, list(given.items())) == expected


@pytest.mark.parametrize(
    ("version", "given", "words"),
    [
        (V92, {"data_checksums": "on"}, "since 9.3"),
        (V15, {"data_checksums": "perhaps"}, "on or off"),
        (V96, {"wal_segment_size": "64MB"}, "before PostgreSQL 11"),
        (V15, {"wal_segment_size": "1kB"}, "whole number of MB"),
    ],
)
def test_it_says_what_initdb_cannot_do(version, given, words):
    with pytest.raises(JobError, match=words):
        settings.initdb_options(version, list(given.items()))


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("shared_buffers", "131072kB", row("shared_buffers", "128MB", "integer", "16384", "8kB")),
        ("shared_buffers", "16384", row("shared_buffers", "128MB", "integer", "16384", "8kB")),
        ("shared_buffers", "130kB", row("shared_buffers", "136kB", "integer", "17", "8kB")),
        ("max_wal_size", "1GB", row("max_wal_size", "1GB", "integer", "1024", "MB")),
        ("min_wal_size", "80MB", row("min_wal_size", "80MB", "integer", "5", "16MB")),
        ("checkpoint_timeout", "0.5h", row("checkpoint_timeout", "30min", "integer", "1800", "s")),
        ("checkpoint_completion_target", "0.90", row("checkpoint_completion_target", "0.9", "real")),
        ("wal_buffers", "-1", row("wal_buffers", "4MB", "integer", "512", "8kB", boot="-1")),
        ("fsync", "FALSE", row("fsync", "off", "bool")),
        ("synchronous_commit", "yes", row("synchronous_commit", "on", "enum")),
        ("synchronous_commit", "'Local'", row("synchronous_commit", "local", "enum")),
        ("wal_level", "hot_standby", row("wal_level", "replica", "enum")),
        ("Shared_Buffers", "128MB", row("shared_buffers", "128MB", "integer", "16384", "8kB")),
    ],
)
def test_it_takes_another_way_to_write_a_value_for_the_same(name, value, found):
    assert settings.ignored([(name, value)], {"settings": [found]}) == []


@pytest.mark.parametrize(
    ("given", "found", "words"),
    [
        (
            [("fsync", "off")],
            row("fsync", "on", "bool", source="command line"),
            "fsync: off given, on in force (by command line)",
        ),
        (
            [("synchronous_commit", "on")],
            row("synchronous_commit", "off", "enum", source="database", boot="on"),
            "synchronous_commit: on given, off in force (by database)",
        ),
        (
            [("work_mem", "64MB")],
            row("work_mem", "4MB", "integer", "4096", "kB", source="user"),
            "work_mem: 64MB given, 4MB in force (by user)",
        ),
        (
            [("shared_buffers", "1GB")],
            row("shared_buffers", "128MB", "integer", "16384", "8kB", pending=True),
            "shared_buffers: 1GB given, 128MB in force until a restart",
        ),
        (
            [("work_mem", "1MB"), ("work_mem", "4MB")],
            row("work_mem", "4MB", "integer", "4096", "kB"),
            "work_mem = 1MB: given again later, the last counts",
        ),
        ([("x.y", "1")], row("work_mem", "4MB", "integer"), "x.y: no parameter of this server, without effect"),
    ],
)
def test_it_says_which_setting_is_not_in_force(given, found, words):
    assert settings.ignored(given, {"settings": [found]}) == [words]


def test_it_passes_on_what_the_server_could_not_apply():
    found = settings.ignored([], {"settings": [], "file_errors": [["shared_buffers", "setting could not be applied"]]})
    assert found == ["shared_buffers: setting could not be applied"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("group_commit", "off", [("commit_delay", "0")]),
        ("group_commit", "3", [("commit_delay", "1000"), ("commit_siblings", "2")]),
        ("background_maintenance", "off", [("autovacuum", "off")]),
        ("background_maintenance", "on", [("autovacuum", "on")]),
    ],
)
def test_it_turns_knobs_into_settings(name, value, expected):
    assert adapter("postgresql").knob(name, value, "15.20") == expected


def test_it_gives_the_age_of_the_table_that_was_left_longest():
    rows = {"upkeep": [["a", 5.0, 7.0, 2], ["b", 60.0, 3.0, 40]], "checkpoint": [[12.5]]}
    assert [(age.what, age.age_s, age.detail) for age in PostgresqlCounters((15, 0)).maintenance(rows)] == [
        ("statistics (ANALYZE)", 60.0, "longest ago: b"),
        ("vacuum", 7.0, "longest ago: a; 42 dead rows in all tables"),
        ("checkpoint", 12.5, "begin of the last one that was completed"),
    ]


def test_it_names_the_tables_that_were_never_vacuumed():
    rows = {"upkeep": [[f"t{number}", 1.0, None, 0] for number in range(7)]}
    (_, vacuum) = PostgresqlCounters((15, 0)).maintenance(rows)
    assert vacuum.age_s is None
    assert vacuum.detail == "never: t0, t1, t2, t3, t4 and 2 more; 0 dead rows in all tables"
