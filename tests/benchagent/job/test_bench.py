"""What jobs do with their factors: real SQLite and Derby jobs, of one agent each."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from benchagent.catalog.space import MINIMUM_BYTES
from benchagent.configfiles.meaning import of_effective
from benchagent.dbms.backup import ToolCommand
from benchagent.dbms.postgresql.discovery import installations
from benchagent.dbms.sqlite import SqliteCounters
from benchagent.errors import JobError
from benchagent.java import JavaToolchain
from benchagent.job.bench import JobBench
from benchagent.job.collect import Collector, Event
from benchagent.job.result import Description
from benchagent.link.spool import Spool
from benchagent.machine import fingerprint
from benchagent.machine.devices import device_of
from benchagent.machine.emulation import Emulation
from benchagent.machine.fingerprint import SyncRate, SyncRates
from benchagent.machine.limits import JobCgroup, Throttle
from benchagent.machine.process import Abort, Aborted, Children, ProcessFailed, leftovers
from benchagent.machine.storages import Storages
from benchagent.paths import AgentDirs
from benchagent.protocol import Claimed
from benchagent.workloads.backup import WORKLOAD as BACKUP

from tests.benchagent.fake_server import job_spec
from tests.benchagent.jobs import (
    FAST_SYNCS_PER_S,
    SYNC_RATES,
    MakeJob,
    checks,
    log_of,
    series,
    told,
    values,
    write_sync_rate,
)
from tests.benchagent.link.test_spool import sent
from tests.benchagent.small import FULL_SPEED, RATE_PER_S
from tests.benchagent.storages import needs_cgroups, needs_emulation
from tests.whole import whole

pytestmark = pytest.mark.engines

needs_postgresql = pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine")

FAILING = """\
[setup]
CREATE TABLE seat (id INTEGER NOT NULL PRIMARY KEY);
CREATE TABLE note (id INTEGER NOT NULL);
[load seat 10]
id = sequence

[transaction take]
\\set id random(1, 10)
INSERT INTO seat (id) VALUES (:id);

[transaction write weight {weight}]
\\set id random(1, 10)
INSERT INTO note (id) VALUES (:id);

[check seats]
SELECT COUNT(*) FROM seat;
= 10

[check notes]
SELECT COUNT(*) FROM note;
+ committed(write)
"""
STUCK = """\
[setup]
CREATE FUNCTION other_than_0(n INTEGER) RETURNS INTEGER AS $$ BEGIN
  IF n = 0 THEN RAISE EXCEPTION 'no luck' USING ERRCODE = '40001'; END IF;
  RETURN n;
END $$ LANGUAGE plpgsql;

[transaction look]
\\set n terminal()
SELECT other_than_0(:n);
"""


@pytest.fixture
def second_storage(dirs: AgentDirs) -> Iterator[Path]:
    """A storage named "second"."""
    folder = Path(tempfile.mkdtemp(prefix="benchagent-test-second-"))
    folder.chmod(0o755)
    Storages(dirs).add("second", folder)
    yield folder
    shutil.rmtree(folder)


# Tools


@pytest.fixture
def bench(dirs: AgentDirs, spool: Spool, toolchain: JavaToolchain) -> JobBench:
    """With an instance that is not there."""
    job_dir = dirs.jobs / "run-1"
    folders = Storages(dirs).make_folders("run-1", {})
    (job_dir / "tmp").mkdir()
    claimed: Claimed = {"job": job_spec("run-1", workload="backup", factors={}), "job_token": "x", "lease_s": 600}
    spool.add_job(claimed, time.time())
    children, abort = Children(job_dir), Abort()
    abort.on_request(children.kill_all)
    instance: Any = SimpleNamespace(command_lines=[], server_pids=list, in_memory=False, redacted=str)
    return JobBench(
        spec=claimed["job"],
        job_dir=job_dir,
        folders=folders,
        toolchain=toolchain,
        spool=spool,
        children=children,
        abort=abort,
        server_cgroup=JobCgroup("run-1"),
        generator_cgroup=JobCgroup("run-1"),
        embedded=False,
        described=Description(embedded=False),
        on_state=lambda state: None,
        log=lambda line: None,
        on_news=lambda: None,
        data_loaded=lambda: None,
        instance=instance,
        factors=BACKUP.factors({}),
        tables=(),
        reading=frozenset(),
        data_missing=True,
    )


def test_the_settings_in_force_at_the_end_count(bench: JobBench):
    """Somebody turned the waiting off while it ran."""
    instance: Any = bench.instance
    instance.effective_queries = {"settings": "SHOW ALL"}
    instance.effective_settings = lambda rows: [("synchronous_commit", rows["settings"][0][0])]
    instance.durability = lambda settings: of_effective("postgresql", settings)
    for prefix, value in (("effective:", "on"), ("end:effective:", "off")):
        bench.collector.add({"event": "query", "name": f"{prefix}settings", "rows": [[value]]})
    result = bench.described.result
    assert result["durability"]["promised"]["durability"] == "bounded_loss"
    assert result["effective_settings"] == [("synchronous_commit", "off")]
    assert [words.endswith("synchronous_commit from on to off") for words in result["warnings"]] == [True]


def shell(script: str, **more: Any) -> ToolCommand:
    return ToolCommand(["sh", "-c", script], **more)


def test_a_tool_is_timed_and_what_it_prints_is_kept(bench: JobBench):
    result = bench.tool(shell("echo out; echo problem >&2; sleep 0.3"), phase="backup", timeout_s=60)
    assert result.output == "out\nproblem\n"
    assert 0.3 <= result.elapsed_s < 10
    assert bench.instance.command_lines == ["sh -c echo out; echo problem >&2; sleep 0.3"]


def test_a_tool_reads_and_writes_files(bench: JobBench, tmp_path: Path):
    (tmp_path / "in").write_text("dump")
    command = shell(
        'cat; echo "$KEY" >&2', stdin=tmp_path / "in", stdout=tmp_path / "out", environment={"KEY": "value"}
    )
    assert bench.tool(command, phase="backup", timeout_s=60).output == "value\n"
    assert (tmp_path / "out").read_text() == "dump"


def test_a_tool_that_fails_is_told_with_its_last_words(bench: JobBench):
    with pytest.raises(JobError, match=r"sh ended with 3: no such database"):
        bench.tool(shell("echo no such database; exit 3"), phase="backup", timeout_s=60)


def test_a_tool_is_sampled_each_second(bench: JobBench, spool: Spool):
    # It works when it is watched: a busy machine may look for the first time after some tenths of a second.
    work = "sleep 0.5; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 1.7"
    bench.tool(shell(work), phase="backup", timeout_s=30)
    cores = series(sent(spool, "run-1"), "tool_cpu_cores")
    assert len(cores) >= 2
    assert max(value for value in cores if value is not None) > 0.01
    assert len(bench.collector.measured("machine_cpu_percent")) == len(cores)


def test_a_tool_is_looked_at_while_it_runs(bench: JobBench, tmp_path: Path):
    """It runs until it was looked at twice."""
    seen: list[str] = []
    enough = tmp_path / "enough"

    def look(pid: int) -> None:
        seen.append(psutil.Process(pid).name())
        if len(seen) == 2:
            enough.touch()

    bench.tool(shell(f"until [ -e '{enough}' ]; do sleep 0.1; done"), phase="backup", timeout_s=60, observe=look)
    assert len(seen) >= 2 and set(seen) == {"sh"}


def test_a_tool_that_takes_too_long_is_ended_with_all_it_started(bench: JobBench):
    with pytest.raises(ProcessFailed, match=r"backup did not end within 0\.3 s"):
        bench.tool(shell("sleep 60 & sleep 61"), phase="backup", timeout_s=0.3)
    assert leftovers(bench.backup_dir.parent.parent) == []


def test_a_cancelled_job_ends_its_tool(bench: JobBench):
    abort = bench.abort
    threading.Timer(0.3, abort.request, ("cancelled", "no longer wanted")).start()
    begun = time.monotonic()
    with pytest.raises((Aborted, JobError)):
        bench.tool(shell("sleep 60"), phase="backup", timeout_s=60)
    assert time.monotonic() - begun < 30
    with pytest.raises(Aborted):
        bench.session([])


def test_what_was_in_memory_is_gone_with_its_session(bench: JobBench):
    bench.instance.in_memory = True
    bench._sessions = 1
    with pytest.raises(JobError, match="there can be no second session"):
        bench.session([])


# Data: a copy for each repeat, or handed on


@pytest.mark.parametrize(
    ("dbms", "origin", "words"),
    [
        ("sqlite", "restored", "restored copy"),
        ("sqlite", "continued", "continued"),
        *whole(("derby", "continued", "continued")),
    ],
)
def test_the_second_run_uses_what_the_first_has_loaded(dbms: str, origin: str, words: str, make_job: MakeJob, spool):
    given = {"data_origin": origin, "warm_up_s": 0, "duration_s": 1}
    first, second = (make_job(dbms, run_id=f"run-{number}", **given).run() for number in (1, 2))
    assert [(item["outcome"], item["message"]) for item in (first, second)] == [("finished", "")] * 2
    loaded, used = first["result"]["dataset"], second["result"]["dataset"]
    assert loaded["origin"] == "fresh load"
    assert used["origin"] == words
    assert used["loaded_by_run"] == "run-1"
    assert used["rows"] == loaded["rows"]
    assert used.get("continues_run") == ("run-1" if origin == "continued" else None)
    assert values(first)["load_s"] > 0 and "load_s" not in values(second)
    batches = sent(spool, "run-2")
    assert series(batches, "load_rows_per_s") == []
    assert checks(second)["balances"] and checks(second)["history_rows"]
    assert values(second)["db_size_bytes"] > 80_000
    caches = [told(item)["conditions"]["caches"] for item in (first, second)]
    assert caches[1].startswith("the DBMS was started on data that were not in the page cache")
    assert (caches[0] == caches[1]) == (origin == "restored")
    log = log_of(batches)
    assert "data of run run-1 put into place" in log
    assert "\nload: " not in log


def test_a_run_on_another_storage_takes_the_data_from_where_they_are(make_job: MakeJob, dirs: AgentDirs, spool):
    (dirs.root.parent / "second").mkdir(mode=0o755)
    Storages(dirs).add("second", dirs.root.parent / "second")
    given = {"data_origin": "restored", "warm_up_s": 0, "duration_s": 1}
    assert make_job("sqlite", run_id="run-1", **given).run()["outcome"] == "finished"
    item = make_job("sqlite", run_id="run-2", data_storage="second", **given).run()
    assert (item["outcome"], item["message"]) == ("finished", "")
    assert "storage default, run run-1" in item["result"]["dataset"]["origin"]
    assert item["result"]["storage"][0]["path"].startswith(str(dirs.root.parent / "second"))
    assert checks(item)["balances"] and checks(item)["history_rows"]
    assert "run-1, from storage default" in log_of(sent(spool, "run-2"))
    assert list((dirs.root.parent / "second").rglob("facts.json")) == []


# Circumstances


@needs_cgroups
def test_it_starts_cold_and_rested_within_memory_and_cpus(make_job: MakeJob, spool: Spool):
    limits, first = {"memory_limit_mb": 400, "cpus": 1}, min(os.sched_getaffinity(0))
    item = make_job("sqlite", cache_state="cold", settle_s=1, warm_up_s=0, duration_s=1, **limits).run()
    assert item["outcome"] == "finished", item["message"]
    conditions = told(item)["conditions"]
    assert conditions["caches"].startswith(("the files' pages were dropped", "the machine's page cache was dropped"))
    assert "MB were in it" in conditions["caches"]
    assert conditions["limits"].startswith(f"CPU {first}; 381 MiB")
    assert re.findall(r"\d+ MiB", conditions["heap"]) == ["253 MiB", "512 MiB"]
    assert 20_000_000 < values(item)["memory_peak_bytes"] <= 400_000_000
    lines = log_of(sent(spool, "run-sqlite")).splitlines()
    order = [next(number for number, line in enumerate(lines) if words in line)
             for words in (" load: ", "DBMS started anew", "resting 1 s", " run: ")]  # fmt: skip
    assert order == sorted(order)


@needs_cgroups
def test_it_reads_the_files_before_the_run_as_far_as_its_memory_lets_them_stay(make_job: MakeJob):
    given = {"data_origin": "restored", "cache_state": "preread", "scale_factor": 10, "warm_up_s": 0, "duration_s": 1}
    items = [make_job("sqlite", run_id=f"run-{number}", memory_limit_mb=400, **given).run() for number in (1, 2)]
    assert [(item["outcome"], item["message"]) for item in items] == [("finished", "")] * 2
    for item in items:
        words = told(item)["conditions"]["caches"]
        told_of = (
            r"the files were read once, within the limits of the job: ([\d.]+) of ([\d.]+) MB are in the page cache"
        )
        found = re.fullmatch(told_of, words)
        assert found, words
        assert 0.5 < 0.95 * float(found[2]) <= float(found[1])


@needs_cgroups
def test_an_engine_that_is_killed_for_lack_of_memory_is_told_as_such(make_job: MakeJob, monkeypatch):
    item = make_job("derby", run_id="run-1", memory_limit_mb=100).run()
    assert item["outcome"] == "failed"
    assert "95 MiB is too low" in item["message"]
    monkeypatch.setattr("benchagent.job.job.fit_heap", lambda instance, limit_bytes: "")
    # A heap that is taken at once: how much a short session needs depends on what its JVM compiles.
    monkeypatch.setattr("tests.benchagent.small.QUICK_JVM", ("-Xms128m", "-XX:+AlwaysPreTouch"))
    item = make_job("derby", run_id="run-2", memory_limit_mb=60).run()
    assert item["outcome"] == "failed"
    assert "killed 1 process" in item["message"] and "57 MiB of memory" in item["message"]


@needs_cgroups
@needs_postgresql
def test_a_server_starts_cold_from_a_copy_within_its_memory(make_job: MakeJob):
    brief = {"warm_up_s": 0, "duration_s": 1}
    given = {"data_origin": "restored", "cache_state": "cold", "memory_limit_mb": 300, **brief}
    first, second = (make_job("postgresql", run_id=f"run-{number}", **given).run() for number in (1, 2))
    assert [(item["outcome"], item["message"]) for item in (first, second)] == [("finished", "")] * 2
    assert second["result"]["dataset"]["origin"] == "restored copy"
    assert checks(second)["balances"] and checks(second)["history_rows"]
    found, conditions = values(second), told(second)["conditions"]
    assert found["restart_s"] > 0
    assert 10_000_000 < found["memory_peak_bytes"] <= 300_000_000
    assert conditions["caches"].startswith(("the files' pages were dropped", "the machine's page cache was dropped"))
    assert conditions["limits"].startswith("286 MiB of memory")
    assert found["disk_read_mb_per_s"] >= 0 and found["server_rss_bytes"] > 0


@needs_emulation
def test_an_emulated_disk_is_slow_for_what_is_measured_only(make_job: MakeJob, dirs: AgentDirs, tmp_path, monkeypatch):
    monkeypatch.setitem(MINIMUM_BYTES, "tpcb", 0)
    made = Emulation(file=tmp_path / "disk.img", size_bytes=128_000_000, write_mb_per_s=60)
    storages = Storages(dirs)
    storages.emulate("slow", made)
    storages.open()
    happened: list[str] = []
    set_rates, take = JobCgroup._set_rates, Collector.add

    def noted_rates(cgroup: JobCgroup, throttles: Sequence[Throttle]) -> None:
        if cgroup.throttles:  # the load generator's cgroup has none
            happened.append("slow" if throttles == cgroup.throttles else "fast")
        set_rates(cgroup, throttles)

    def noted_event(collector: Collector, event: Event) -> None:
        if event["event"] == "phase":
            happened.append(f"{event['phase']} {event['state']}")
        take(collector, event)

    monkeypatch.setattr(JobCgroup, "_set_rates", noted_rates)
    monkeypatch.setattr(Collector, "add", noted_event)
    # The last query before the run fails, and is over all the same.
    failing = {"ages": "SELECT nothing FROM nowhere"}
    monkeypatch.setattr(SqliteCounters, "maintenance_queries", lambda source, tables: failing)
    try:
        item = make_job("sqlite", data_storage="slow", warm_up_s=0, duration_s=1).run()
    finally:
        storages.close()
        made.file.unlink()
    assert (item["outcome"], item["message"]) == ("finished", "")
    rate = {"query begin": "fast", "query end": "slow"}
    assert all(happened[number - 1] == rate[what] for number, what in enumerate(happened) if what in rate)
    for phase in ("load", "run"):
        begin, end = happened.index(f"{phase} begin"), happened.index(f"{phase} end")
        assert "fast" not in happened[begin:end]
        rates = [what for what in happened[:begin] if what in ("slow", "fast")]
        assert rates[-1:] in ([], ["slow"])
    assert happened.index("query begin") < happened.index("run begin") < happened.index("run end")
    assert "query begin" in happened[happened.index("run end") :]


def test_it_keeps_a_rate_and_says_which_device_held_what(
    make_job: MakeJob, spool: Spool, second_storage: Path, dirs: AgentDirs
):
    (dirs.root / SYNC_RATES).unlink()
    item = make_job("sqlite", arrivals="even", data_storage="second", duration_s=3).run()
    assert item["outcome"] == "finished", item["message"]
    found = values(item)
    # All that was due in four seconds, each slot once: how much of it was in time is the machine's affair.
    counted = ("transactions", "transactions_warm_up", "transactions_tail", "errors_total", "unstarted")
    assert sum(found[name] for name in counted) == 4 * RATE_PER_S
    assert found["tps"] == pytest.approx(found["transactions"] / 3)
    assert found["service_p50_ms"] <= found["latency_p50_ms"] + 0.01
    assert found["service_p50_ms"] <= found["service_p95_ms"] <= found["service_p99_ms"] <= found["service_max_ms"]
    assert 0 < found["sync_rate_per_s"] < FAST_SYNCS_PER_S
    assert "rate_kept" in checks(item) and "little_law" not in checks(item)
    batches = sent(spool, "run-sqlite")
    assert len(series(batches, "backlog")) == len(series(batches, "tps")) == 4
    storage = {use["role"]: use for use in item["result"]["storage"]}
    assert list(storage) == ["data", "log", "temp"]
    assert {use["device"] for use in storage.values()} == {device_of(second_storage)}
    assert all(Path(use["path"]).is_relative_to(second_storage) for use in storage.values())
    assert not any(second_storage.rglob("run-sqlite"))
    rows, megabytes = series(batches, "load_rows_per_s"), series(batches, "load_mb_per_s")
    assert len(rows) == len(megabytes)
    assert found["load_rows_per_s"] > 0 and found["load_mb_per_s"] > 0 and found["load_bytes"] > 80_000


def test_derby_puts_its_log_onto_the_storage_that_was_asked_for(
    make_job: MakeJob, second_storage: Path, dirs: AgentDirs
):
    item = make_job("derby", log_storage="second", warm_up_s=0, duration_s=1).run()
    assert item["outcome"] == "finished", item["message"]
    paths = {use["role"]: Path(use["path"]) for use in item["result"]["storage"]}
    assert paths["log"].is_relative_to(second_storage)
    assert paths["data"].is_relative_to(dirs.jobs)
    assert not any(second_storage.rglob("run-derby"))


def test_an_engine_that_keeps_its_log_with_its_data_refuses_another_storage(make_job: MakeJob, second_storage: Path):
    item = make_job("sqlite", log_storage="second").run()
    assert item["outcome"] == "failed"
    assert "log" in item["message"] and "storage" in item["message"]


@pytest.mark.parametrize(
    ("again_per_s", "busy_then", "busy_now", "is_slow"),
    [(0.2, "", "", True), (FAST_SYNCS_PER_S, "", "", False), (0.2, "by others", "by others", None)],
)
def test_commits_faster_than_the_disk_are_flagged_when_it_is_as_slow_after_the_run(
    make_job: MakeJob, dirs: AgentDirs, monkeypatch, again_per_s: float, busy_then: str, busy_now: str,
    is_slow: bool | None,
):  # fmt: skip
    """As with a disk that was said to sync once in ten seconds, and is measured again before anybody is accused. Of a
    machine that was busy at each try nothing is known."""
    write_sync_rate(dirs, 0.1, busy=busy_then)
    now = SyncRate(again_per_s, {}, "a test", time.time(), busy_now)
    monkeypatch.setattr(fingerprint, "measure", lambda *_: now)
    # As of a device that does not count its flushes: else these decide.
    monkeypatch.setattr("benchagent.job.bench.flush_count", lambda folder: None)
    settings = {"journal_mode": "WAL", "synchronous": "FULL"}
    item = make_job("sqlite", settings=settings, warm_up_s=0, duration_s=1).run()
    assert item["outcome"] == "finished", item["message"]
    assert checks(item).get("waited_for_disk") is (None if is_slow is None else not is_slow)
    warned = " ".join(item["result"]["warnings"])
    assert ("cannot have waited" in warned) is (is_slow is True)
    assert ("disk rate not known" in warned) is (is_slow is None)
    assert (item["result"]["durability"]["durability"] == "power_loss") is not (is_slow is True)
    assert values(item)["sync_rate_per_s"] == again_per_s


def test_a_run_says_that_the_rate_of_its_disk_could_not_be_measured(make_job: MakeJob, monkeypatch):
    def fail(*_: object) -> None:
        raise JobError("no space for the file of the measurement")

    monkeypatch.setattr(SyncRates, "of", fail)
    settings = {"journal_mode": "WAL", "synchronous": "FULL"}
    item = make_job("sqlite", settings=settings, warm_up_s=0, duration_s=1).run()
    assert item["outcome"] == "finished", item["message"]
    assert any(words.startswith("disk rate not known") for words in item["result"]["warnings"])
    assert "waited_for_disk" not in checks(item)


# Errors


def test_a_run_with_many_errors_fails_and_keeps_its_numbers(make_job: MakeJob):
    item = make_job("sqlite", workload="script", rate_per_s=FULL_SPEED, script_text=FAILING.format(weight=10)).run()
    assert item["outcome"] == "failed"
    assert "failed transactions, " in item["message"] and "(limit 1 %)" in item["message"]
    found = values(item)
    assert found["errors"] > 0 and found["transactions"] > 0 and found["tps"] > 0
    assert found["error_share_percent"] > 1
    wrong = {name for name, ok in checks(item).items() if not ok}
    assert wrong - {"little_law"} == {"errors_within_limit"}  # time went into what failed
    counted = [sum(counts[1::2]) for counts in told(item)["latency_map"]["counts"]]
    assert sum(counted) >= found["transactions"]
    types = told(item)["transaction_types"]
    assert types["take"]["errors"] == found["errors"] and types["write"]["errors"] == 0


def test_a_few_errors_are_counted(make_job: MakeJob):
    item = make_job("h2", workload="script", rate_per_s=FULL_SPEED, script_text=FAILING.format(weight=300)).run()
    assert item["outcome"] == "finished", item["message"]
    found = values(item)
    assert found["errors"] > 0
    assert 0 < found["error_share_percent"] <= 1


@needs_postgresql
def test_a_terminal_that_meets_conflicts_until_the_end_is_told_of(make_job: MakeJob):
    item = make_job("postgresql", workload="script", script_text=STUCK, terminals=2).run()
    assert item["outcome"] == "finished", item["message"]
    assert not checks(item)["terminals_not_stuck"]
    (warning,) = [words for words in item["result"]["warnings"] if "conflicts" in words]
    assert "no luck" in warning and "SQLSTATE 40001" in warning
    assert warning.endswith("; no transaction in the measured window by terminal 0")


# Backup


def test_it_backs_up_restores_and_counts_150_tables(make_job: MakeJob, spool: Spool, dirs: AgentDirs):
    item = make_job("sqlite", workload="backup", settings={}).run()
    assert (item["outcome"], item["message"]) == ("finished", "")
    found = values(item)
    assert checks(item) == {"backup_made": True, "rows_counted": True, "restored": True}
    assert found["backup_bytes"] > 5_000_000
    assert found["backup_mb_per_s"] == pytest.approx(found["backup_bytes"] / 1e6 / found["backup_s"])
    assert found["backup_synced_s"] > found["backup_s"]
    assert found["restore_s"] > 0 and found["count_s"] > 0
    assert ("count_tool_cpu_cores" in found) == (found["count_s"] >= 0.1), "of less nothing is told"
    assert ("tool_cpu_cores" in found) == (found["backup_s"] >= 0.1)
    (query,) = told(item)["queries"]
    assert "big_parent" in query["plan"] and "count_mb_per_s" not in found  # it counts in the smaller index
    assert found["load_s"] > 0 and "tps" not in found
    conditions = told(item)["conditions"]
    assert conditions["backup_storage"]
    assert "does not count" in conditions["checkpoints"]
    assert "maintenance" in told(item)["none"] or told(item)["maintenance"]
    assert {table["table"] for table in told(item)["tables"]} == {"big", "middle_1", "middle_2"}
    assert [use["role"] for use in item["result"]["storage"]] == ["data", "log", "temp", "backup"]
    assert item["result"]["durability"] and item["result"]["effective_settings"]
    assert list(dirs.jobs.iterdir()) == []
