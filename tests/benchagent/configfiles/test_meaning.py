"""Settings of different engines that mean the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.configfiles.engines import ENGINES
from benchagent.configfiles.meaning import MEANINGS, reading, settings_of
from benchagent.configfiles.settings import Facts, Given

GIB = 1024**3
DOCS = Path(__file__).parents[3] / "docs/use/configs.md"


def means(dbms: str, key: str, given: dict[str, str | None], **facts: object) -> object:
    settings = settings_of(dbms, [Given(*item) for item in given.items()], Facts(**facts))
    found = reading(settings, key).quantity
    return found.value if found else None


@pytest.mark.parametrize(
    ("dbms", "given", "facts"),
    [
        ("postgresql", {"shared_buffers": "4GB"}, {}),
        ("postgresql", {"shared_buffers": "524288"}, {}),
        ("mysql", {"innodb_buffer_pool_size": "4G"}, {}),
        ("firebird", {"DefaultDbCachePages": "262144"}, {"page_size_bytes": 16384}),
        ("cubrid", {"data_buffer_pages": "262144"}, {"page_size_bytes": 16384}),
        ("cubrid", {"data_buffer_size": "4G"}, {}),
        ("derby", {"derby.storage.pageCacheSize": "1048576"}, {}),
        ("oracle", {"db_cache_size": "4g"}, {}),
        ("oracle", {"db_block_buffers": "524288", "db_block_size": "8192"}, {}),
        ("sqlite", {"cache_size": "-4194304"}, {}),
        ("sqlite", {"cache_size": "1048576", "page_size": "4096"}, {}),
        ("hsqldb", {"FILES CACHE SIZE": "4194304"}, {}),
        ("h2", {"CACHE_SIZE": "4194304"}, {}),
    ],
)
def test_it_finds_the_buffer_pool_of_each_engine(dbms, given, facts):
    assert means(dbms, "buffer_pool", given, **facts) == 4 * GIB


@pytest.mark.parametrize(
    ("dbms", "given", "expected"),
    [
        ("postgresql", {"synchronous_commit": "on", "fsync": "on"}, "each"),
        ("postgresql", {"synchronous_commit": "off"}, "later"),
        ("postgresql", {"fsync": "off"}, "never"),
        ("mysql", {"innodb_flush_log_at_trx_commit": "1"}, "each"),
        ("mysql", {"innodb_flush_log_at_trx_commit": "2"}, "written"),
        ("mysql", {"innodb_flush_log_at_trx_commit": "0"}, "later"),
        ("cubrid", {"async_commit": "yes"}, "later"),
        ("cubrid", {}, "each"),
        ("derby", {}, "each"),
        ("derby", {"derby.system.durability": "test"}, "never"),
        ("oracle", {"commit_wait": "nowait"}, "later"),
        ("oracle", {}, "each"),
        ("db2", {}, "each"),
        ("sqlite", {"synchronous": "1"}, "written"),
        ("hsqldb", {"FILES WRITE DELAY": "FALSE"}, "each"),
        ("h2", {"WRITE_DELAY": "0"}, "written"),
    ],
)
def test_it_says_what_happens_to_the_log_at_a_commit(dbms, given, expected):
    assert means(dbms, "commit_flush", given) == expected


def test_it_multiplies_log_files_and_segments():
    size = {"innodb_log_file_size": "256M", "innodb_log_files_in_group": "3"}
    assert means("mysql", "log_capacity", size) == 768 * 1024**2
    assert means("mysql", "log_capacity", {}, version="8.0.31") == 100 * 1024**2
    assert means("postgresql", "log_capacity", {"checkpoint_segments": "16"}, version="9.2") == 256 * 1024**2
    assert means("postgresql", "log_capacity", {}, version="15") == GIB


def test_it_takes_isolation_levels_for_the_same_however_they_are_written():
    levels = {
        means("postgresql", "isolation", {"default_transaction_isolation": "'read committed'"}),
        means("mysql", "isolation", {"tx_isolation": "READ-COMMITTED"}),
        means("hsqldb", "isolation", {"DATABASE DEFAULT ISOLATION LEVEL": "READ COMMITTED"}),
        means("cubrid", "isolation", {"isolation_level": "4"}),
    }
    assert levels == {"read committed"}


def test_it_says_when_an_engine_has_no_such_setting_or_its_value_is_not_known():
    mysql, sqlite = settings_of("mysql", []), settings_of("sqlite", [])
    assert not reading(sqlite, "query_cache").exists
    synced = reading(sqlite, "sync_method").quantity
    assert synced and synced.words == "fsync", "fullfsync is off, the log is synced all the same"
    found = reading(mysql, "direct_io")
    assert (found.exists, found.quantity) == (True, None)
    assert "innodb_flush_method not set" in found.unknown
    assert not reading(settings_of("nosql", []), "buffer_pool").exists


def test_it_uses_no_meaning_without_a_label_and_names_every_parameter_in_the_documentation():
    text = DOCS.read_text(encoding="utf-8")
    for engine in ENGINES.values():
        for key, meaning in engine.meanings.items():
            assert key in MEANINGS
            assert MEANINGS[key] in text
            for name in meaning.names:
                assert f"`{engine.spelt(name)}`" in text, (engine.slug, name)
                assert name == "docs" or engine.knows(name), (engine.slug, name)
        assert engine.source in text
