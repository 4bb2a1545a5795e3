"""What fails a run, and what only makes it suspicious."""

from __future__ import annotations

from typing import Any

import pytest
from benchagent.catalog import Durability
from benchagent.catalog.durability import Observation, of_observation
from benchagent.job import checks

from tests.benchagent.job.test_checks import SECONDS, summary
from tests.benchagent.test_histogram import encoded

SYNCS_PER_S = 200.0


def suspicious(found: dict[str, Any], **changes: Any) -> dict[str, bool]:
    usual: dict[str, Any] = {"terminals": 4, "closed_loop": True, "generator_cores": None, "observation": None}
    return {check["name"]: check["ok"] for check in checks.suspicions(found, **usual | changes)}


def rate(syncs_per_s: float) -> Observation:
    return Observation(syncs_per_s=syncs_per_s)


def failed(found: dict[str, Any]) -> list[str]:
    return [check["name"] for check in checks.integrity(found, SECONDS) if not check["ok"]]


def test_it_passes_a_run_in_which_everything_agrees():
    assert failed(summary(histogram=encoded([2000]))) == []


def test_it_counts_the_histogram_itself():
    assert failed(summary(histogram=encoded([1999]))) == ["counts_agree"]
    assert failed(summary(histogram="bm90IG9uZQ==")) == ["counts_agree"]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"dead_terminals": [{"terminal": 0, "error": "gone"}]}, "terminals_alive"),
        ({"errors": 40}, "errors_within_limit"),
        ({"p50_us": 7000}, "percentiles_ordered"),
    ],
)
def test_it_fails_a_run(changes: dict[str, Any], name: str):
    assert failed(summary(histogram=encoded([2000]), **changes)) == [name]


def test_it_suspects_commits_that_were_faster_than_the_disk():
    assert suspicious(summary(), observation=rate(SYNCS_PER_S)) == {"little_law": True, "waited_for_disk": False}
    assert suspicious(summary(tps=800.0), observation=rate(SYNCS_PER_S))["waited_for_disk"]
    assert "waited_for_disk" not in suspicious(summary())


def test_only_what_writes_has_to_wait_for_the_disk():
    """1,000 TPS: 100 of them only read, 50 were rolled back."""
    kinds = {
        "read": {"transactions": 200, "rolled_back": 0}, "write": {"transactions": 1800, "rolled_back": 100},
    }  # fmt: skip
    found = summary(per_type=kinds)
    assert checks.writing_tps(found, frozenset({"read"})) == 850
    slower = 212.0
    assert not suspicious(found, observation=rate(slower), reading=frozenset({"read"}))["waited_for_disk"]
    assert suspicious(found, observation=rate(213.0), reading=frozenset({"read"}))["waited_for_disk"]
    assert "waited_for_disk" not in suspicious(found, observation=rate(slower), reading=frozenset(kinds))


def test_it_expects_littles_law_of_a_closed_loop_only():
    assert suspicious(summary(tps=100.0)) == {"little_law": False}


def test_it_suspects_a_terminal_that_met_conflicts_until_the_end():
    retried = [{"count": 9, "error": "database is locked", "sqlstate": None, "code": 5}]
    assert suspicious(summary(retried=retried))["terminals_not_stuck"]
    assert not suspicious(summary(retried=retried, per_terminal=[2000, 0]))["terminals_not_stuck"]


def test_it_suspects_a_rate_that_was_not_kept():
    paced = {"rate_per_s": 500.0, "slots": 2000, "unstarted": 20}
    assert suspicious(summary(tps=100.0, **paced), closed_loop=False) == {"rate_kept": True}
    late = summary(**{**paced, "unstarted": 21})
    assert suspicious(late, closed_loop=False) == {"rate_kept": False}
    assert checks.rate_kept(late)["detail"] == "21 of 2000 transactions due at 500/s were never begun"


def test_it_suspects_a_load_generator_that_took_much_of_the_machine(monkeypatch):
    monkeypatch.setattr(checks.psutil, "cpu_count", lambda: 4)
    assert suspicious(summary(), generator_cores=[0.9, 0.7])["client_bound"]
    assert not suspicious(summary(), generator_cores=[1.9, 0.7])["client_bound"]


def test_a_run_that_ended_in_its_warm_up_fails_without_a_rate():
    """As one whose number of transactions was used up."""
    nothing = dict.fromkeys(("tps", "mean_us", "p50_us", "p95_us", "p99_us", "max_us"))
    ended = summary(**nothing, transactions=0, per_terminal=[0] * 4, histogram=encoded([]), ended_by="max_transactions")
    found = checks.integrity(ended, [{"warm_up": True, "n": 700}])
    assert "something_measured" in [check["name"] for check in found if not check["ok"]]
    assert suspicious(ended, observation=rate(SYNCS_PER_S), generator_cores=[1.0]) == {}


def test_a_check_of_the_disk_names_both_figures():
    known = Observation(syncs_per_s=200, syncs_known_by="best of 3 tries")
    assert checks.waited_for_disk(800.0, 4, known)["ok"]
    assert checks.waited_for_disk(1000, 4, known)["detail"] == (
        "1000 TPS that write, 4 terminals × 200 syncs/s of the device (best of 3 tries) = 800: "
        "cannot have waited for this disk"
    )


@pytest.mark.parametrize("against", [{"flushes": 400, "fake_sync_libraries": ["libeatmydata"]}, {"device_flushes": 6}])
def test_no_check_of_the_disk_passes_where_commits_were_seen_not_to_wait(against: dict[str, Any]):
    """As seen: "flushes enough were counted", and "TPS below the disk's rate", beside runs that were contradicted."""
    seen = Observation(commits=4_000, duration_s=10, terminals=4, syncs_per_s=153, **against)
    check = checks.waited_for_disk(400, 4, seen)
    assert not check["ok"] and check["detail"] == of_observation(seen).reason


@pytest.mark.parametrize("counted", [{"flushes": 30_056, "counted_by": "pg_stat_io"}, {"device_flushes": 30_100}])
def test_a_slow_rate_of_the_disk_overrules_no_flushes_that_were_counted(counted: dict[str, Any]):
    """Was: contradicted, beside 30,056 flushes for 30,015 commits: the disk had been measured under load."""
    seen = Observation(commits=30_015, duration_s=3, terminals=4, syncs_per_s=2_469, **counted)
    found = of_observation(seen)

    assert (seen.has_flushes, seen.is_too_fast) == (True, False)
    assert found.durability is (Durability.POWER_LOSS if "flushes" in counted else None)
    assert checks.waited_for_disk(10_005, 4, seen)["ok"]
    uncounted = Observation(commits=30_015, duration_s=3, terminals=4, syncs_per_s=2_469)
    assert not checks.waited_for_disk(10_005, 4, uncounted)["ok"]
