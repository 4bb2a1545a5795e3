"""What is known of each engine's settings: units, defaults, meanings, durability: a file and a module per engine."""

from __future__ import annotations

from benchagent.configfiles.engines import cubrid, db2, derby, firebird, h2, hsqldb, mysql, oracle, postgresql, sqlite
from benchagent.configfiles.settings import Engine

ENGINES: dict[str, Engine] = {
    engine.slug: engine
    for engine in (
        postgresql.ENGINE, mysql.MYSQL, mysql.MARIADB, firebird.FIREBIRD, firebird.INTERBASE, firebird.YAFFIL,
        cubrid.ENGINE, derby.ENGINE, oracle.ENGINE, db2.ENGINE, sqlite.ENGINE, hsqldb.ENGINE, h2.ENGINE,
    )
}  # fmt: skip
