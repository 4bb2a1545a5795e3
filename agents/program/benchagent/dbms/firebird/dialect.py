"""SQL of Firebird, as far as it differs from the standard; its conflicts; several rows at once by its old protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchagent.dbms.base import INTEGRITY_CLASS, Retryable
from benchagent.dbms.dialect import Dialect

DEADLOCK, LOCK_CONFLICT, CONCURRENT_TRANSACTION = 335544336, 335544345, 335544878
UNIQUE_VIOLATION, DUPLICATE_KEY = 335544665, 335544349
SERIALIZATION = "40001"
# The driver's own READ COMMITTED, stated: an update waits for another's, then reports a conflict, and is tried again.
ISOLATION = "isc_tpb_read_committed,isc_tpb_rec_version,isc_tpb_write,isc_tpb_wait"
DRIVER_PROPERTIES = {
    "encoding": "UTF8",
    "processName": "benchagent",
    "defaultIsolation": "TRANSACTION_READ_COMMITTED",
    "TRANSACTION_READ_COMMITTED": ISOLATION,
}
RETRYABLE = Retryable(sqlstates=(SERIALIZATION,), codes=(DEADLOCK, LOCK_CONFLICT, CONCURRENT_TRANSACTION))
TOLERABLE = Retryable(sqlstate_prefixes=(INTEGRITY_CLASS,), codes=(UNIQUE_VIOLATION, DUPLICATE_KEY))

# A request has one message of parameters, each in the character set of the connection, UTF-8.
MESSAGE_BYTES = 65_535
BYTES_PER_CHARACTER = 4
# Of everything else than text, the largest is a DECIMAL of 38 digits.
LARGEST_NUMBER_BYTES = 16
# The length before a VARCHAR, the null flag behind every value, and what alignment may leave between them.
EXTRA_BYTES = 2 + 2 + 6
# More gains next to nothing; from 256 on there are too many contexts.
MOST_ROWS = 32
TEXT_TYPE = re.compile(r"(?:VAR)?CHAR\((\d+)\)", re.IGNORECASE)

# Selectivities are kept in the index and computed when it is built, or so.
STATISTICS_OF_INDEXES = (
    "EXECUTE BLOCK AS DECLARE NAME VARCHAR(63); BEGIN FOR SELECT TRIM(RDB$INDEX_NAME) FROM RDB$INDICES"
    " WHERE RDB$RELATION_NAME = UPPER('{table}') INTO :NAME DO"
    " EXECUTE STATEMENT 'SET STATISTICS INDEX \"' || NAME || '\"'; END"
)
DIALECT = Dialect(
    first="SELECT FIRST {n} {select}",
    select_values="SELECT {expressions} FROM RDB$DATABASE",
    for_update=" FOR UPDATE WITH LOCK",
    descending_columns=False,
    after_load_each=(STATISTICS_OF_INDEXES,),
)


@dataclass(frozen=True)
class BlockDialect(Dialect):
    """Several rows go into a block of PSQL, whose parameters are those of all rows."""

    def insert_many(self, table: str, columns: Sequence[str], types: Sequence[str], rows: int) -> str:
        if rows > MOST_ROWS or rows * sum(map(_message_bytes, types)) > MESSAGE_BYTES:
            return ""
        names = [[f"p{row}_{column}" for column in range(len(types))] for row in range(rows)]
        given = [f"{name} {kind} = ?" for of_row in names for name, kind in zip(of_row, types, strict=True)]
        into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES"
        inserts = [f"{into} ({', '.join(f':{name}' for name in of_row)});" for of_row in names]
        return f"EXECUTE BLOCK ({', '.join(given)}) AS BEGIN {' '.join(inserts)} END"


# To a server of others no blocks are sent.
BLOCK_DIALECT = BlockDialect(**vars(DIALECT))


def _message_bytes(kind: str) -> int:
    """What a parameter of this type takes at most."""
    text = TEXT_TYPE.match(kind)
    return EXTRA_BYTES + (int(text[1]) * BYTES_PER_CHARACTER if text else LARGEST_NUMBER_BYTES)
