"""Proof of what a COMMIT is worth on a server, for the tests of every engine that is one.

`check_none_lost` kills the whole server with SIGKILL in mid-run of TPC-B and starts it again on its files: no
acknowledged commit may be missing, and at most one more per terminal may be there. That shows crash safety only, as the
page cache outlives the process. `check_each_commit_waits` therefore counts how often the server waited for the disk
while one terminal committed: at least once a commit where a commit is to survive power loss.

All load TPC-B where nothing was loaded yet, so one trial can serve for several. Its instance has to have `server_pids`
and `start`; for engines inside the load generator see `tests.benchagent.dbms.crash`.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchagent.job.session import session_job
from benchagent.machine import process

from tests.benchagent.dbms.crash import (
    CLEARLY_FEWER,
    COMMITS,
    ENOUGH,
    HISTORY,
    NO_HISTORY,
    TRACED,
    Survivors,
    Trace,
    generator,
    loaded,
    numbered,
    run_step,
    short,
)
from tests.benchagent.dbms.trial import Trial

ATTACH_TIMEOUT_S = 20
WAIT_S = 20


def check_none_lost(trial: Trial, *, terminals: int = 1) -> None:
    """Run TPC-B, kill the server after a second, start it again, look into the history.

    The load generator outlives the server and knows to the last one which commits it was told of.
    """
    _load_once(trial)
    acknowledged = _acknowledged_until_killed(trial, terminals)
    trial.instance.start()
    (rows,) = trial.query(HISTORY)
    found = Survivors.of(acknowledged, rows)
    assert sum(acknowledged) >= ENOUGH
    assert found.is_safe, found


def _acknowledged_until_killed(trial: Trial, terminals: int) -> list[int]:
    """By terminal."""
    made = generator(trial)
    step = numbered(run_step(trial, terminals=terminals, warm_up_s=0, duration_s=60))
    made.start(session_job(trial.instance, [NO_HISTORY, step], setup=False))
    told, killed, acknowledged = 0, False, []
    for event in made.events():
        if event["event"] == "second":
            told += event["n"]
            if not killed and told >= ENOUGH:
                kill_9(trial.instance.server_pids())
                killed = True
        if event["event"] == "summary":
            assert len(event["dead_terminals"]) == terminals, "the server was killed and a terminal has not noticed"
            acknowledged = event["per_terminal"]
    made.abort(WAIT_S)
    return acknowledged


def check_each_commit_waits(trial: Trial, *, of: str) -> None:
    """`of`: what the path of the log has in it. Only its syncs count, not those that go on beside the commits."""
    syncs = traced_commits(trial, of=of).syncs
    assert syncs >= COMMITS, syncs


def check_commits_do_not_wait(trial: Trial, *, of: str = "") -> None:
    """For any file, or for those with `of` in their path where the server writes others at all times."""
    syncs = traced_commits(trial, of=of).syncs
    assert syncs < CLEARLY_FEWER, syncs


def traced_commits(trial: Trial, *, of: str) -> Trace:
    """How often the server waited for the disk, and where, while one terminal committed `COMMITS` times."""
    _load_once(trial)
    step = short(run_step(trial, terminals=1, warm_up_s=0, duration_s=600, max_transactions=COMMITS))
    with traced(trial.instance.server_pids(), of) as trace:
        session = trial.events([step])
    assert session.error is None, session.error
    assert int(session.summary["transactions"]) == COMMITS
    return trace


def _load_once(trial: Trial) -> None:
    if not trial.sessions:
        loaded(trial)


def kill_9(pids: Sequence[int]) -> None:
    """Every process of a server, children and sessions too, at once and without a word. Waits for their end."""
    family = [member for pid in pids for member in process.family(pid)]
    assert process.kill(family, WAIT_S) == []


@contextlib.contextmanager
def traced(pids: Sequence[int], of: str) -> Iterator[Trace]:
    """Counts the syncs of running processes, all their threads and all their children, those to come included.

    The trace knows them when the tracing has ended.
    """
    members = sorted({member.pid for pid in pids for member in process.family(pid)})
    trace = Trace(of, (path for pid in members for path in _synchronous_files(pid)))
    with tempfile.TemporaryDirectory() as folder:
        output, words = Path(folder) / "trace", Path(folder) / "words"
        targets = [part for pid in members for part in ("-p", str(pid))]
        with words.open("w") as stderr:
            strace = subprocess.Popen(
                ["strace", "-f", "-y", "-s", "0", "-e", TRACED, "-o", str(output), *targets], stderr=stderr
            )
        try:
            _wait_for_words(words, len(members), strace)
            yield trace
        finally:
            strace.send_signal(signal.SIGINT)
            strace.wait(WAIT_S)
        trace.read(output.read_text(errors="replace"))


def _wait_for_words(words: Path, processes: int, strace: subprocess.Popen[bytes]) -> None:
    """One about each process: a worker may have ended in between."""
    deadline = time.monotonic() + ATTACH_TIMEOUT_S
    while len(re.findall(" attached|No such process", words.read_text())) < processes:
        assert strace.poll() is None and time.monotonic() < deadline, words.read_text()
        time.sleep(0.02)


def _synchronous_files(pid: int) -> list[str]:
    """Files that a process holds open with O_DSYNC or O_SYNC."""
    found = []
    with contextlib.suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            flags = re.search(r"flags:\s+(\d+)", Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text())
            if flags and int(flags[1], 8) & os.O_DSYNC:  # O_SYNC holds its bit
                found.append(str(entry.readlink()))
    return found
