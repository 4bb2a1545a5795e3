"""Runs that look good and are not: what they say against themselves, on page and API, and where they count no more."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from benchagent import histogram
from django.http import QueryDict
from django.test import Client
from django.utils.html import escape

from runs import results
from runs.answers.words.gaps import gap_words
from runs.answers.words.warnings import warnings_of
from runs.compare.compare import compare
from runs.models import HardwareProfile, Run
from runs.run import quality
from runs.run.series import read_all
from runs.stats import geometric_mean
from tests.runs.builders import document, job_result, scheduled, store_upload
from tests.runs.cells import all_runs
from tests.runs.results.test_results import NOW, advance

pytestmark = pytest.mark.django_db

# As seen: p95 looked five times better than the competitor's, whose terminals all had to wait.
STARVED = [913, 2_780, 7_038, 11_684]
FAIR = [5_400, 5_500, 5_700, 5_815]
UNFAIR = "unfair: the slowest terminal made 16 % of an equal share, Jain's index 0.65 (least: 50 % and 0.9)"


def measured(*, of: HardwareProfile | None = None, **changes: Any) -> Run:
    run = scheduled(hardware=of)
    advance(run, "assigned", "preparing", "loading", "warming_up", "measuring")
    results.finish_run(run=run, outcome="finished", message="", at=NOW, result=job_result(**changes))
    run.refresh_from_db()
    return run


def uploaded(repeat: dict[str, Any], **changes: Any) -> Run:
    store_upload(document=document(repeats=[repeat], **changes))
    return Run.objects.get()


def latencies(**more: Any) -> dict[str, Any]:
    return {"metrics": {"tps": 747, "latency_p95_ms": 4.2}, **more}


def failed(run: Run) -> list[str]:
    return [check["name"] for check in run.checks if not check["ok"]]


# Starvation


def test_fairness_is_told_in_two_numbers():
    assert quality.fairness([100, 100, 100]) == {"slowest_terminal_percent": 100, "jain_index": 1}
    assert quality.fairness([0, 200, 200, 0])["jain_index"] == 0.5
    assert quality.fairness(STARVED) == {
        "slowest_terminal_percent": pytest.approx(16.29, abs=0.01), "jain_index": pytest.approx(0.6454, abs=1e-4)
    }  # fmt: skip


def test_of_one_terminal_and_of_few_transactions_it_is_not_told():
    assert quality.fairness([1_000]) == quality.fairness([]) == quality.fairness([0, 0]) == {}
    assert quality.fairness([100, 99]) == {}
    assert quality.fairness([100, 100]) != {}


@pytest.mark.parametrize("counts", [[16, 146, 0, 0, 0, 0, 47, 183], [38, 223, 122, 11], [0, 0, 0, 30], [40, 42, 0, 41]])
def test_of_few_transactions_terminals_that_chance_cannot_part_so_far_are_unfair(counts: list[float]):
    """Seen: four of eight terminals without a transaction, "fairness: fewer than 100 transactions a terminal"."""
    assert quality.unfair_words(quality.fairness(counts), {}).startswith("unfair: ")
    run = uploaded(latencies(per_terminal=counts))
    assert failed(run) == ["terminals_fair"]
    assert compare(all_runs(), QueryDict("metric=latency_p95_ms")).groups[0].n == 0


@pytest.mark.parametrize("counts", [[3, 2, 0, 4], [10, 12, 0, 11], [25, 30, 14, 28, 26, 29, 31, 24], [0, 20], [60, 99]])
def test_of_few_transactions_what_chance_may_do_is_neither_fair_nor_unfair(counts: list[float]):
    run = uploaded(latencies(per_terminal=counts))
    assert quality.fairness(counts) == {} and failed(run) == []
    assert quality.not_judged(run, ())[0] == "fairness: fewer than 100 transactions a terminal"


@pytest.mark.parametrize(
    ("share", "index", "fair"), [(50.0, 0.9, True), (49.9, 0.99, False), (60.0, 0.89, False), (100.0, 1.0, True)]
)
def test_each_bound_alone_makes_a_run_unfair(share: float, index: float, fair: bool):
    told = {"slowest_terminal_percent": share, "jain_index": index}
    assert (quality.unfair_words(told, {}) == "") is fair


def test_at_a_fixed_rate_waiting_is_in_the_percentiles_whoever_waits():
    told = {"slowest_terminal_percent": 1.0, "jain_index": 0.3}
    assert quality.unfair_words(told, {"rate_per_s": 500}) == ""
    assert quality.unfair_words(told, {"rate_per_s": 0}) != ""


def test_a_measured_run_whose_terminals_starve_says_so_and_its_latencies_are_not_ranked(client: Client):
    run = measured(per_terminal=STARVED)

    assert run.warnings[0] == f"{UNFAIR}. Its latencies are not ranked: the others' waiting is not in them"
    assert failed(run) == ["terminals_fair", "window_long_enough"]
    numbers = {row.metric.name: (row.value, row.provenance) for row in run.measurements.all()}
    assert numbers["jain_index"] == (pytest.approx(0.6454, abs=1e-4), "computed")
    assert escape(UNFAIR) in client.get(run.get_absolute_url()).content.decode()
    latency = compare(all_runs(), QueryDict("metric=latency_p99_ms")).groups[0]
    assert (latency.n, latency.gap.startswith(UNFAIR)) == (0, True)
    assert gap_words(latency).startswith("not counted: "), "it is known: seen as “not known: unfair: …”"
    assert compare(all_runs(), QueryDict("metric=tps")).groups[0].n == 1, "what all terminals did together still counts"


def test_an_upload_that_states_counts_of_its_terminals_is_judged_alike(client: Client):
    run = uploaded(latencies(per_terminal=STARVED))
    assert (run.per_terminal, failed(run)) == (STARVED, ["terminals_fair"])
    assert compare(all_runs(), QueryDict("metric=latency_p95_ms")).groups[0].n == 0
    assert client.get(f"/api/v1/runs/{run.id}/").json()["warnings"] == run.warnings


def test_a_fair_run_is_ranked_by_its_latencies(client: Client):
    run = uploaded(latencies(per_terminal=FAIR))
    assert (run.warnings, failed(run)) == ([], [])
    assert compare(all_runs(), QueryDict("metric=latency_p95_ms")).groups[0].values == [4.2]


def test_counts_of_terminals_that_are_not_the_transactions_are_refused():
    wrong = document(repeats=[{"metrics": {"transactions": 100}, "per_terminal": [60, 60]}])
    (outcome,) = results.store_uploads(documents=[wrong])
    assert outcome.errors.keys() == {"repeats[0].per_terminal"}


# The machine to itself


def shared(**metrics: float) -> Run:
    """A run on 4 CPU threads, of an engine in the load generator's process."""
    rows = [{"name": name, "value": value, "phase": "run"} for name, value in metrics.items()]
    hardware = HardwareProfile.objects.create(slug="four", name="four", cpu_threads=4)
    return measured(of=hardware, metrics=[{"name": "tps", "value": 90.0, "phase": "run"}, *rows])


def test_a_run_says_that_others_took_the_machine_on_page_and_comparison(client: Client):
    """As seen: a run with 13 % of the machine, of which 100 % were busy, was "bound by the CPU" and no more."""
    run = shared(machine_cpu_percent=100.0, driver_cpu_cores=0.5)
    assert run.warnings[0] == "disturbed: 88 % of the machine's CPU went to others, 12 % to the run"
    assert escape(run.warnings[0]) in client.get(run.get_absolute_url()).content.decode()
    assert len([text for text in warnings_of(compare(all_runs())) if "Disturbed" in text]) == 1


@pytest.mark.parametrize(
    ("metrics", "found"),
    [
        ({"machine_cpu_percent": 59.9, "driver_cpu_cores": 2.0}, [True]),
        ({"machine_cpu_percent": 60.0, "driver_cpu_cores": 2.0}, [False]),
        ({"machine_cpu_percent": 60.0, "driver_cpu_cores": 1.0, "server_cpu_cores": 1.2}, [True]),
        ({"machine_cpu_percent": 99.0}, []),
        ({"driver_cpu_cores": 2.0}, []),
    ],
)
def test_others_are_what_neither_generator_nor_engine_used(metrics: dict[str, float], found: list[bool]):
    checks = [check["ok"] for check in shared(**metrics).checks if check["name"] == "machine_alone"]
    assert checks == found


WRITING = {"disk_util_percent": 60.0, "disk_write_mb_per_s": 40.0, "own_disk_write_mb_per_s": 5.0}


@pytest.mark.parametrize(
    ("metrics", "found"),
    [
        ({**WRITING, "others_disk_write_mb_per_s": 12.0}, [False]),
        ({**WRITING, "others_disk_write_mb_per_s": 0.5}, [True]),
        # Perhaps to other disks, or taken back before it was there.
        ({**WRITING, "disk_write_mb_per_s": 5.3, "others_disk_write_mb_per_s": 12.0}, []),
        ({**WRITING, "disk_util_percent": 2.0, "others_disk_write_mb_per_s": 12.0}, [True]),
        # Of an agent that may not read what others write.
        (WRITING, []),
    ],
)
def test_others_who_wrote_to_the_disk_of_a_run_disturbed_it(metrics: dict[str, float], found: list[bool]):
    """Was: asked of the CPU alone; "Disk write" is the whole disk, and nobody told the run's own share."""
    checks = [check for check in shared(**metrics).checks if check["name"] == "machine_alone"]
    assert [check["ok"] for check in checks] == found
    told = "disturbed: others wrote at least 12.0 MB/s to its disks, the run at most 5.0 MB/s"
    assert [told in check["detail"] for check in checks] == [not ok for ok in found]


@pytest.mark.parametrize(
    ("others", "cpu_cores", "told"),
    [
        (31.6, 1.2, "how much of 37.8 MB/s on its disks others wrote cannot be told: they asked for at most 31.6 MB/s"),
        (31.6, None, None),
        (0.4, None, "others asked for at most 0.4 MB/s of writes"),
    ],
)
def test_where_more_is_counted_for_the_run_than_its_disks_wrote_others_are_not_cleared(
    others: float, cpu_cores: float | None, told: str | None
):
    """Was: "nothing that others wrote is sure to have reached its disks, the run asked for 117.3", of which 2.6 were
    the log and 31.5 a program that was started to disturb."""
    metrics = {**WRITING, "disk_write_mb_per_s": 37.8, "own_disk_write_mb_per_s": 117.3}
    cpu = {"machine_cpu_percent": 60.0, "driver_cpu_cores": 1.0, "server_cpu_cores": cpu_cores} if cpu_cores else {}
    checks = shared(**metrics, **cpu, others_disk_write_mb_per_s=others).checks
    details = [check["detail"] for check in checks if check["name"] == "machine_alone"]
    assert [detail.endswith(f"{told}, the run for 117.3 MB/s") for detail in details] == [True] * bool(told)


def test_a_server_whose_cpu_nobody_sampled_is_not_taken_for_others():
    run = shared(machine_cpu_percent=100.0, driver_cpu_cores=0.5)
    assert quality.RunFacts.of(run, []).cpu_threads == 4
    run.context = {"connection": "prod"}
    assert quality.RunFacts.of(run, []).cpu_threads == 0
    run.context, run.dbms_version.dbms.slug = {}, "postgresql"
    assert quality.RunFacts.of(run, []).cpu_threads == 0


# Steady state


def sampled(factors: dict[str, Any], **series: list[float]) -> Run:
    rows = [{"name": name, "values": values} for name, values in series.items()]
    workload = {"slug": "tpcb", "name": "TPC-B profile", "version": "1"}
    return uploaded({"metrics": {"tps": max(series["tps"])}, "series": rows}, workload=workload, factors=factors)


def test_a_run_that_rises_into_its_window_and_falls_through_it_is_marked_on_page_and_comparison(client: Client):
    """As seen, without a mark: 1,107 → 2,772 → 4,142 | 5,311 → 4,018."""
    falling = [5_311 - at * (5_311 - 4_018) / 29 for at in range(30)]
    run = sampled({"warm_up_s": 3, "duration_s": 30}, tps=[1_107, 2_772, 4_142, *falling])
    (said,) = run.warnings
    assert failed(run) == ["steady_state"] and said.count(";") == 1, "it rises, and it drifts"
    assert escape(said) in client.get(run.get_absolute_url()).content.decode()
    assert len([text for text in warnings_of(compare(all_runs())) if "Not steady: PostgreSQL 15.8" in text]) == 1


def test_stalls_are_listed_with_what_else_was_seen_in_their_seconds():
    tps, disk, written, collected = [3_000.0] * 40, [20.0] * 40, [10.0] * 40, [5.0] * 40
    others, own = [1.0] * 40, [2.0] * 40
    tps[34], own[34] = 0.0, 40.0
    tps[15], disk[15], written[15], others[15] = 40.0, 100.0, 180.0, 130.0
    tps[21], collected[21] = 900.0, 740.0
    tps[30] = 0.0
    run = sampled(
        {"warm_up_s": 10, "duration_s": 30}, tps=tps, disk_util_percent=disk, disk_write_mb_per_s=written,
        driver_gc_ms=collected, others_disk_write_mb_per_s=others, own_disk_write_mb_per_s=own,
    )  # fmt: skip
    assert run.warnings == [
        "stalls: 4 of 30 seconds below a third of the median, 1,000 TPS: "
        "second 15: 40 TPS (disk 100 % busy, flush: 180 MB/s of data written, usually 10, "
        "others asked for at most 130 MB/s of writes, usually 1); "
        "second 21: 900 TPS (garbage collection for 740 ms); second 30: 0 TPS (no cause in its samples); "
        "second 34: 0 TPS (the run asked for at most 40 MB/s of writes, usually 2)"
    ]
    assert failed(run) == ["no_stalls"]


def test_seconds_of_a_stall_that_follow_each_other_are_one():
    tps = [3_000.0] * 15 + [30.0] * 9 + [60.0] + [3_000.0] * 15
    run = sampled({"warm_up_s": 10, "duration_s": 30}, tps=tps)
    (said,) = run.warnings
    assert "10 of 30 seconds" in said and said.count("seconds 15 to 24: 33 TPS") == said.count(" TPS (") == 1


@pytest.mark.parametrize(
    ("stalled", "told"),
    [
        # Was: "no second below" of a tool that prints every fifth: a stall of 2 s cannot be seen.
        (3_000.0, "no interval of 5 s below a third of the median, 1,000 TPS"),
        (30.0, "stalls: 5 of 60 seconds below a third of the median, 1,000 TPS: seconds 30 to 34: 30 TPS"),
    ],
)
def test_what_a_tool_printed_is_told_by_its_interval(client: Client, stalled: float, told: str):
    tps, latency = [3_000.0] * 12, [5.0] * 12
    tps[6] = stalled
    rows = [
        {"name": "tps", "interval_s": 5, "values": tps},
        {"name": "latency_p95_ms", "interval_s": 5, "values": latency},
    ]
    workload = {"slug": "tpcb", "name": "TPC-B profile", "version": "1"}
    run = uploaded({"metrics": {"tps": 3_000}, "series": rows}, workload=workload, factors={"duration_s": 60})
    (check,) = [check for check in run.checks if check["name"] == "no_stalls"]
    assert check["detail"].startswith(told)
    shown = client.get(run.get_absolute_url()).content.decode()
    assert "coefficient of variation of the throughput&#x27;s 5-s values" in shown
    assert "transactions that ended in each interval of 5 s" in shown


def test_a_process_that_was_stopped_is_seen_in_its_cpu():
    """Was: "no cause in its samples" of a DBMS that had no CPU for ten seconds, while others had theirs."""
    tps, server, driver = [3_000.0] * 40, [1.2] * 40, [0.6] * 40
    tps[15:25], server[15:25], driver[15:25] = [0.0] * 10, [0.0] * 10, [0.01] * 10
    run = sampled({"warm_up_s": 10, "duration_s": 30}, tps=tps, server_cpu_cores=server, driver_cpu_cores=driver)
    (said,) = run.warnings
    assert "no cause" not in said and said.count("had no CPU") == said.count("the DBMS had no CPU") == 1


@pytest.mark.parametrize(
    ("util", "cause"), [(6.0, "the DBMS had no CPU while the machine was 100 % busy"), (95.0, "flush")]
)
def test_what_others_write_to_an_idle_disk_stops_no_process(util: float, cause: str):
    """Was: "flush: 49 MB/s of data written, usually 8" of a DBMS that was stopped for six seconds."""
    tps, server, written, busy = [250.0] * 40, [0.12] * 40, [8.0] * 40, [10.0] * 40
    tps[15:21], server[15:21] = [0.0] * 5 + [52.0], [0.0] * 5 + [0.01]
    written[17], busy[17] = 49.0, util
    run = sampled(
        {"warm_up_s": 10, "duration_s": 30}, tps=tps, server_cpu_cores=server, disk_write_mb_per_s=written,
        disk_util_percent=busy, machine_cpu_percent=[100.0] * 40,
    )  # fmt: skip
    (said,) = run.warnings
    assert cause in said and said.count("flush") == (cause == "flush")


@pytest.mark.parametrize(("seconds", "passes"), [(10, False), (29, False), (30, True)])
def test_of_ten_seconds_nobody_can_tell_whether_they_are_steady(seconds: int, passes: bool):
    """Was: a green "passed" for 310, 522, 924, 1073, 992, 874, 1132, 558, 572, 818."""
    rates = [310.0, 522.0, 924.0, 1073.0, 992.0, 874.0, 1132.0, 558.0, 572.0, 818.0]
    run = sampled({"duration_s": seconds}, tps=(rates if seconds == 10 else [900.0] * seconds))
    samples = read_all(run, names=quality.EVENTS)

    assert [check["ok"] for check in run.checks if check["name"] == "steady_state"] == [True] * passes
    assert any("cannot be told from" in words for words in quality.not_judged(run, samples)) is not passes


def test_short_windows_and_too_few_branches_are_warned_of():
    run = sampled({"scale_factor": 2, "terminals": 8, "duration_s": 5}, tps=[4_000.0] * 5)
    assert failed(run) == ["window_long_enough", "branches_enough"]
    assert len(run.warnings) == 2


def test_a_steady_run_is_warned_of_nothing():
    run = sampled({"scale_factor": 8, "terminals": 8, "warm_up_s": 2, "duration_s": 30}, tps=[4_000.0] * 32)
    assert (run.warnings, failed(run), len(run.checks)) == ([], [], 4)


def test_of_a_few_seconds_nobody_says_that_they_were_steady():
    """A first run of five seconds that rose to the end had a green "neither warm-up nor drift"."""
    rising = [4e3, 8e3, 13e3, 15e3, 14e3, 19e3, 18e3, 21e3, 25e3, 23e3, 21e3, 26e3]
    run = sampled({"scale_factor": 8, "terminals": 8, "warm_up_s": 7, "duration_s": 5}, tps=rising)
    assert [check["name"] for check in run.checks if check["name"] == "steady_state" and check["ok"]] == []


# Percentiles


SLOW, FAST = [(100_000, 100), (1_000, 900)], [(2_000, 9_000)]


def test_a_percentile_of_several_repeats_is_that_of_their_merged_histograms(client: Client):
    """1,000 transactions of which a tenth took 100 ms, and 9,000 of 2 ms: 1 % of all took 100 ms."""
    repeats = [{"metrics": {"tps": 100}, "histogram": histogram.encode(buckets)} for buckets in (SLOW, FAST)]
    store_upload(document=document(repeats=repeats))
    (group,) = compare(all_runs(), QueryDict("metric=latency_p99_ms")).groups
    assert [round(value) for value in group.values] == [100, 2]
    assert group.merged_percentile == pytest.approx(2, rel=0.01), (
        "neither 51, their average, nor 14, their geometric mean"
    )
    (group,) = compare(all_runs(), QueryDict("metric=latency_p999_ms")).groups
    assert group.merged_percentile == pytest.approx(100, rel=0.01)
    page = client.get("/compare/?metric=latency_p99_ms&workload=pgbench-tpcb").content.decode()
    assert re.search(r'data-label="All repeats together" data-value="2[^"]*"><span class="main">2<', page)
    assert "of geometric means</span>" not in page
    answer = client.get("/api/v1/compare/?metric=latency_p99_ms&workload=pgbench-tpcb").json()
    assert answer["groups"][0]["merged_percentile"] == answer["groups"][0]["value"] == pytest.approx(2, rel=0.01)
    assert answer["groups"][0]["statistic"] == "all repeats together"
    assert compare(all_runs(), QueryDict("metric=tps")).groups[0].merged_percentile is None


def of_p99(*tails_ms: int) -> list[dict[str, Any]]:
    """Repeats of 1,000 transactions of 1 ms, of which 2 % took so long."""
    return [
        {"metrics": {"tps": 100}, "histogram": histogram.encode([(1_000, 980), (tail * 1_000, 20)])}
        for tail in tails_ms
    ]


def test_bar_interval_ratio_and_verdict_are_of_the_one_percentile_that_is_named():
    store_upload(document=document(repeats=of_p99(10, 11, 12)))
    store_upload(
        document=document(id=str(uuid4()), dbms={"name": "MySQL", "version": "8.0"}, repeats=of_p99(40, 42, 44))
    )
    first, second = compare(all_runs(), QueryDict("metric=latency_p99_ms")).groups
    assert [round(group.centre or 0) for group in (first, second)] == [11, 42], "of 60 slow transactions the 30th"
    assert geometric_mean(first.judged) == pytest.approx(first.centre) == pytest.approx(first.merged_percentile)
    assert first.interval and first.interval.low < 11 < first.interval.high
    assert second.against and second.against.ratio and second.against.verdict
    assert second.against.ratio.value == pytest.approx((second.centre or 0) / (first.centre or 1))
    assert second.against.verdict.kind == "worse"
    assert [round(value) for value in first.values] == [10, 11, 12], "dots stay the repeats' own"


def test_where_one_group_has_no_histograms_all_speak_of_geometric_means_and_the_merged_stands_beside(client: Client):
    store_upload(document=document(repeats=of_p99(10, 11, 12)))
    stated = [{"metrics": {"tps": 100, "latency_p99_ms": value}} for value in (40, 42, 44)]
    store_upload(document=document(id=str(uuid4()), dbms={"name": "MySQL", "version": "8.0"}, repeats=stated))
    groups = compare(all_runs(), QueryDict("metric=latency_p99_ms")).groups
    assert [group.summary.centre_name for group in groups if group.summary] == ["geometric mean"] * 2
    assert (
        "all repeats together 11"
        in client.get("/compare/?metric=latency_p99_ms&workload=pgbench-tpcb").content.decode()
    )


def test_of_a_maximum_no_interval_can_be_told_so_it_stays_that_of_each_repeat():
    store_upload(document=document(repeats=of_p99(10, 11, 12)))
    (group,) = compare(all_runs(), QueryDict("metric=latency_max_ms")).groups
    assert (group.percentile, round(group.merged_percentile or 0)) == ("", 12)


def test_where_a_repeat_has_no_histogram_nothing_is_pooled():
    repeats = [
        {"metrics": {"tps": 100}, "histogram": histogram.encode(FAST)}, {"metrics": {"tps": 100, "latency_p99_ms": 2}}
    ]  # fmt: skip
    store_upload(document=document(repeats=repeats))
    (group,) = compare(all_runs(), QueryDict("metric=latency_p99_ms")).groups
    assert (group.n, group.merged_percentile) == (2, None)


def test_a_histogram_in_another_unit_is_kept_in_microseconds():
    run = uploaded({"metrics": {"tps": 5}, "histogram": {"encoded": histogram.encode([(7, 50)]), "unit": "ms"}})
    assert histogram.decode(run.latency_histogram).percentiles_us([99]) == [pytest.approx(7_000, rel=0.01)]
    assert run.measurements.get(metric__name="latency_p999_ms").value == pytest.approx(7, rel=0.01)


# Errors


NOT_A_RESULT = "6,348 of 12,951 transactions failed, 49 % of all; above 1 % a run is no result"


def test_an_upload_half_of_whose_transactions_failed_is_no_finished_run(client: Client):
    run = uploaded({"metrics": {"tps": 220, "transactions": 6_603, "errors": 6_348}})
    assert (run.state, run.message) == ("failed", NOT_A_RESULT)
    assert compare(all_runs(), QueryDict("metric=tps")).groups[0].gap == f"failed: {NOT_A_RESULT}"
    page = client.get(run.get_absolute_url()).content.decode()
    assert NOT_A_RESULT in page
    assert not Run.objects.with_values().exists()


@pytest.mark.parametrize("metrics", [{"errors": 10, "transactions": 990}, {"errors": 500}, {"transactions": 5}])
def test_up_to_the_limit_and_where_it_is_not_told_an_upload_stays_finished(metrics: dict[str, float]):
    assert uploaded({"metrics": {"tps": 220, **metrics}}).state == "finished"
