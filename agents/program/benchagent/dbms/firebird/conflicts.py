"""Which errors are conflicts, how transactions are isolated, and the words of the dialect."""

from __future__ import annotations

from benchagent.dbms.base import Retryable
from benchagent.dbms.dialect import Dialect

DEADLOCK, LOCK_CONFLICT, CONCURRENT_TRANSACTION = 335544336, 335544345, 335544878
UNIQUE_VIOLATION, DUPLICATE_KEY = 335544665, 335544349
SERIALIZATION, INTEGRITY_CLASS = "40001", "23"
# The driver's own READ COMMITTED, stated: an update waits for another's, then reports a conflict, and is tried again.
ISOLATION = "isc_tpb_read_committed,isc_tpb_rec_version,isc_tpb_write,isc_tpb_wait"
DRIVER_PROPERTIES = {
    "encoding": "UTF8",
    "processName": "benchagent",
    "defaultIsolation": "TRANSACTION_READ_COMMITTED",
    "TRANSACTION_READ_COMMITTED": ISOLATION,
}
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
RETRYABLE = Retryable(sqlstates=(SERIALIZATION,), codes=(DEADLOCK, LOCK_CONFLICT, CONCURRENT_TRANSACTION))
TOLERABLE = Retryable(sqlstate_prefixes=(INTEGRITY_CLASS,), codes=(UNIQUE_VIOLATION, DUPLICATE_KEY))
