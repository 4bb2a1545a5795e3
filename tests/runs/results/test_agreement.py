"""What contradicts itself is stored and marked, and ranked nowhere; what a tool rounds is left out with a word."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from benchagent import histogram
from django.core.management import call_command
from django.test import Client

from runs.models import Run, User
from runs.results import editing
from runs.results.checking import judge_stored
from runs.run.agreement import too_coarse
from tests.runs.builders import document, store_upload

pytestmark = pytest.mark.django_db
FACTORS = {"scale_factor": 100, "terminals": 4, "duration_s": 60}
HONEST = {"tps": 1_003.2, "latency_mean_ms": 3.981}
LATENCIES_US = histogram.encode([(2_000, 90), (5_000, 9), (9_000, 1)])
# Each with what it contradicts, as it ranked first before.
CONTRADICTIONS: dict[str, dict[str, Any]] = {
    "seconds": {"metrics": {"tps": 100_000}, "series": [{"name": "tps", "values": [1_000.0, 1_010.0] * 30}]},
    "transactions": {"metrics": {"tps": 5_000, "transactions": 60_000}},
    "little": {"metrics": {"tps": 1_000, "latency_mean_ms": 1_000}},
    "percentiles": {"metrics": {"tps": 1_100, "latency_p99_ms": 5, "latency_p95_ms": 50, "latency_max_ms": 4}},
    "served": {"metrics": {"tps": 1_100, "latency_p99_ms": 9, "service_p99_ms": 12}},
    "histogram": {"metrics": {"tps": 1_100, "latency_p99_ms": 1.25}, "histogram": LATENCIES_US},
    "short series": {"metrics": {"tps": 1_100}, "series": [{"name": "tps", "values": [1_100.0] * 5}]},
    "dates": {"metrics": {"tps": 1_100}, "started_at": "2026-05-04T09:00:00Z"},
}  # fmt: skip


def sent(repeat: dict[str, Any], **changes: Any) -> Run:
    made = document(id=str(uuid4()), repeats=[repeat], **({"factors": FACTORS} | changes))
    return store_upload(document=made).runs[0]


def stored(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_it_is_stored_and_marked_and_not_ranked(case: str, client: Client):
    more = {"finished_at": "2026-05-04T08:00:00Z"} if case == "dates" else {}
    honest, wrong = sent({"metrics": HONEST}), sent(CONTRADICTIONS[case], **more)
    run = stored(wrong)
    assert run.state == "finished"
    assert [check["name"] for check in run.checks if not check["ok"]][-1:] == ["numbers_agree"]
    assert run.primary_value is None and not run.counts
    groups = client.get("/api/v1/compare/", {"run": [honest.pk, run.pk]}).json()["groups"]
    assert [value for group in groups for value in group["values"]] == [HONEST["tps"]]
    page = client.get(run.get_absolute_url()).content.decode()
    assert "data-invalid" in page and run.invalid_reason in page


@pytest.mark.parametrize(
    "repeat",
    [
        {"metrics": HONEST, "series": [{"name": "tps", "values": [1_000.0, 1_010.0] * 30}]},
        {"metrics": {"tps": 1_000, "transactions": 60_021}},
        {"metrics": {"tps": 20, "latency_mean_ms": 10}},  # clients that think
        {"metrics": {"tps": 1_000, "latency_p50_ms": 3, "latency_p95_ms": 3, "latency_p99_ms": 9, "latency_max_ms": 9}},
        {"metrics": {"tps": 1_000, "latency_p99_ms": 9, "service_p99_ms": 9.2}},
        {"metrics": {"tps": 1_000, "latency_p99_ms": 5.02}, "histogram": LATENCIES_US},
        # Ends of a histogram's steps, beside exact figures: the p99.9 that is computed, the p95 as sysbench prints it.
        {
            "metrics": {"tps": 1_000, "latency_max_ms": 8.998},
            "histogram": histogram.encode([(3_000, 990), (8_998, 10)]),
        },
        {"metrics": {"tps": 1_000, "latency_p95_ms": 130.13, "latency_p99_ms": 132.49, "latency_max_ms": 128.01}},
        {"metrics": {"tps": 1_000}, "series": [{"name": "tps", "interval_s": 10, "values": [1_000.0] * 6}]},
    ],
)
def test_what_agrees_counts(repeat: dict[str, Any]):
    assert stored(sent(repeat)).counts


def test_at_a_rate_that_was_asked_waiting_is_no_contradiction():
    late = {"metrics": {"tps": 1_000, "latency_mean_ms": 1_000}}
    assert stored(sent(late, factors=FACTORS | {"rate_per_s": 2_000})).counts


@pytest.mark.parametrize(
    ("tps", "rate_per_s", "warm_up_s", "counts"),
    # A backlog of the warm-up ends in the window; of few arrivals chance makes more.
    [(1_300, 1_000, 6, False), (1_050, 1_000, 0, True), (1_300, 1_000, 15, True), (1.4, 1, 0, True)],
)
def test_no_more_ends_than_a_fixed_rate_lets_be_due(tps: float, rate_per_s: int, warm_up_s: int, counts: bool):
    """Seen: 1,300 TPS at a rate of 1,000, ranked first."""
    run = stored(sent({"metrics": {"tps": tps}}, factors=FACTORS | {"rate_per_s": rate_per_s, "warm_up_s": warm_up_s}))
    assert run.counts is counts
    assert counts or "1,300 TPS, where 1,000 a second were due" in run.invalid_reason


def test_errors_without_a_count_of_transactions_are_set_against_rate_and_window():
    run = stored(sent({"metrics": {"tps": 1_100, "errors": 58_000}}))
    assert run.state == "failed" and "58,000 of 124,000" in run.message
    assert stored(sent({"metrics": {"tps": 1_100, "errors": 6}})).state == "finished"


def test_a_factor_is_named_without_the_blanks_around_it(client: Client, bearer: Any):
    run = stored(sent({"metrics": HONEST}, factors={**FACTORS, "disk ": "nvme"}))
    assert {factor.name for factor in run.factors.all()} == {*FACTORS, "disk"}
    assert stored(sent({"metrics": HONEST}, factors={**FACTORS, "disk": "nvme"})).cell_key == run.cell_key
    twice = document(factors={"terminals": 4, "terminals ": 8})
    answer = client.post("/api/v1/results/", twice, content_type="application/json", headers=bearer("upload"))
    assert answer.status_code == 400 and list(answer.json()) == ["factors.terminals"]


def test_what_is_printed_too_coarsely_is_left_out_with_a_word():
    run = stored(sent({"metrics": {"tps": 1_000, "latency_p99_ms": 1, "latency_max_ms": 0.028}}))
    assert run.counts
    assert {row.metric.name for row in run.measurements.all()} == {"tps", "latency_max_ms"}
    assert [words for words in run.warnings if "latency_p99_ms" in words]
    assert too_coarse({"latency_p99_ms": 100, "latency_max_ms": 99.6})
    assert not too_coarse({"latency_p99_ms": 5, "latency_max_ms": 0.42})


def test_only_an_administrator_lets_it_count_again(administrator: User, contributor: User):
    run = stored(sent(CONTRADICTIONS["little"]))
    assert not editing.validate(run, by=contributor)
    editing.invalidate(run, reason="mine", by=contributor)
    assert not editing.validate(run, by=contributor) and not stored(run).counts
    assert editing.validate(run, by=administrator) and stored(run).counts
    judge_stored()
    assert stored(run).counts


def test_what_was_stored_before_is_marked_by_judge():
    run = sent(CONTRADICTIONS["little"])
    Run.objects.filter(pk=run.pk).update(checks=[], invalid_at=None, invalid_reason="", primary_value=1_000)
    call_command("judge")
    assert not stored(run).counts and stored(run).primary_value is None


# Of which direction a metric is


def scored(better: str, value: float, *, name: str = "score", **changes: Any) -> dict[str, Any]:
    metrics = [{"name": name, "value": value, "unit": "points", "better": better}]
    return document(id=str(uuid4()), repeats=[{"metrics": metrics}], **({"factors": FACTORS} | changes))


def test_the_catalogues_direction_is_not_turned(client: Client, bearer: Any):
    wrong = document(repeats=[{"metrics": [{"name": "tps", "value": 1_000, "better": "lower"}]}])
    answer = client.post("/api/v1/results/", wrong, content_type="application/json", headers=bearer("upload"))
    assert answer.status_code == 400 and list(answer.json()) == ["repeats[0].metrics[0].better"]
    assert not Run.objects.exists()


def test_one_senders_more_is_never_set_against_anothers_less(client: Client):
    """As seen: "better" of 900 points where less is better, against 100 where more is."""
    up = [store_upload(document=scored("higher", value)).runs[0] for value in (100.5, 101.5, 102.5)]
    down = [store_upload(document=scored("lower", value)).runs[0] for value in (900.5, 901.5, 902.5)]
    names = [row.metric.name for run in down for row in stored(run).measurements.all()]
    assert names == ["score:lower"] * 3
    assert "Score (lower is better)" in client.get(down[0].get_absolute_url()).content.decode()
    assert any("score:lower" in words for words in stored(down[0]).warnings)
    answer = client.get("/api/v1/compare/", {"run": [run.pk for run in (*up, *down)], "metric": "score"}).json()
    assert sorted(value for group in answer["groups"] for value in group["values"]) == [100.5, 101.5, 102.5]
    assert [run.primary_value for run in map(stored, down)] == [None] * 3


def test_a_series_goes_with_the_metric_of_its_name():
    store_upload(document=scored("higher", 100.5))
    lower = scored("lower", 900.5)
    lower["repeats"][0]["series"] = [{"name": "score", "unit": "points", "values": [900, 901]}]
    (run,) = store_upload(document=lower).runs
    assert [chunk.metric.name for chunk in run.series.all()] == ["score:lower"]
