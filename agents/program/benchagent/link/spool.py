"""The agent's memory: a SQLite file into which everything measured is written before it is sent.

A batch keeps its number and its text from the moment it is formed, so that sending it again says exactly the
same. ``seconds`` keeps the load generator's one-second lines as they came, also after they were acknowledged.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from benchagent.catalog import refusal
from benchagent.protocol import (
    Claimed,
    ClockFacts,
    FinishItem,
    Item,
    JobResult,
    JobSpec,
    ObservationSpec,
    ObservedItem,
    Ordered,
    SamplesItem,
    StateItem,
)

KEPT_JOBS = 50
SAMPLES_PER_BATCH = 20_000
ITEMS_PER_BATCH = 500
LAST_KINDS = ("finish", "observed")
SECOND_FIELDS = ("t", "warm_up", "n", "errors", "retries", "mean_us", "p50_us", "p95_us", "p99_us", "max_us", "cpu_s")

SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, token TEXT NOT NULL, spec TEXT NOT NULL,
    claimed_at REAL NOT NULL, finished INTEGER NOT NULL DEFAULT 0, refused TEXT NOT NULL DEFAULT '',
    log_bytes INTEGER NOT NULL DEFAULT 0, next_seq INTEGER NOT NULL DEFAULT 1, draft TEXT);
CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, run_id TEXT NOT NULL, item TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS samples (
    run_id TEXT NOT NULL, metric TEXT NOT NULL, t INTEGER NOT NULL, value REAL, PRIMARY KEY (run_id, metric, t));
CREATE TABLE IF NOT EXISTS chunks (
    run_id TEXT NOT NULL, metric TEXT NOT NULL, next INTEGER NOT NULL, PRIMARY KEY (run_id, metric));
CREATE TABLE IF NOT EXISTS batches (
    run_id TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, acknowledged INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, seq));
CREATE TABLE IF NOT EXISTS seconds (
    run_id TEXT NOT NULL, t INTEGER NOT NULL, warm_up INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER,
    retries INTEGER, mean_us REAL, p50_us REAL, p95_us REAL, p99_us REAL, max_us REAL, cpu_s REAL,
    PRIMARY KEY (run_id, t));
"""


@dataclass(frozen=True)
class SpooledJob:
    run_id: str
    token: str
    spec: JobSpec | ObservationSpec
    finished: bool


class Spool:
    """Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        if not path.exists():  # it holds job tokens
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, check_same_thread=False, timeout=20)
        self._db.row_factory = sqlite3.Row
        # NORMAL: survives kill -9 of the agent without an fsync per second on the disk that is being measured.
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    # Writing

    def add_job(self, claimed: Claimed | Ordered, at: float) -> None:
        job = claimed["job"]
        with self._lock, self._db as db:
            _forget(db, [job["run_id"]])  # an earlier attempt at the same run that ended before its start
            db.execute(
                "INSERT INTO jobs (run_id, token, spec, claimed_at) VALUES (?, ?, ?, ?)",
                (job["run_id"], claimed["job_token"], json.dumps(job), at),
            )

    def add_state(self, run_id: str, state: str, at: float, clock: ClockFacts | None = None) -> None:
        item: StateItem = {"kind": "state", "state": state, "at": at}
        if clock:
            item["clock"] = clock
        with self._lock, self._db as db:
            _add_item(db, run_id, item)

    def add_log(self, run_id: str, text: str) -> None:
        """Append to the job's log; the offset of each piece is kept here."""
        with self._lock, self._db as db:
            offset = db.execute("SELECT log_bytes FROM jobs WHERE run_id = ?", (run_id,)).fetchone()[0]
            _add_item(db, run_id, {"kind": "log", "offset": offset, "text": text})
            db.execute("UPDATE jobs SET log_bytes = log_bytes + ? WHERE run_id = ?", (len(text.encode()), run_id))

    def add_second(self, run_id: str, event: Mapping[str, Any], samples: Mapping[str, float | None]) -> None:
        """One line of the load generator and all samples of that second, together or not at all."""
        marks = ", ".join("?" for _ in SECOND_FIELDS)
        with self._lock, self._db as db:
            db.execute(
                f"INSERT INTO seconds (run_id, {', '.join(SECOND_FIELDS)}) VALUES (?, {marks})",  # noqa: S608
                (run_id, *(event.get(field) for field in SECOND_FIELDS)),
            )
            _add_samples(db, run_id, event["t"], samples)

    def add_samples(self, run_id: str, t: int, samples: Mapping[str, float | None]) -> None:
        """Samples of a second outside the run, as of the load: `t` counts from the begin of that phase."""
        with self._lock, self._db as db:
            _add_samples(db, run_id, t, samples)

    def save_draft(self, run_id: str, result: JobResult) -> None:
        """What is known about the run so far: sent as the result if the agent does not live to see the end."""
        with self._lock, self._db as db:
            db.execute("UPDATE jobs SET draft = ? WHERE run_id = ?", (json.dumps(result), run_id))

    def finish(self, run_id: str, item: FinishItem | ObservedItem) -> None:
        with self._lock, self._db as db:
            _add_item(db, run_id, item)
            db.execute("UPDATE jobs SET finished = 1, draft = NULL WHERE run_id = ?", (run_id,))

    # Reading

    def draft(self, run_id: str) -> JobResult | None:
        rows = self._rows("SELECT draft FROM jobs WHERE run_id = ? AND draft IS NOT NULL", run_id)
        result: JobResult | None = json.loads(rows[0][0]) if rows else None
        return result

    def unfinished(self) -> list[SpooledJob]:
        return self._jobs("finished = 0")

    def undelivered(self) -> list[SpooledJob]:
        """Jobs of which something is not acknowledged yet, oldest first."""
        return self._jobs(
            "refused = '' AND (run_id IN (SELECT run_id FROM batches WHERE acknowledged = 0)"
            " OR run_id IN (SELECT run_id FROM items) OR run_id IN (SELECT run_id FROM samples))"
        )

    def _jobs(self, condition: str) -> list[SpooledJob]:
        sql = f"SELECT run_id, token, spec, finished FROM jobs WHERE {condition} ORDER BY number"  # noqa: S608
        rows = self._rows(sql)
        return [SpooledJob(row[0], row[1], json.loads(row[2]), bool(row[3])) for row in rows]

    def seconds(self, run_id: str) -> list[dict[str, Any]]:
        return [dict(row) for row in self._rows("SELECT * FROM seconds WHERE run_id = ? ORDER BY t", run_id)]

    # Sending

    def next_batch(self, run_id: str) -> tuple[int, str] | None:
        """Number and JSON body of the batch to send now: the oldest unacknowledged one, or a new one."""
        with self._lock, self._db as db:
            row = db.execute(
                "SELECT seq, body FROM batches WHERE run_id = ? AND acknowledged = 0 ORDER BY seq LIMIT 1", (run_id,)
            ).fetchone()
            return (row[0], row[1]) if row else _form_batch(db, run_id)

    def acknowledge(self, run_id: str, seq: int) -> None:
        """The server has this batch and all before it."""
        with self._lock, self._db as db:
            db.execute("UPDATE batches SET acknowledged = 1, body = '' WHERE run_id = ? AND seq <= ?", (run_id, seq))

    def holds(self, run_id: str, seq: int) -> bool:
        return bool(self._rows("SELECT 1 FROM batches WHERE run_id = ? AND seq = ? AND acknowledged = 0", run_id, seq))

    def refuse(self, run_id: str, reason: str) -> None:
        """The server does not take anything of this job (any more): kept here, not sent again."""
        with self._lock, self._db as db:
            db.execute("UPDATE jobs SET refused = ? WHERE run_id = ?", (reason, run_id))

    def trim(self, keep: int = KEPT_JOBS) -> None:
        """Forget all but the last `keep` jobs among those with nothing left to send."""
        waiting = {job.run_id for job in [*self.undelivered(), *self.unfinished()]}
        done = [row[0] for row in self._rows("SELECT run_id FROM jobs ORDER BY number DESC")]
        old = [run_id for run_id in done if run_id not in waiting][keep:]
        with self._lock, self._db as db:
            _forget(db, old)


def _forget(db: sqlite3.Connection, run_ids: list[str]) -> None:
    for table in ("jobs", "items", "samples", "chunks", "batches", "seconds"):
        sql = f"DELETE FROM {table} WHERE run_id = ?"  # noqa: S608
        db.executemany(sql, [(run_id,) for run_id in run_ids])


def _add_item(db: sqlite3.Connection, run_id: str, item: Item | ObservedItem) -> None:
    db.execute("INSERT INTO items (run_id, item) VALUES (?, ?)", (run_id, json.dumps(item)))


def _add_samples(db: sqlite3.Connection, run_id: str, t: int, samples: Mapping[str, float | None]) -> None:
    """What a metric cannot be, as after a counter that began anew, is a gap: the server would take nothing of it."""
    plausible = {name: None if value is None or refusal(name, value) else value for name, value in samples.items()}
    db.executemany(
        "INSERT OR REPLACE INTO samples (run_id, metric, t, value) VALUES (?, ?, ?, ?)",
        [(run_id, metric, t, value) for metric, value in plausible.items()],
    )


def _form_batch(db: sqlite3.Connection, run_id: str) -> tuple[int, str] | None:
    samples = db.execute(
        "SELECT metric, t, value FROM samples WHERE run_id = ? ORDER BY t, metric LIMIT ?", (run_id, SAMPLES_PER_BATCH)
    ).fetchall()
    rows = db.execute(
        "SELECT id, item FROM items WHERE run_id = ? ORDER BY id LIMIT ?", (run_id, ITEMS_PER_BATCH)
    ).fetchall()
    if len(samples) == SAMPLES_PER_BATCH:  # there may be more, and what ends it has to come after the last of them
        rows = [row for row in rows if json.loads(row[1])["kind"] not in LAST_KINDS]
    items: list[Any] = [*_chunks(db, run_id, samples), *(json.loads(row[1]) for row in rows)]
    if not items:
        return None
    seq = int(db.execute("SELECT next_seq FROM jobs WHERE run_id = ?", (run_id,)).fetchone()[0])
    body = json.dumps({"seq": seq, "items": items}, allow_nan=False)
    db.execute("INSERT INTO batches (run_id, seq, body) VALUES (?, ?, ?)", (run_id, seq, body))
    db.execute("UPDATE jobs SET next_seq = ? WHERE run_id = ?", (seq + 1, run_id))
    db.executemany("DELETE FROM items WHERE id = ?", [(row[0],) for row in rows])
    db.executemany(
        "DELETE FROM samples WHERE run_id = ? AND metric = ? AND t = ?", [(run_id, row[0], row[1]) for row in samples]
    )
    return seq, body


def _chunks(db: sqlite3.Connection, run_id: str, samples: list[sqlite3.Row]) -> Iterator[SamplesItem]:
    """One item per metric and unbroken piece of its series."""
    ordered = sorted((row["metric"], row["t"], row["value"]) for row in samples)
    pieces = groupby(enumerate(ordered), key=lambda pair: (pair[1][0], pair[1][1] - pair[0]))
    for (metric, _), piece in pieces:
        points = [point for _, point in piece]
        row = db.execute("SELECT next FROM chunks WHERE run_id = ? AND metric = ?", (run_id, metric)).fetchone()
        chunk = int(row[0]) if row else 0
        db.execute("INSERT OR REPLACE INTO chunks (run_id, metric, next) VALUES (?, ?, ?)", (run_id, metric, chunk + 1))
        yield {
            "kind": "samples",
            "metric": metric,
            "chunk": chunk,
            "t0_s": float(points[0][1]),
            "interval_s": 1.0,
            "values": [value for _, _, value in points],
        }
