"""How large a buffer is by the settings in force, for engines whose settings are all that tells it."""

from __future__ import annotations

import pytest
from benchagent.dbms.embedded import buffer_in_force


@pytest.mark.parametrize(
    ("dbms", "effective", "expected"),
    [
        ("sqlite", {"cache_size": "-4000", "page_size": "4096"}, 4000 * 1024),
        ("sqlite", {"cache_size": "3000", "page_size": "8192"}, 3000 * 8192),
        ("derby", {"derby.storage.pageCacheSize": "2000", "derby.storage.pageSize": "8192"}, 2000 * 8192),
        ("derby", {"derby.storage.pageSize": "32768"}, 1000 * 32768),
        ("h2", {"CACHE_SIZE": "65536"}, 65536 * 1024),
        ("h2", {"storage": "file"}, None),
        ("hsqldb", {"hsqldb.cache_size": "10000"}, 10_000 * 1024),
        ("postgresql", {"shared_buffers": "256MB"}, 256 << 20),
        ("mysql", {"innodb_buffer_pool_size": "134217728"}, 134_217_728),
        ("firebird", {"page_buffers": "16384", "page_size": "8192"}, 16384 * 8192),
        ("interbase", {"page_buffers": "2048"}, None),
        ("cubrid", {"isolation_level": "4"}, None),
        ("sqlite", {}, None),
    ],
)
def test_it_is_what_the_settings_in_force_come_to(dbms: str, effective: dict[str, str], expected: int | None):
    complete = dbms not in ("cubrid", "interbase")
    assert buffer_in_force(dbms, list(effective.items()), complete=complete) == expected
