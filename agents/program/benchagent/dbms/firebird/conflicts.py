"""Which errors are conflicts, and how transactions are isolated."""

from __future__ import annotations

from benchagent.dbms.base import Retryable

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
RETRYABLE = Retryable(sqlstates=(SERIALIZATION,), codes=(DEADLOCK, LOCK_CONFLICT, CONCURRENT_TRANSACTION))
TOLERABLE = Retryable(sqlstate_prefixes=(INTEGRITY_CLASS,), codes=(UNIQUE_VIOLATION, DUPLICATE_KEY))
