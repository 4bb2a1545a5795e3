"""Factors in words: what charts, tables, forms and commands call a stored value."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from benchagent.catalog import (
    BACKUP_METHODS,
    DBMSS,
    ENGINE_METHODS,
    EXTERNAL_METHODS,
    FACTORS,
    WORKLOADS,
    factor_phrase,
    factor_words,
)
from benchagent.dbms.backup import BackupMethod
from benchagent.dbms.mysql.backup import Copy
from benchagent.dbms.postgresql.backup import FORMATS

VALUES = [
    # name, value, under its heading, alone among values of other factors
    ("group_commit", "off", "no commit group", "no commit group"),
    ("group_commit", "2", "commit group 2", "commit group 2"),
    ("group_commit", 2, "commit group 2", "commit group 2"),
    ("group_commit", "", "commit group as configured", "commit group as configured"),
    ("background_maintenance", "off", "maintenance off", "maintenance off"),
    ("verbose", "on", "-v on", "-v on"),
    ("method", "gbak_services_same", "gbak, Services API, same disk", "gbak, Services API, same disk"),
    ("method", "a_tool_of_others", "a_tool_of_others", "a_tool_of_others"),
    ("data_origin", "restored", "restored copy", "restored copy"),
    ("preloaded", "full", "preloaded", "preloaded"),
    ("load", "select_narrow", "SELECT, narrow range", "SELECT, narrow range"),
    ("cpus", 1, "1 CPU", "1 CPU"),
    ("cpus", 2, "2 CPUs", "2 CPUs"),
    ("cpus", 0, "all CPUs", "all CPUs"),
    ("warehouses", 23, "23 warehouses", "23 warehouses"),
    ("memory_limit_mb", 160, "160 MB", "memory limit 160 MB"),
    ("memory_limit_mb", 0, "no memory limit", "no memory limit"),
    ("dataset_mb", 2_700, "2.7 GB", "data set 2.7 GB"),
    ("duration_s", 10, "10 s", "measured window 10 s"),
    ("terminals", 4, "4 connections", "4 terminals"),
    ("data_storage", "slow", "slow", "data on slow"),
    ("log_storage", "", "agent's own storage", "log on own storage"),
    ("tables_of_others", 1_000, "1,000", "1,000"),
]


@pytest.mark.parametrize(("name", "value", "words", "phrase"), VALUES)
def test_it_says_a_value_in_words(name, value, words, phrase):
    assert factor_words(name, value) == words
    assert factor_phrase(name, value) == phrase


def test_it_invents_no_unit_for_a_stored_number_without_one():
    assert factor_words("memory_limit_mb", 160, "") == "160"
    assert factor_phrase("memory_limit_mb", 160, "") == "memory limit 160"


@pytest.mark.parametrize("workload", WORKLOADS)
def test_its_words_are_no_slugs_and_tell_all_values_of_a_workload_apart(workload):
    words = [text for factor in WORKLOADS[workload].factors for text in factor.words.values()]
    assert len(words) == len(set(words))
    assert not [text for text in words if "_" in text.removeprefix("pg_")]


def test_workloads_that_share_a_factor_share_its_words():
    for entry in WORKLOADS.values():
        for factor in entry.factors:
            shared = FACTORS[factor.name]
            assert (factor.label, factor.unit, factor.words, factor.spoken) == (
                shared.label, shared.unit, shared.words, shared.spoken,
            )  # fmt: skip


def kinds(of: type[BackupMethod]) -> Iterator[type[BackupMethod]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def offered() -> dict[str, set[str]]:
    """By DBMS, the methods that its adapter's module holds, or the one of its backups where that is apart."""
    found = {"postgresql": set(FORMATS)}  # one class, told its method
    for dbms, entry in DBMSS.items():
        if not entry.module:
            continue
        name = f"{entry.module}.backup" if find_spec(f"{entry.module}.backup") else entry.module
        importlib.import_module(name)
        own = {kind.slug for kind in kinds(BackupMethod) if kind.__module__ == name and "slug" in vars(kind)}
        if own:
            found[dbms] = found.get(dbms, set()) | own
    # One adapter for both; only MariaDB has its copying tool.
    return found | {"mariadb": found["mysql"], "mysql": found["mysql"] - {Copy.slug}}


def test_every_backup_method_of_an_engine_has_words():
    assert set().union(*offered().values()) == set(BACKUP_METHODS) - {""}


def test_the_catalogue_names_the_backup_methods_that_each_adapter_has():
    assert {dbms: set(slugs) for dbms, slugs in ENGINE_METHODS.items()} == offered()
    assert all(set(slugs) < set(ENGINE_METHODS[dbms]) for dbms, slugs in EXTERNAL_METHODS.items())
