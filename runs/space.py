"""Room on the disk of STATE. Below a reserve nothing new is begun, so that what is on its way can still be stored."""

from __future__ import annotations

import errno
import shutil
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection
from django.db.backends.signals import connection_created
from django.dispatch import receiver

MB = 1_000_000
FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT)
# As SQLite, PostgreSQL (SQLSTATE 53100) and the system say it.
FULL_WORDS = ("disk is full", "disk full", "no space left on device", "disk quota exceeded")
FULL = "The disk of this server is full. Nothing of this was stored; try again when there is more room."


def shortage(wanted_bytes: int = 0) -> str:
    """Why nothing new, or so much, is taken, in words; empty while there is room."""
    free_mb = (shutil.disk_usage(settings.STATE.path).free - wanted_bytes) / MB
    if free_mb >= settings.DISK_RESERVE_MB:
        return ""
    return (
        f"The disk of this server is almost full: {free_mb:,.0f} MB are free, {settings.DISK_RESERVE_MB:,} MB are kept "
        "in reserve. New uploads and runs wait until there is more room. Everything can be read, and what is stored is "
        "safe."
    )


def is_full(error: BaseException | None) -> bool:
    """Whether this, or what it came of, is a disk without room."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL_ERRORS:
            return True
        if isinstance(error, OperationalError) and any(words in str(error).lower() for words in FULL_WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False


def count_for_sqlite() -> None:
    """SQLite chooses between indexes by what it has counted of them, and counts when it is told; PostgreSQL by itself.

    It looks at 5,000 rows of each index: 16 ms of CPU with 100,000 runs.
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA analysis_limit=5000")
            cursor.execute("ANALYZE")


@receiver(connection_created)
def sort_in_memory(connection: Any, **_: Any) -> None:
    """SQLite sorts what is large in a file: on a full disk reading would end there."""
    if connection.vendor == "sqlite" and shortage():
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA temp_store=MEMORY")
