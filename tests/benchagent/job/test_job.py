"""Real jobs of an engine inside the load generator and of a server, one second of warm-up and two measured."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from benchagent.catalog import METRICS
from benchagent.dbms.postgresql.discovery import installations
from benchagent.link.spool import Spool
from benchagent.machine import process
from benchagent.paths import AgentDirs
from benchagent.protocol import CONFIGURATION, FinishItem

from tests.benchagent import made_data
from tests.benchagent.fake_server import wait_until
from tests.benchagent.jobs import MakeJob, series, told, values
from tests.benchagent.link.test_spool import sent
from tests.benchagent.small import make_no_archives

pytestmark = pytest.mark.engines
needs_postgresql = pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine")
# Every other engine runs something in test_matrix, and the same in test_statistics_table.
ENGINES = ["sqlite", pytest.param("postgresql", marks=needs_postgresql)]
COUNTER = """
[setup]
CREATE TABLE counter (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL);
[load counter 1]
id = sequence
n = constant(0)
[transaction count]
UPDATE counter SET n = n + 1 WHERE id = 1;
"""
# A run of which only what is around it is looked at.
BRIEF: dict[str, Any] = {"workload": "script", "script_text": COUNTER, "terminals": 1, "warm_up_s": 0, "duration_s": 1}


@pytest.mark.parametrize("dbms", ENGINES)
def test_it_runs_tpcb_and_leaves_nothing_behind(dbms: str, make_job: MakeJob, spool: Spool, dirs: AgentDirs):
    item = make_job(dbms).run()
    batches = sent(spool, f"run-{dbms}")
    assert (item["outcome"], item["message"]) == ("finished", ""), batches

    found, result = values(item), item["result"]
    seconds = spool.seconds(f"run-{dbms}")
    assert [second["t"] for second in seconds] == [0, 1, 2]
    assert found["transactions"] == sum(second["n"] for second in seconds if not second["warm_up"]) > 0
    assert found["tps"] == pytest.approx(found["transactions"] / 2)
    assert sum(result["per_terminal"]) == found["transactions"]
    assert found["db_size_bytes"] > 80_000  # 1,000 rows of at least 84 bytes
    assert set(found) <= set(METRICS)

    assert series(batches, "tps") == [second["n"] for second in seconds]
    assert series(batches, "latency_p99_ms") == [second["p99_us"] / 1000 for second in seconds]
    shown = {item["metric"] for batch in batches for item in batch["items"] if item["kind"] == "samples"}
    assert shown <= set(METRICS)
    assert ("server_cpu_cores" in shown) == (dbms == "postgresql")
    assert result["driver"]["cpu"] == ("driver" if dbms == "postgresql" else "driver + engine")
    states = [item["state"] for batch in batches for item in batch["items"] if item["kind"] == "state"]
    assert list(dict.fromkeys(states)) == ["preparing", "loading", "warming_up", "measuring", "collecting"]
    assert [use["role"] for use in result["storage"]] == ["data", "log", "temp"]
    assert result["dataset"]["origin"] == "fresh load"
    conditions = told(item)["conditions"]
    assert conditions["server_sampling"] == "server sampled by the agent on its machine"
    no_counter = "the engine does not count checkpoints: "
    assert conditions["checkpoints"].startswith(no_counter) == ("checkpoints" in told(item)["none"])
    assert dbms != "postgresql" or conditions["checkpoints"].endswith(("in the measured window", "in the window"))
    assert result["effective_settings"]
    assert (result["durability"] or {})["durability"] == "power_loss"

    assert list(dirs.jobs.iterdir()) == []
    assert process.leftovers(dirs.jobs / f"run-{dbms}") == []


# Durability follows the settings in force: more of them in test_durability, those of scheduled runs in test_matrix


@pytest.mark.parametrize(
    ("dbms", "settings", "expected"),
    [
        ("derby", {"derby.system.durability": "test"}, "none"),
        ("hsqldb", {"FILES WRITE DELAY": "100 MILLIS"}, "bounded_loss"),
    ],
)
def test_it_states_the_durability_of_the_settings_in_force(dbms, settings, expected, make_job: MakeJob):
    item = make_job(dbms, settings=settings, **BRIEF).run()
    assert item["outcome"] == "finished", item["message"]
    durability = item["result"]["durability"]
    assert durability["durability"] == expected, (durability, item["result"]["effective_settings"])
    assert durability["reason"]


def test_it_reports_a_pragma_that_sqlite_does_not_know_as_ignored(make_job: MakeJob):
    settings = {"journal_mode": "WAL", "synchronous": "OFF", "no_such_pragma": "7"}
    item = make_job("sqlite", settings=settings, **BRIEF).run()
    assert item["outcome"] == "finished", item["message"]
    assert item["result"]["ignored_settings"] == ["no_such_pragma"]
    assert (item["result"]["durability"] or {})["durability"] == "dbms_crash"


@pytest.mark.parametrize(("dbms", "settings", "failure"), [
    pytest.param("postgresql", {"no_such_parameter": "1"}, CONFIGURATION, marks=needs_postgresql),
    # More terminals than it lets in: with fewer of them it works.
    pytest.param("postgresql", {"max_connections": "1"}, None, marks=needs_postgresql),
    ("sqlite", {"not a name;": "1"}, CONFIGURATION),
])  # fmt: skip
def test_settings_that_no_run_can_have_are_a_failure_of_their_kind(make_job: MakeJob, dbms, settings, failure):
    item = make_job(dbms, settings=settings, **BRIEF | {"terminals": 2}).run()
    assert (item["outcome"], item.get("failure")) == ("failed", failure), item["message"]


@needs_postgresql
def test_it_reads_back_what_postgresql_made_of_the_settings(make_job: MakeJob):
    settings = {"shared_buffers": "16384", "wal_writer_delay": "1s", "synchronous_commit": "off", "port": "1"}
    item = make_job("postgresql", settings=settings, **BRIEF).run()
    effective = dict(item["result"]["effective_settings"])
    assert (effective["shared_buffers"], effective["wal_writer_delay"]) == ("128MB", "1s")
    assert item["result"]["ignored_settings"] == ["port: set by the agent"]
    durability = item["result"]["durability"] or {}
    assert durability["durability"] == "bounded_loss"
    assert "3 × wal_writer_delay (1s)" in durability["reason"]


# What goes wrong


@pytest.mark.parametrize(
    ("dbms", "settings", "words"),
    [
        ("sqlite", {"synchronous = OFF; DROP": "x"}, "is not the name of a setting"),
        ("hsqldb", {"FILES NONSENSE": "1"}, "setup"),
        ("h2", {"NO_SUCH_PARAMETER": "1"}, "NO_SUCH_PARAMETER"),
        pytest.param("postgresql", {"shared_buffers": "much"}, "shared_buffers", marks=needs_postgresql),
        pytest.param("postgresql", {"no_such_parameter": "1"}, "no_such_parameter", marks=needs_postgresql),
    ],
)
def test_it_says_which_setting_is_wrong(dbms, settings, words, make_job: MakeJob, dirs: AgentDirs):
    item = make_job(dbms, settings=settings).run()
    assert item["outcome"] == "failed"
    assert words in item["message"]
    assert list(dirs.jobs.iterdir()) == []


def test_it_fails_with_both_sums_when_a_balance_was_changed_behind_its_back(make_job: MakeJob, spool: Spool):
    job = make_job("sqlite", duration_s=10)
    result: list[FinishItem] = []
    thread = threading.Thread(target=lambda: result.append(job.run()))
    thread.start()
    wait_until(lambda: spool.seconds("run-sqlite"), 60)
    database = sqlite3.connect(next(job.job_dir.rglob("bench.db")), timeout=30)
    with database:
        database.execute("UPDATE branches SET bbalance = bbalance + 1 WHERE bid = 1")
    database.close()
    thread.join(60)
    (item,) = result
    assert item["outcome"] == "failed"
    words = dict(part.split() for part in item["message"].split(": ")[1].split(";")[0].split(", "))
    assert item["message"].startswith("balances do not add up")
    assert int(words["branches"]) - 1 == int(words["accounts"]) == int(words["tellers"]) == int(words["history"])
    assert values(item)["tps"] > 0  # the numbers are kept, the run counts as failed


def test_it_fails_when_the_server_of_a_terminal_dies(make_job: MakeJob, spool: Spool):
    if not installations():
        pytest.skip("no PostgreSQL on this machine")
    job = make_job("postgresql", duration_s=5)
    result: list[FinishItem] = []
    thread = threading.Thread(target=lambda: result.append(job.run()))
    thread.start()
    wait_until(lambda: len(spool.seconds("run-postgresql")) >= 2, 60)
    (postmaster,) = job.instance.server_pids()
    psutil.Process(postmaster).kill()
    thread.join(60)
    assert result[0]["outcome"] == "failed"
    assert "I/O error" in result[0]["message"] or "connection" in result[0]["message"].lower()
    log = "".join(item["text"] for batch in sent(spool, "run-postgresql") for item in batch["items"] if "text" in item)
    assert "postgresql: " in log  # the end of the server's own log, which is gone with its folder
    assert "load generator: " in log


# Ending early


@pytest.mark.parametrize("dbms", ["sqlite", pytest.param("postgresql", marks=needs_postgresql)])
def test_it_is_gone_within_seconds_of_a_cancel_and_keeps_what_it_measured(dbms, make_job: MakeJob, spool, dirs):
    job = make_job(dbms, duration_s=600)
    result: list[FinishItem] = []
    thread = threading.Thread(target=lambda: result.append(job.run()))
    thread.start()
    run_id = f"run-{dbms}"
    wait_until(lambda: len(spool.seconds(run_id)) >= 3, 60)
    assert process.leftovers(job.job_dir)
    asked = time.monotonic()
    job.abort.request("cancelled", "cancelled on the server")
    thread.join(60)
    assert not thread.is_alive()
    assert time.monotonic() - asked < 30
    (item,) = result
    assert (item["outcome"], item["message"]) == ("cancelled", "cancelled on the server")
    seconds = spool.seconds(run_id)
    assert series(sent(spool, run_id), "tps") == [second["n"] for second in seconds]
    assert values(item)["transactions"] == sum(second["n"] for second in seconds if not second["warm_up"])
    assert item["result"]["durability"] and item["result"]["effective_settings"]
    assert "tps" not in values(item)
    assert process.leftovers(job.job_dir) == []
    assert list(dirs.jobs.iterdir()) == []


@needs_postgresql
def test_it_can_be_cancelled_while_the_server_is_being_made(
    make_job: MakeJob, dirs: AgentDirs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(made_data, "MADE", tmp_path / "none")  # a copy would be there too soon
    job = make_job("postgresql")
    threading.Timer(0.4, job.abort.request, ("cancelled", "no longer wanted")).start()
    began = time.monotonic()
    item = job.run()
    assert item["outcome"] == "cancelled"
    assert time.monotonic() - began < 20
    assert list(dirs.jobs.iterdir()) == []


@needs_postgresql
def test_what_is_told_of_a_run_names_storages_and_no_paths(make_job: MakeJob, spool, dirs):
    """Was: "… in file "/var/lib/benchagent/jobs/…/benchagent.conf"" as the public message of a failed run."""
    job = make_job("postgresql")
    job.spec["settings"] = [["sharde_buffers", "1MB"]]
    item = job.run()
    assert 'in file "default/run-postgresql/storage/data/cluster/benchagent.conf"' in item["message"]
    assert str(dirs.root) not in json.dumps([item["result"]["command_lines"], *sent(spool, "run-postgresql")])


def test_it_refuses_a_job_that_does_not_fit_on_the_disk(make_job: MakeJob):
    item = make_job("hsqldb", scale_factor=10_000).run()
    assert item["outcome"] == "failed"
    assert "650.6 GB of disk space are needed with room for logs and copies" in item["message"]


def test_it_refuses_a_workload_version_it_does_not_have(make_job: MakeJob):
    job = make_job("sqlite")
    job.spec["workload_version"] = "99"
    assert "asks for 99" in job.run()["message"]


def test_it_uses_another_derby_when_the_job_names_it(make_job: MakeJob, monkeypatch: pytest.MonkeyPatch):
    make_no_archives(monkeypatch)
    item = make_job("derby", version="10.6.2.1", **BRIEF).run()
    assert item["outcome"] == "finished", item["message"]
    assert "10.6.2.1" in item["result"]["product"]


def test_it_keeps_the_paths_of_a_job_below_its_folder(make_job: MakeJob, dirs: AgentDirs):
    """Children get a home and a temporary folder of their own."""
    environment = make_job("sqlite")._children.environment()
    below = [environment[name] for name in ("HOME", "TMPDIR", process.JOB_DIR_VARIABLE)]
    assert all(Path(path).is_relative_to(dirs.jobs) for path in below)
