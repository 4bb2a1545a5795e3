"""Option files, comparison with what is in force, discovery: without a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.dbms.base import JobError
from benchagent.dbms.mysql import discovery
from benchagent.dbms.mysql.product import Product
from benchagent.dbms.mysql.server import hashed
from benchagent.dbms.mysql.settings import differences, given, option_file

OLD = Product("mysql", "5.5.34")


def test_it_writes_flags_without_a_value_and_keeps_order_and_duplicates():
    lines = given([("skip-name-resolve", ""), ("sql_mode", ""), ("log_warnings", "1"), ("log-warnings", "2")])
    assert option_file(lines) == ("[mysqld]\nskip_name_resolve\nsql_mode = \nlog_warnings = 1\nlog_warnings = 2\n")


@pytest.mark.parametrize("value", ["/var/lib/x:10M", "../x:10M:autoextend"])
def test_it_lets_no_file_leave_the_folders(value: str):
    with pytest.raises(JobError, match="names without a folder"):
        option_file([("innodb_data_file_path", value)])


@pytest.mark.parametrize(
    ("name", "value", "variable", "effective"),
    [
        ("innodb_buffer_pool_size", "16M", "innodb_buffer_pool_size", "16777216"),
        ("table_cache", "1024", "table_open_cache", "1024"),
        ("skip_name_resolve", "", "skip_name_resolve", "ON"),
        ("skip_log_bin", "", "log_bin", "OFF"),
        ("log_bin", "mysql-bin", "log_bin", "ON"),
        ("query_cache_type", "2", "query_cache_type", "DEMAND"),
        ("long_query_time", "2", "long_query_time", "2.000000"),
        ("innodb_support_xa", "0", "innodb_support_xa", "OFF"),
        ("default_storage_engine", "innodb", "default_storage_engine", "InnoDB"),
        ("transaction-isolation", "READ-COMMITTED", "tx_isolation", "READ-COMMITTED"),
        ("sql_mode", "TRADITIONAL", "sql_mode", "STRICT_TRANS_TABLES,TRADITIONAL"),
        ("character_set_server", "utf8", "character_set_server", "utf8mb3"),
        ("some_unknown_size", "2G", "some_unknown_size", "2147483648"),
    ],
)
def test_it_compares_settings_by_what_they_mean(name: str, value: str, variable: str, effective: str):
    assert differences([(name, value)], {variable: effective}) == []


@pytest.mark.parametrize(
    ("name", "value", "effective"),
    [
        ("innodb_buffer_pool_size", "16M", "33554432"),
        ("skip_name_resolve", "", "OFF"),
        ("log_bin", "x", "OFF"),
        ("innodb_flush_method", "O_DIRECT", ""),
        ("sync_binlog", "1", "0"),
    ],
)
def test_it_reports_what_the_server_changed(name: str, value: str, effective: str):
    (words,) = differences([(name, value)], {name: effective})
    assert words == f"{name}: {value or 'on'} given, {effective or 'nothing'} in force"


def test_the_last_of_several_counts():
    assert differences([("sync_binlog", "0"), ("sync_binlog", "1")], {"sync_binlog": "1"}) == []


def test_it_knows_group_commit_from_5_7_on_and_no_background_maintenance_in_5_5():
    adapter = dbms.adapter("mysql")
    assert dict(adapter.knob("group_commit", "3", "8.0.31")) == {
        "log_bin": "binlog",
        "server_id": "1",
        "sync_binlog": "1",
        "binlog_group_commit_sync_no_delay_count": "3",
        "binlog_group_commit_sync_delay": "10000",
    }
    assert dict(adapter.knob("group_commit", "off", "5.7.22"))["binlog_group_commit_sync_delay"] == "0"
    assert dict(adapter.knob("background_maintenance", "off", "5.7.22"))["innodb_stats_auto_recalc"] == "OFF"
    for knob, words in (("group_commit", "no setting for group commit"), ("background_maintenance", "always on")):
        with pytest.raises(JobError, match=rf"MySQL 5\.5\.34 has {words}|{words}"):
            adapter.knob(knob, "off", "5.5.34")


def test_it_hashes_passwords_as_the_server_keeps_them():
    """SELECT PASSWORD('mypass') in MySQL's manual."""
    assert hashed("mypass") == "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4"


def _fake_server(folder: Path, words: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    server = folder / "bin" / "mysqld"
    server.write_text(f"#!/bin/sh\necho '{words}'\n")
    server.chmod(0o755)
    return folder


def test_it_tells_the_two_products_apart_and_lists_what_cannot_be_used(tmp_path: Path, monkeypatch):
    one = _fake_server(tmp_path / "one", "mysqld  Ver 8.0.31 for Linux on x86_64")
    two = _fake_server(tmp_path / "two", "mysqld  Ver 10.11.19-MariaDB for debian-linux-gnu on x86_64")
    three = _fake_server(tmp_path / "mysql-5.1.47", "nothing of the kind")
    monkeypatch.setenv("BENCHAGENT_MYSQL_DIRS", f"{one}:{two}:{three}")
    monkeypatch.setenv("BENCHAGENT_MARIADB_DIRS", f"{one}:{two}:{three}")
    found = {(one.product.slug, one.product.version): one.problem for one in discovery.all_installations("mysql")}
    assert found[("mysql", "8.0.31")] == ""
    assert "does not tell its version" in found[("mysql", "5.1.47")]
    assert list(discovery.installations("mysql")) == ["8.0.31"]
    assert [one.problem for one in discovery.all_installations("mariadb")] == [f"{two} has no mysql_install_db"]
