"""DBMSs of which no live server could be had: what is said to them is tested on stand-ins. The core imports none.

Each is an entry point of `benchsite.engines`, as everybody's plug-in is (docs/extend/plug-ins.md).
"""

from __future__ import annotations

from benchagent.catalog.model import DbmsEntry

NOTHING_SET = "of the server that is there; nothing is set by the agent"
ORACLE = DbmsEntry(
    "oracle", "Oracle Database", "Oracle",
    external="benchagent_unverified.oracle", settings_help=NOTHING_SET, order=110,
    unverified="No Oracle server could be had: statements are tested on H2 in Oracle mode.",
    configuration="benchagent_unverified.configuration.oracle:ENGINE",
)  # fmt: skip
DB2 = DbmsEntry(
    "db2", "IBM Db2", "IBM",
    external="benchagent_unverified.db2", settings_help=NOTHING_SET, order=120,
    unverified="No Db2 server could be had: statements are tested on H2 in DB2 mode.",
    configuration="benchagent_unverified.configuration.db2:ENGINE",
)  # fmt: skip
CUBRID = DbmsEntry(
    "cubrid", "CUBRID", "CUBRID",
    external="benchagent_unverified.cubrid", settings_help=NOTHING_SET, order=130,
    unverified="No CUBRID server could be had: statements are tested on H2, differences listed.",
    configuration="benchagent_unverified.configuration.cubrid:ENGINE",
)  # fmt: skip
INTERBASE = DbmsEntry(
    "interbase", "InterBase", "Embarcadero",
    external="benchagent_unverified.interbase", settings_help=NOTHING_SET, order=140,
    unverified="No InterBase server could be had: statements are tested on Firebird 3, dialect 3.",
    configuration="benchagent.configfiles.engines.firebird:INTERBASE",
)  # fmt: skip
