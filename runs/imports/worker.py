"""Large imports are read beside everything else: by a worker, one after another, each in a process of its own.

A process, because Python runs one thread at a time, and because only a process can be ended when a file takes too much
time or memory. The row is the truth: `seen_at` is the sign of life of who reads, and what falls silent is taken up
again; `attempts` tells the present reader from one that was given up.
"""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from runs.imports import reading
from runs.imports.sent import MAX_TOTAL_BYTES, MB, BadFiles, clear_away, is_laid_aside
from runs.imports.storing import HeldRow
from runs.models import FileImport
from runs.models.choices import ImportState
from runs.run import artefacts

logger = logging.getLogger(__name__)

EVERY_S = 1.0
SILENT_FOR = timedelta(seconds=20)
ATTEMPTS = 3
# One import may take so much. It gives way to whatever else runs on the machine, so its time in all may be long.
MAX_CPU_S = 300
MAX_S = 3600
# Beyond: 1 GB is kept and read at some 10 MB a second.
CPU_S_PER_MB = 1
MAX_MEMORY_BYTES = 2048 * MB

_reading, _reading_beside = threading.Lock(), threading.Lock()


def wake() -> None:
    """Have a thread of this process read what waits, if none does: no task of the pool is kept busy by it.

    Nobody waits for a log of 1 GB: a second thread reads what is smaller meanwhile.
    """
    if not waiting().exists():
        return
    if _reading.acquire(blocking=False):
        threading.Thread(target=_read_waiting, args=[_reading], name="imports", daemon=True).start()
        return
    seen_at = timezone.now() - SILENT_FOR
    reading = FileImport.objects.filter(state=ImportState.READING, seen_at__gte=seen_at)
    is_long_at_work = reading.filter(progress__size_bytes__gt=MAX_TOTAL_BYTES).exists()
    if is_long_at_work and waiting(MAX_TOTAL_BYTES).exists() and _reading_beside.acquire(blocking=False):
        small = [_reading_beside, MAX_TOTAL_BYTES]
        threading.Thread(target=_read_waiting, args=small, name="small imports", daemon=True).start()


def _read_waiting(lock: threading.Lock, most_bytes: int | None = None) -> None:
    try:
        read_waiting(most_bytes)
    except Exception:  # the next sweep tries again
        logger.exception("imports are not read")
    finally:
        connection.close()
        lock.release()


def waiting(most_bytes: int | None = None) -> QuerySet[FileImport]:
    """Imports to be read that nobody reads."""
    silent = Q(seen_at=None) | Q(seen_at__lt=timezone.now() - SILENT_FOR)
    some = {} if most_bytes is None else {"progress__size_bytes__lte": most_bytes}
    return FileImport.objects.filter(silent, state=ImportState.READING, **some)


def cpu_limit_s(taken: FileImport) -> int:
    return max(MAX_CPU_S, CPU_S_PER_MB * int(taken.progress.get("size_bytes", 0)) // MB)


def read_waiting(most_bytes: int | None = None) -> None:
    """All that wait. Persons take turns: the next is of whoever was served longest ago."""
    own = FileImport.objects.filter(owner=OuterRef("owner")).order_by().values("owner")
    served = Subquery(own.annotate(latest=Max("seen_at")).values("latest"))
    while True:
        turn = F("served").asc(nulls_first=True)
        taken = waiting(most_bytes).annotate(served=served).order_by(turn, "created_at").first()
        if taken is None:
            return
        held = claimed(taken)
        if held is not None:
            watch(taken, held)


def claimed(taken: FileImport) -> HeldRow | None:
    """The import as long as it is ours to read; None where somebody else took it, or it was given up."""
    before = waiting().filter(pk=taken.pk, attempts=taken.attempts)
    if taken.attempts >= ATTEMPTS:
        give_up(before, f"Reading was interrupted {ATTEMPTS} times{_at(taken)}. Try it once more, or send fewer files.")
        return None
    if not before.update(seen_at=timezone.now(), attempts=taken.attempts + 1):
        return None
    return FileImport.objects.filter(pk=taken.pk, attempts=taken.attempts + 1, state=ImportState.READING)


def watch(taken: FileImport, held: HeldRow) -> None:
    """Start the reader and stay until it has ended, or has to."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "read_import", str(taken.pk)]
    child = subprocess.Popen([*command, str(taken.attempts + 1)], stdin=subprocess.DEVNULL)
    began, code = time.monotonic(), None
    while code is None:
        try:
            code = child.wait(EVERY_S)
        except subprocess.TimeoutExpired:
            try:
                is_ours = held.update(seen_at=timezone.now())
            except OperationalError:  # the database is locked or away for a moment
                connection.close()
                continue
            if not is_ours:
                # Done by now; or deleted meanwhile, or somebody else's since we were silent.
                with suppress(subprocess.TimeoutExpired):
                    child.wait(EVERY_S)
            if not is_ours or time.monotonic() - began > MAX_S:
                child.kill()
                child.wait()
                code = -signal.SIGXCPU if is_ours else 0
    if code == -signal.SIGXCPU:
        latest = held.first() or taken
        limits = f"{cpu_limit_s(latest) // 60} minutes of processor time or {MAX_S // 60} minutes in all"
        give_up(held, f"Reading took more than {limits}{_at(latest)}, and was ended. Send parts of it, or without it.")
    elif code:
        logger.warning("the reader of import %s ended with %s", taken.pk, code)
    if not FileImport.objects.filter(pk=taken.pk).exists():
        clear_away(taken.pk)


def give_up(held: HeldRow, words: str) -> None:
    """What was read before stays; files that are not all kept go."""
    taken = held.first()
    if taken is None:
        return
    state = ImportState.STORED if taken.stored_at else ImportState.FAILED
    if held.update(state=state, problem=words) and is_laid_aside(taken.pk):
        files = list(taken.artefacts.all())
        taken.artefacts.all().delete()
        artefacts.discard(files)
        clear_away(taken.pk)


def _at(taken: FileImport) -> str:
    return f", at {taken.progress['file']}" if taken.progress.get("file") else ""


# In the process of its own (`manage.py read_import`).


def read_now(import_id: str, attempt: int) -> None:
    """Say in words why the files are not read, where they are not; nothing where they are not ours any more."""
    held = FileImport.objects.filter(pk=import_id, attempts=attempt, state=ImportState.READING)
    taken = held.first()
    if taken is None:
        return
    try:
        reading.read_now(taken, held)
    except DatabaseError:
        raise  # is taken up again
    except FileImport.DoesNotExist:
        return
    except (BadFiles, artefacts.TooLarge) as error:
        give_up(held, f"{str(error).removesuffix('.')}.")
    except ValidationError as error:
        problems = error.detail.items() if isinstance(error.detail, dict) else [("detail", error.detail)]
        words = "; ".join(f"{path}: {' '.join(map(str, problem))}" for path, problem in problems)
        give_up(held, f"Read again, but nothing was changed: {words}")
    except MemoryError:
        give_up(
            held, f"Reading took more than {MAX_MEMORY_BYTES // MB // 1024} GB of memory{_at(taken)}. Send parts of it."
        )
    except Exception as error:
        logger.exception("import %s is not read", import_id)
        give_up(held, f"An importer failed ({type(error).__name__}){_at(taken)}. The files can be read again later.")
