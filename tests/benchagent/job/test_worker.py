"""The agent as a process of its own, against a server in memory."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from benchagent.catalog import DBMSS
from benchagent.cli import main
from benchagent.dbms.postgresql.discovery import DIRS_VARIABLE, installations
from benchagent.java import JavaToolchain
from benchagent.job.worker import Stop, Worker
from benchagent.machine.datasets import DRAFT, FOLDER
from benchagent.machine.emulation import Emulation, attached
from benchagent.machine.limits import groups_named
from benchagent.machine.storages import Storages
from benchagent.paths import AgentDirs

from tests.benchagent.fake_server import FakeServer, job_spec, wait_until
from tests.benchagent.small import ACCOUNTS, QUICK_JVM, RATE_PER_S
from tests.benchagent.storages import needs_cgroups, needs_emulation

pytestmark = pytest.mark.engines
needs_postgresql = pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine")
Start = Callable[..., "subprocess.Popen[str]"]
# `python -m benchagent` with more time for its end (what it leaves when it is out of patience says nothing here), and
# with the small tables and quick JVMs of `make_smaller`.
PATIENT = f"""
from benchagent.cli import main as cli
from benchagent.java import loadgen
from benchagent.job import worker
from benchagent.workloads import tpcb
cli.STOP_PATIENCE_S, worker.FLUSH_AT_END_S = 50, 30
tpcb.ACCOUNTS, usual = {ACCOUNTS}, loadgen.jvm_options
loadgen.jvm_options = lambda java, **more: [*usual(java, **more), *{QUICK_JVM}]
raise SystemExit(cli.main())
"""
# Its `run` never ends, whatever it is asked.
DEAF = """
import time
from benchagent.cli import main as cli
class Deaf:
    def run(self):
        print("runs", flush=True)
        time.sleep(600)
    def stop(self): ...
cli.STOP_PATIENCE_S = 0.2
raise SystemExit(cli._until_signal(Deaf()))
"""
BRIEF = {"warm_up_s": 0, "duration_s": 1}
WAIT_S = 60  # on a machine that is busy with other tests; a failure alone takes so long


@pytest.fixture
def start(dirs: AgentDirs, server: FakeServer, toolchain: JavaToolchain) -> Iterator[Start]:
    """Start an agent; its jars come from the cache that the tests share."""
    started: list[subprocess.Popen[str]] = []
    dirs.cache.rmdir()
    dirs.cache.symlink_to(toolchain.store.folder.parent)

    def begin(*arguments: str, url: str = "", **environment: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PATIENT, "run", "--server", url or server.url, "--state", str(dirs.root)]
        child = subprocess.Popen(
            [*command, *arguments], stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        started.append(child)
        return child

    yield begin
    for child in started:
        child.kill()
        child.communicate()


def naming(state: Path) -> list[str]:
    """Processes whose command line, working directory or environment names the state folder."""
    found = []
    for process in psutil.process_iter():
        try:
            line = process.cmdline()  # read once: the process may be gone at the next look
            places = [*line, process.cwd(), *process.environ().values()]
        except psutil.Error:
            continue
        if process.pid != os.getpid() and any(str(state) in place for place in places):
            found.append(f"{process.pid} {' '.join(line)[:200]}")
    return found


def job_for(dbms: str, run_id: str = "run-1", **factors: int | str) -> Any:
    groups = {group.dbms: group.version for group in JavaToolchain(Path()).engine_groups() if group.default}
    version = next(iter(installations())) if dbms == "postgresql" else groups[dbms]
    given = {"scale_factor": 1, "terminals": 2, "warm_up_s": 1, "duration_s": 2, "rate_per_s": RATE_PER_S, **factors}
    settings = list(DBMSS[dbms].settings)
    return job_spec(run_id, dbms=dbms, dbms_version=version, settings=settings, factors=given)


def spooled_seconds(dirs: AgentDirs, run_id: str = "run-1") -> list[int]:
    with sqlite3.connect(f"file:{dirs.spool}?mode=ro", uri=True) as database:
        return [row[0] for row in database.execute("SELECT n FROM seconds WHERE run_id = ? ORDER BY t", (run_id,))]


# Who it is


def test_it_registers_once_with_its_code_and_is_the_same_agent_at_the_second_start(start, server, dirs, tmp_path):
    code = tmp_path / "code"
    code.touch(mode=0o600)
    code.write_text("right-code\n")
    child = start("--name", "bench-1", "--code-file", str(code))
    wait_until(lambda: server.polls)
    child.send_signal(signal.SIGTERM)
    assert child.wait(WAIT_S) == 0
    again = start("--name", "bench-1", "--code-file", str(code))
    count = len(server.polls)
    wait_until(lambda: len(server.polls) > count)
    again.send_signal(signal.SIGTERM)
    assert again.wait(WAIT_S) == 0

    (registration,) = server.registrations
    assert (registration["name"], registration["code"]) == ("bench-1", "right-code")
    assert registration["hardware"]["ram_bytes"] == psutil.virtual_memory().total
    assert stat.S_IMODE(dirs.identity.stat().st_mode) == 0o600
    assert json.loads(dirs.identity.read_text())["agent_id"] == "agent-1"
    assert {"hardware", "engines"} <= server.polls[0].keys()
    assert all("hardware" not in poll for poll in server.polls[1:count])


@needs_postgresql
def test_it_does_not_report_postgresql_when_its_folder_is_hidden(start, server, tmp_path):
    start(**{DIRS_VARIABLE: str(tmp_path)})
    wait_until(lambda: server.polls)
    found = {engine["dbms"] for engine in server.polls[0]["engines"]}
    assert "postgresql" not in found
    assert found >= {slug for slug, entry in DBMSS.items() if entry.embedded}


def test_it_does_what_the_server_asks_of_the_machine_and_tells_how_it_went(start, server, dirs):
    folder = dirs.root.parent / "disk"
    folder.mkdir(mode=0o755)
    orders = [
        ("storage add", ["disk", str(folder)]), ("storage measure", ["disk"]), ("engines install", ["--help"]),
        ("rm", ["-r"]),
    ]  # fmt: skip
    server.errands = [{"id": str(number), "command": c, "words": words} for number, (c, words) in enumerate(orders)]
    start()
    wait_until(lambda: len(server.reports) == 4 and server.reports["3"]["state"] != "running", WAIT_S)
    assert [server.reports[str(number)]["state"] for number in range(4)] == ["done", "done", "failed", "failed"]
    assert "syncs a second" in server.reports["1"]["log"]
    assert "no engine '--help'" in server.reports["2"]["log"]
    wait_until(
        lambda: any("disk" in poll.get("errands", {}).get("storage remove", []) for poll in server.polls), WAIT_S
    )


def test_it_reports_a_second_derby_that_was_added(start, server, dirs, toolchain):
    command = [sys.executable, "-m", "benchagent", "engines", "install", "derby-10.6.2.1", "--state", str(dirs.root)]
    child = start()
    wait_until(lambda: server.polls)
    child.terminate()
    child.wait(WAIT_S)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "derby-10.6.2.1 added"), done.stderr
    count = len(server.polls)
    start()
    wait_until(lambda: len(server.polls) > count)
    versions = [engine["version"] for engine in server.polls[count]["engines"] if engine["dbms"] == "derby"]
    assert versions == ["10.16.1.1", "10.6.2.1"]


def test_it_tells_of_the_disk_of_a_storage_that_is_named_while_it_runs(start, server, dirs):
    start()
    wait_until(lambda: server.polls)
    folder = dirs.root.parent / "fast"
    folder.mkdir()
    command = [sys.executable, "-m", "benchagent", "storage", "add", "fast", str(folder)]
    subprocess.run([*command, "--state", str(dirs.root)], check=True)

    def polls() -> list[dict[str, Any]]:
        return [poll for poll in server.polls if "fast" in {row["name"] for row in poll.get("places", [])}]

    wait_until(polls)
    assert polls()[0]["hardware"]["storage"]


def test_it_stops_with_clear_words_when_the_server_speaks_another_protocol(start, server):
    server.spoken_version = 7
    child = start()
    assert child.wait(WAIT_S) == 3
    assert "the server speaks 7" in child.stderr.read()


def test_it_says_what_to_do_when_the_server_does_not_know_it(start, server, dirs):
    server.known_tokens = {"another"}
    child = start()
    assert child.wait(WAIT_S) == 3
    words = child.stderr.read()
    assert "does not know this agent" in words
    assert str(dirs.identity) in words


def test_it_refuses_plain_http_to_another_machine(start):
    child = start(url="http://192.0.2.1:8000")
    assert child.wait(WAIT_S) == 2
    assert "use https" in child.stderr.read()


def test_it_waits_for_a_server_that_is_not_up_yet(start, server):
    server.stop()
    start()
    time.sleep(1)
    server.start_again()
    wait_until(lambda: server.polls)


def test_it_can_be_stopped_while_it_waits_for_the_server(start, server):
    server.stop()
    child = start()
    assert "no answer, next try" in child.stderr.readline()
    child.send_signal(signal.SIGTERM)
    assert child.wait(WAIT_S) == 0
    server.start_again()


# Its work


def test_it_streams_the_run_while_it_runs_and_sends_exactly_what_it_measured(start, server, dirs):
    server.jobs.append(job_for("sqlite", duration_s=8))
    start()
    wait_until(lambda: len(server.series("run-1", "tps")) >= 3)
    early = server.series("run-1", "tps")
    assert server.finish("run-1") is None
    finish = server.wait_for_finish("run-1")
    assert finish["outcome"] == "finished", finish["message"]
    assert server.series("run-1", "tps")[: len(early)] == early
    assert server.series("run-1", "tps") == spooled_seconds(dirs)
    assert list(dict.fromkeys(server.states("run-1"))) == [
        "preparing",
        "loading",
        "warming_up",
        "measuring",
        "collecting",
    ]
    assert "balances" in {check["name"] for check in finish["result"]["checks"]}
    assert "durability power_loss" in server.log("run-1")
    assert server.heartbeats


def test_it_runs_one_job_after_the_other(start, server):
    server.jobs += [job_for("sqlite", "run-1", **BRIEF), job_for("h2", "run-2", **BRIEF)]
    start()
    assert server.wait_for_finish("run-2")["outcome"] == "finished"
    (first,), (second,) = server.items("run-1", "finish"), server.items("run-2", "finish")
    assert first["at"] < server.items("run-2", "state")[0]["at"] < second["at"]


def test_it_goes_on_measuring_without_the_server_and_delivers_afterwards(start, server, dirs):
    server.jobs.append(job_for("sqlite", duration_s=4))
    start()
    wait_until(lambda: server.series("run-1", "tps"))
    server.stop()
    wait_until(lambda: len(spooled_seconds(dirs)) == 5)
    server.start_again()
    assert server.wait_for_finish("run-1")["outcome"] == "finished"
    assert server.series("run-1", "tps") == spooled_seconds(dirs)


def test_it_ends_a_cancelled_run_long_before_its_time_and_takes_the_next(start, server, dirs):
    server.jobs += [job_for("sqlite", "run-1", duration_s=600), job_for("sqlite", "run-2", **BRIEF)]
    start()
    wait_until(lambda: len(server.series("run-1", "tps")) >= 3)
    server.cancelled.add("run-1")
    finish = server.wait_for_finish("run-1", WAIT_S)
    assert finish["outcome"] == "cancelled"
    assert not [line for line in naming(dirs.root) if "loadgen" in line and "run-1" in line]
    assert server.series("run-1", "tps") == spooled_seconds(dirs)
    assert server.wait_for_finish("run-2")["outcome"] == "finished"


# Its end


@needs_postgresql
def test_it_leaves_nothing_after_kill_9_in_a_measured_run_and_reports_it_lost_at_the_next_start(start, server, dirs):
    server.jobs.append(job_for("postgresql", duration_s=600))
    child = start()
    wait_until(lambda: len(server.series("run-1", "tps")) >= 3)
    assert [line for line in naming(dirs.root) if "postgres" in line]
    child.kill()
    child.wait()
    wait_until(lambda: not naming(dirs.root))
    assert list(dirs.jobs.iterdir())

    measured = spooled_seconds(dirs)
    start()
    finish = server.wait_for_finish("run-1")
    assert (finish["outcome"], finish["message"]) == ("lost", "the agent was interrupted")
    assert server.series("run-1", "tps") == measured == spooled_seconds(dirs)
    found = {metric["name"]: metric["value"] for metric in finish["result"]["metrics"]}
    assert found["transactions"] + found["transactions_warm_up"] == sum(measured)
    assert finish["result"]["durability"]["durability"] == "power_loss"
    assert list(dirs.jobs.iterdir()) == []


@pytest.fixture
def storages(dirs: AgentDirs) -> Iterator[Storages]:
    """With a named folder and an emulated disk, which is taken down after the agents."""
    made = Storages(dirs)
    (dirs.root.parent / "fast").mkdir(mode=0o755)
    made.add("fast", dirs.root.parent / "fast")
    made.emulate("slow", Emulation(file=dirs.root.parent / "disk.img", size_bytes=200_000_000))
    yield made
    made.close()


@needs_postgresql
@needs_cgroups
@needs_emulation
def test_it_leaves_nothing_on_any_storage_after_kill_9(storages, start, server, dirs):
    """Data in a named folder, the log on an emulated disk, within limits; killed while it measures."""
    fast, slow, file = storages.get("fast").path, storages.get("slow").path, dirs.root.parent / "disk.img"
    (fast / "somebody's").write_text("x")
    limits = {"memory_limit_mb": 400, "data_storage": "fast", "log_storage": "slow"}
    server.jobs.append(job_for("postgresql", duration_s=600, **limits))
    child = start()
    wait_until(lambda: server.series("run-1", "tps"))
    kept = [storage / FOLDER / f"{DRAFT}run-1" for storage in (dirs.root, fast, slow)]
    for draft in kept:  # as if it had been killed while it saved the data
        draft.mkdir(parents=True)
    assert list(groups_named("run-1"))
    child.kill()
    child.wait()
    left = [folder / ".benchagent-jobs" / "run-1" for folder in (fast, slow)]
    assert [folder.is_dir() for folder in (*left, dirs.jobs / "run-1")] == [True] * 3

    again = start()
    server.wait_for_finish("run-1")
    assert [folder for folder in (*left, *kept) if folder.exists()] == []
    assert list(dirs.jobs.iterdir()) == []
    assert [*groups_named("run-1")] == []
    assert len(attached(file)) == 1  # of the agent that runs now
    again.send_signal(signal.SIGTERM)
    assert again.wait(WAIT_S) == 0
    assert attached(file) == []
    assert (fast / "somebody's").read_text() == "x"
    assert naming(dirs.root) == []


@pytest.mark.parametrize("dbms", ["sqlite", pytest.param("postgresql", marks=[needs_postgresql, pytest.mark.whole])])
def test_it_ends_a_run_as_lost_when_it_is_stopped(dbms, start, server, dirs):
    server.jobs.append(job_for(dbms, duration_s=600))
    child = start()
    wait_until(lambda: len(server.series("run-1", "tps")) >= 2)
    child.send_signal(signal.SIGTERM)
    assert child.wait(WAIT_S) == 0
    assert naming(dirs.root) == []
    assert list(dirs.jobs.iterdir()) == []
    finish = server.wait_for_finish("run-1")
    assert (finish["outcome"], finish["message"]) == ("lost", "the agent was stopped")


def test_it_leaves_within_five_seconds_of_sigterm_whatever_it_is_at():
    assert main.STOP_PATIENCE_S <= 4
    child = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "runs\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait(WAIT_S) == 0
    finally:
        child.kill()
        child.communicate()


def test_it_kills_what_an_earlier_life_left_running(start, server, dirs):
    """As after kill -9 where the death signal does not exist: a child goes on in the job's folder."""
    folder = dirs.jobs / "run-old"
    folder.mkdir()
    code = "import os, time; os.setsid(); time.sleep(600)"
    orphan = subprocess.Popen([sys.executable, "-c", code], cwd=folder, env={"BENCHAGENT_JOB_DIR": str(folder)})
    start()
    wait_until(lambda: server.polls)
    assert orphan.wait(WAIT_S) == -signal.SIGKILL
    assert not folder.exists()


def test_it_refuses_a_second_agent_on_the_same_state(start, server, monkeypatch, dirs, capsys, own_temporary_folder):
    start()
    wait_until(lambda: server.polls)
    monkeypatch.setattr(main, "LOCK_WAIT_S", 0.3)
    assert main.main(["run", "--server", server.url, "--state", str(dirs.root)]) == main.EXIT_LOCKED
    assert "another agent is running" in capsys.readouterr().err


def test_a_code_file_that_is_not_there_is_named_before_the_server_is_asked(dirs: AgentDirs, toolchain, monkeypatch):
    worker = Worker(dirs, toolchain, server="http://127.0.0.1:1", name="x", code_file=dirs.root / "nowhere")
    monkeypatch.setattr(worker._client, "register", lambda message: pytest.fail("the server was asked"))
    with pytest.raises(Stop, match=r"/nowhere holds no one-time code: it is not there, or empty"):
        worker._register()
