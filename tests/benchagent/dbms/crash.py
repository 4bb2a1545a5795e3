"""What a COMMIT is worth: syncs counted under strace, and acknowledged commits after a kill -9.

Of engines inside the load generator, and what the proofs of servers (`tests.benchagent.durability`) share with them.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchagent.dbms.probes import Step
from benchagent.java import LoadGenerator
from benchagent.job.session import session_job
from benchagent.workloads.tpcb import _prepare
from benchagent.workloads.tpcb import run_step as tpcb_step

from tests.benchagent.dbms.trial import Trial
from tests.benchagent.small import FULL_SPEED

COMMITS = 500
# Syncs of so many commits where they do not wait: of a checkpoint now and then, of a log that was filled.
CLEARLY_FEWER = COMMITS // 2
# So many acknowledged commits there are before a kill, however slow the machine is.
ENOUGH = 20
# An engine inside the load generator is killed when 100 commits were told, of 30,000 that fall due in ten minutes.
PACE_PER_S, TOLD, DUE_FOR_S = 50, 100, 600
SYNC_CALLS = ("fsync", "fdatasync")
WRITE_CALLS = ("write", "pwrite64", "pwritev", "writev")
OPEN_CALLS = ("open", "openat")
TRACED = f"trace={','.join((*SYNC_CALLS, *WRITE_CALLS, *OPEN_CALLS))}"
CALL = re.compile(r"^\d+\s+(\w+)\((.*)$")
OPENED_SYNCHRONOUS = re.compile(r"O_D?SYNC.*= \d+<([^>]*)>")
FIRST_FILE = re.compile(r"^\d+<([^>]*)>")
WRITTEN_AT = re.compile(r", (\d+)(?:\)| <unfinished)")
# Of earlier runs.
NO_HISTORY: Step = {"op": "execute", "phase": "empty", "statements": ["DELETE FROM history"]}
HISTORY = "SELECT tid, delta FROM history"


@dataclass(frozen=True)
class Survivors:
    """Commits by terminal: that the load generator was told of, and that are there after the restart.

    `numbers`: how many different numbers the transactions that are there have; `largest`: the largest of them. The
    load generator numbers what it begins from 1. `begun`: how many more each terminal may have begun at most.
    """

    acknowledged: Sequence[int]
    found: Sequence[int]
    numbers: int
    largest: int
    begun: int = 1

    @classmethod
    def of(cls, acknowledged: Sequence[int], rows: Iterable[Sequence[Any]], begun: int = 1) -> Survivors:
        """`rows`: terminal and number, out of the history of a run of `numbered` transactions."""
        pairs = [(int(terminal), int(number)) for terminal, number in rows]
        found = Counter(terminal for terminal, _ in pairs)
        numbers = {number for _, number in pairs}
        return cls(
            acknowledged,
            [found[terminal] for terminal in range(len(acknowledged))],
            len(numbers),
            max(numbers, default=0),
            begun,
        )

    @property
    def is_safe(self) -> bool:
        """No acknowledged commit is missing, none is there twice, and of each terminal no more than it had begun.

        A number that is missing below the largest is of a transaction that another terminal had under way. Of one
        terminal there is none: the numbers are 1 to `found` without a gap, and so each commit is told from the others.
        """
        pairs = zip(self.acknowledged, self.found, strict=True)
        return (
            all(acknowledged <= found <= acknowledged + self.begun for acknowledged, found in pairs)
            and self.numbers == sum(self.found)
            and self.largest - self.numbers < len(self.acknowledged)
        )


def loaded(trial: Trial) -> Trial:
    session = trial.events(_prepare(trial.instance.dialect, 1))
    assert session.error is None, session.error
    return trial


def run_step(trial: Trial, **changes: Any) -> Step:
    return {**tpcb_step(trial.factors.replaced(rate_per_s=FULL_SPEED), trial.seed), **changes}


def numbered(step: Step) -> Step:
    """TPC-B whose history names the terminal instead of the teller, and a number instead of the delta."""
    (transaction,) = step["transactions"]
    *updates, history = transaction["statements"]
    bound = {**history, "bind": ["terminal", "bid", "aid", "number"]}
    more = [{"name": "terminal", "kind": "terminal"}, {"name": "number", "kind": "sequence"}]
    variables = [*transaction["variables"], *more]
    return {**step, "transactions": [{**transaction, "variables": variables, "statements": [*updates, bound]}]}


def short(step: Step) -> Step:
    """TPC-B of which only the last statement is left, as a commit waits for the disk however much was changed."""
    (transaction,) = step["transactions"]
    return {**step, "transactions": [{**transaction, "statements": transaction["statements"][-1:]}]}


def generator(trial: Trial, *prefix: str | Path) -> LoadGenerator:
    """A load generator in the instance's environment; `prefix` is put before its command."""
    instance = trial.instance

    def spawn(argv: list[str], **more: Any) -> Any:
        return trial.children.spawn([*prefix, *argv], **more)

    return LoadGenerator(
        trial.toolchain,
        instance.class_path,
        cwd=instance.generator_dir,
        env=trial.children.environment(**instance.jvm_environment),
        spawn=partial(spawn),
    )


class Trace:
    """Counts waits for the disk in what strace wrote: fsync, fdatasync, and writes to files opened with O_DSYNC or
    O_SYNC. `of`: only of files with this in their path. `offsets`: in bytes, of those that are pwrite64, in order."""

    def __init__(self, of: str = "", synchronous: Iterable[str] = ()) -> None:
        self._of = of
        self._synchronous = set(synchronous)
        self.syncs = 0
        self.offsets: list[int] = []

    def read(self, text: str) -> None:
        for line in text.splitlines():
            call = CALL.match(line)
            if call and self._waits(call[1], call[2]):
                self.syncs += 1
                at = WRITTEN_AT.search(call[2])
                if call[1] == "pwrite64" and at:
                    self.offsets.append(int(at[1]))

    def _waits(self, name: str, rest: str) -> bool:
        if name in OPEN_CALLS:
            self._synchronous |= set(OPENED_SYNCHRONOUS.findall(rest))
        target = FIRST_FILE.match(rest)
        if self._of and not (target and self._of in target[1]):
            return False
        if name in WRITE_CALLS:
            return bool(target and target[1] in self._synchronous)
        return name in SYNC_CALLS


def check_each_commit_waits(trial: Trial, *, of: str) -> None:
    """`of`: what the path of the log has in it. Only its syncs count, not those that go on beside the commits."""
    syncs = _syncs(trial, of)
    assert syncs >= COMMITS, syncs


def check_commits_do_not_wait(trial: Trial) -> None:
    """For any file."""
    syncs = _syncs(trial, "")
    assert syncs < CLEARLY_FEWER, syncs


def _syncs(trial: Trial, of: str) -> int:
    """How often the engine waited for the disk while one terminal committed."""
    output = trial.children.job_dir / "tmp" / "trace"
    # Only the calls that are traced stop the engine: a JVM makes many others.
    made = generator(trial, "strace", "-f", "--seccomp-bpf", "-y", "-s", "0", "-e", TRACED, "-o", output)
    step = short(run_step(trial, terminals=1, duration_s=600, max_transactions=COMMITS))
    made.start(session_job(trial.instance, [step], setup=False))
    events = list(made.events())
    made.abort(10)
    summary = next(event for event in events if event["event"] == "summary")
    assert int(summary["transactions"]) == COMMITS
    trace = Trace(of)
    trace.read(output.read_text(errors="replace"))
    return trace.syncs


def check_none_lost(trial: Trial) -> None:
    """Kill the process with the engine in mid-run, without a word; then open the database again.

    What it was told dies with it, but for the seconds that it has reported. Its one terminal commits at a fixed rate:
    no more can be there than have fallen due.
    """
    made = generator(trial)
    step = run_step(trial, terminals=1, duration_s=DUE_FOR_S, rate_per_s=PACE_PER_S, arrivals="even")
    acknowledged, started = 0, time.monotonic()
    made.start(session_job(trial.instance, [NO_HISTORY, numbered(step)], setup=False))
    for event in made.events():
        if event["event"] == "second":
            acknowledged += event["n"]
            if acknowledged >= TOLD:
                os.kill(made.pid, signal.SIGKILL)  # what it had told until then is still read
    assert made.abort(60) == -signal.SIGKILL, "it had ended by itself"
    due = int((time.monotonic() - started) * PACE_PER_S) + 1
    (rows,) = trial.query(HISTORY)
    found = Survivors.of([acknowledged], rows, due - acknowledged)
    assert acknowledged >= TOLD
    assert found.is_safe, found
