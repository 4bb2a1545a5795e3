"""Whole jobs with a script, one second of warm-up and one measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.java import JavaToolchain
from benchagent.job.job import Job
from benchagent.link.spool import Spool
from benchagent.machine.process import Abort
from benchagent.paths import AgentDirs
from benchagent.protocol import FinishItem

from tests.benchagent.fake_server import job_spec
from tests.benchagent.small import RATE_PER_S, make_smaller
from tests.benchagent.workloads.script.scripts import BANK

pytestmark = pytest.mark.engines
RunJob = Callable[..., FinishItem]


@pytest.fixture
def run_job(dirs: AgentDirs, spool: Spool, toolchain: JavaToolchain, monkeypatch: pytest.MonkeyPatch) -> RunJob:
    make_smaller(monkeypatch)

    def run(dbms: str, script: str) -> FinishItem:
        version = next(group.version for group in toolchain.engine_groups() if group.dbms == dbms and group.default)
        spec = job_spec(
            f"run-{dbms}",
            workload="script",
            workload_version=WORKLOADS["script"].version,
            dbms=dbms,
            dbms_version=version,
            settings=list(DBMSS[dbms].settings),
            factors={"script_text": script, "terminals": 2, "warm_up_s": 1, "duration_s": 1, "rate_per_s": RATE_PER_S},
        )
        spool.add_job({"job": spec, "job_token": "x", "lease_s": 600}, time.time())
        return Job(spec, dirs=dirs, toolchain=toolchain, spool=spool, abort=Abort()).run()

    return run


def checks(item: FinishItem) -> dict[str, Any]:
    return {check["name"]: check for check in item["result"]["checks"]}


def test_it_loads_runs_and_checks(run_job: RunJob):
    item = run_job("sqlite", BANK)
    assert (item["outcome"], item["message"]) == ("finished", "")
    found = checks(item)
    assert {"script_booked", "script_accounts", "script_balance"} <= set(found)
    assert all(check["ok"] for name, check in found.items() if name.startswith("script_"))
    assert item["result"]["dataset"]["rows"] == {"account": 1000}


def test_a_script_may_make_nothing_and_only_ask(run_job: RunJob):
    item = run_job("hsqldb", "[transaction ask]\nSELECT COUNT(*) FROM information_schema.tables;\n")
    assert (item["outcome"], item["message"]) == ("finished", ""), "seen: the guest was never made"


def test_a_check_that_does_not_hold_fails_the_run(run_job: RunJob):
    wrong = BANK.replace("+ committed(transfer)", "+ committed(look)")
    item = run_job("sqlite", wrong)
    assert item["outcome"] == "failed"
    assert not checks(item)["script_booked"]["ok"]
    assert "booked" in item["message"]


def test_a_statement_that_the_engine_refuses_is_named_before_anything_runs(run_job: RunJob):
    item = run_job("sqlite", BANK.replace("SELECT balance,", "SELECT saldo,"))
    assert item["outcome"] == "failed"
    assert "statement 3 of 3: SELECT saldo," in item["message"]


def test_a_script_that_cannot_be_read_is_told_with_its_line(run_job: RunJob):
    item = run_job("h2", BANK.replace("\\set id random(1, 1000)", "\\set id random(1)", 1))
    assert item["outcome"] == "failed"
    assert "script, line 15: random has the form random(min, max)" in item["message"]
