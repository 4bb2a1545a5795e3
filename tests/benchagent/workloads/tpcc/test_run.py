"""Whole jobs on every embedded engine, with warehouses of a hundredth of their size."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from benchagent.abort import Abort
from benchagent.catalog import DBMSS, METRICS, WORKLOADS
from benchagent.java import JavaToolchain
from benchagent.job import Job
from benchagent.paths import AgentDirs
from benchagent.protocol import FinishItem
from benchagent.spool import Spool
from benchagent.workloads import tpcc

from tests.benchagent.fake_server import job_spec

pytestmark = pytest.mark.engines
RunJob = Callable[..., FinishItem]


@pytest.fixture
def run_job(dirs: AgentDirs, spool: Spool, toolchain: JavaToolchain, monkeypatch: pytest.MonkeyPatch) -> RunJob:
    monkeypatch.setattr(tpcc, "WORKLOAD", tpcc.Tpcc(divisor=100))

    def run(dbms: str, settings: dict[str, str] | None = None, **factors: int | str) -> FinishItem:
        version = next(group.version for group in toolchain.engine_groups() if group.dbms == dbms and group.default)
        spec = job_spec(
            f"run-{dbms}",
            workload="tpcc",
            workload_version=WORKLOADS["tpcc"].version,
            dbms=dbms,
            dbms_version=version,
            settings=list((DBMSS[dbms].settings if settings is None else settings.items())),
            factors={"warehouses": 1, "terminals": 4, "warm_up_s": 1, "duration_s": 2, **factors},
        )
        spool.add_job({"job": spec, "job_token": "x", "lease_s": 600}, time.time())
        return Job(spec, dirs=dirs, toolchain=toolchain, spool=spool, abort=Abort()).run()

    return run


def values(item: FinishItem, phase: str) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in item["result"]["metrics"] if metric["phase"] == phase}


def checks(item: FinishItem) -> dict[str, Any]:
    return {check["name"]: check for check in item["result"]["checks"]}


@pytest.mark.parametrize("dbms", ["sqlite", "derby", "hsqldb", "h2"])
def test_it_loads_runs_and_leaves_a_consistent_database(dbms: str, run_job: RunJob):
    item = run_job(dbms, warehouses=2)
    assert (item["outcome"], item["message"]) == ("finished", "")
    found, types = values(item, "run"), item["result"]["statistics"]["transaction_types"]
    assert set(found) | set(values(item, "load")) <= set(METRICS)
    print(dbms, found, values(item, "load"), types)
