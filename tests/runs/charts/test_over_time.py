"""Runs over time and their latencies, as figures of a comparison."""

from __future__ import annotations

from collections import Counter

import pytest
from benchagent import histogram
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from runs.charts.drawing import draw
from runs.charts.latency import latency_parts
from runs.charts.over_time import THROUGHPUT, over_time_figures
from runs.charts.run import figures
from runs.compare.compare import compare
from runs.models import Annotation, Run
from runs.results.names import resolve_metrics
from runs.run.events import events_of
from runs.run.quality import RunFacts, no_stalls
from runs.run.series import Series, measured_window, new_chunk, read_all
from tests.runs.cells import all_runs, make_run

pytestmark = pytest.mark.django_db
FACTORS = {"scale_factor": 4, "terminals": 4, "warm_up_s": 2, "duration_s": 100}


def sampled(run: Run, **series: list[float | None]) -> Run:
    metrics = resolve_metrics(series)
    for name, values in series.items():
        new_chunk(run=run, metric=metrics[name], chunk=0, t0_s=0, interval_s=1, values=values).save()
    return run


def steady(level: float, count: int = 40) -> list[float | None]:
    return [level] * count


def test_several_runs_stand_on_one_axis_of_time_metric_by_metric():
    for repeat in (1, 2):
        sampled(
            make_run("SQLite 3", 100, repeat=repeat, factors=FACTORS), tps=steady(90), latency_p99_ms=steady(3),
            driver_rss_bytes=steady(2**21),
        )  # fmt: skip
    sampled(make_run("Derby 10", 80, factors=FACTORS), tps=steady(80), machine_cpu_percent=steady(55))
    (multiples,) = over_time_figures(compare(all_runs()))
    assert [figure.title for figure in multiples.figures] == [
        "Throughput, TPS", "p99 latency, ms", "CPU of the machine, %", "Memory of the DBMS, MiB",
    ]  # fmt: skip
    specs = [figure.spec for figure in multiples.figures]
    assert {(spec["sync"], spec["x"]["span"]) for spec in specs} == {("over-time", (0.0, 39.0))}
    assert [(line["label"], line["dash"]) for line in specs[0]["series"]] == [
        ("SQLite 3, repeat 1", False), ("SQLite 3, repeat 2", True), ("Derby 10, repeat 1", False),
    ]  # fmt: skip
    assert [line["points"][0] for line in specs[3]["series"]] == [(0.0, 2.0), (0.0, 2.0)]
    linked = [row[0].href for row in multiples.table.rows[:3]]
    assert [line["url"] for line in specs[0]["series"]] == linked and all(href.startswith("/runs/") for href in linked)
    assert specs[0]["bands"] == [{"from": 0, "to": 2, "label": "warm-up"}]
    assert [key.label for key in multiples.keys] == ["SQLite 3", "Derby 10"]
    assert [cell.text or cell.value for cell in multiples.table.rows[0]] == [
        "SQLite 3, repeat 1", "Throughput", 90.0, 90.0, 90.0, "TPS", 40.0
    ]  # fmt: skip


@pytest.mark.parametrize("levels", [4, 6])
def test_no_two_lines_over_time_or_of_latencies_look_alike(levels):
    """Was: eight lines in the two colours of their systems."""
    encoded = histogram.encode([(1_000, 990), (4_000, 10)])
    for name in ("SQLite 3", "Derby 10"):
        for terminals in range(1, levels + 1):
            run = make_run(name, 100 * terminals, factors=FACTORS | {"terminals": terminals}, latency_histogram=encoded)
            sampled(run, tps=steady(90))
    for view in ("time", "latency"):
        comparison = compare(all_runs(), QueryDict(f"view={view}&series=dbms"))
        figure = over_time_figures(comparison)[0].figures[0] if view == "time" else latency_parts(comparison)[0]
        looks = [(line["color"], line["dash"]) for line in figure.spec["series"]]
        assert len({*looks}) == len(looks) == 2 * levels
    keys = over_time_figures(compare(all_runs(), QueryDict("view=time")))[0].keys
    assert len({(key.color, key.dash) for key in keys}) == 2 * levels


def test_a_stall_flattens_no_latencies_beside_it():
    sampled(make_run("SQLite 3", 100, factors=FACTORS), tps=[5000, *steady(3)], latency_p99_ms=[500.0, *steady(3)])
    (multiples,) = over_time_figures(compare(all_runs()))
    rate, latency = multiples.figures
    assert (rate.title, rate.spec["y"]["scale"]) == ("Throughput, TPS", "linear")
    assert (latency.title, latency.spec["y"]["scale"]) == ("p99 latency, ms, logarithmic", "log")


def test_checkpoints_stalls_and_notes_are_marked_at_their_seconds():
    rate = steady(900)
    rate[10] = rate[11] = rate[20] = 3
    checkpoints = steady(0)
    checkpoints[10] = 1
    run = sampled(make_run("PostgreSQL 15", 900, factors=FACTORS), tps=rate, checkpoints=checkpoints)
    Annotation.objects.create(run=run, at_s=33, text="backup began")
    run = Run.objects.for_lists().get(pk=run.pk)
    series = {item.name: item for item in read_all(run)}
    assert [(event.at_s, event.kind, event.words) for event in events_of(run, series)] == [
        (10, "checkpoint", "checkpoint"), (10, "stall", "stall, 2 s"), (20, "stall", "stall, 1 s"),
        (33, "note", "backup began"),
    ]  # fmt: skip
    (multiples,) = over_time_figures(compare(all_runs()), THROUGHPUT)
    drawn = multiples.figures[0].spec["events"]
    assert sorted((event["x"], event["kind"]) for event in drawn)[-1] == (33, "note")


def test_a_long_series_is_an_envelope_whose_stretches_are_loaded_when_asked_for():
    day = [100.0 + second % 7 for second in range(86_400)]
    day[50_000] = 1.0
    runs = [sampled(make_run("SQLite 3", 100, repeat=repeat, factors=FACTORS), tps=day) for repeat in (1, 2)]
    (multiples,) = over_time_figures(compare(all_runs()))
    lines = multiples.figures[0].spec["series"]
    assert all(len(line["points"]) <= 2_000 for line in lines)
    assert (50_000.0, 1.0) in lines[0]["points"]
    assert lines[1]["detail_url"] == f"/api/v1/runs/{runs[1].id}/series/?metric=tps&columns=1000"
    assert "Thinned: of every 87 samples" in multiples.note


def test_more_runs_than_eyes_can_follow_are_their_first_repeats():
    for system in ("SQLite 3", "Derby 10"):
        for repeat in range(1, 8):
            sampled(make_run(system, 100, repeat=repeat, factors=FACTORS), tps=steady(90))
    (multiples,) = over_time_figures(compare(all_runs()))
    assert len(multiples.figures[0].spec["series"]) == 2
    words = "The first repeat of each of 2 groups; 12 with samples are not drawn."
    # A panel alone stands on the page without its multiples.
    (panel,) = multiples.figures
    assert words in multiples.note and words in panel.note
    assert not panel.spec["panel"], "a panel has no legend of its own"


@pytest.mark.parametrize("view", ["time", "latency"])
def test_what_has_samples_is_drawn_wherever_it_stands_among_the_groups(view):
    """Was: of 40 groups the one with samples stood behind the first twelve, and "no run holds samples over time"."""
    for terminals in range(1, 15):
        for repeat in (1, 2):
            run = make_run("SQLite 3", 100, repeat=repeat, factors=FACTORS | {"terminals": terminals})
            if terminals == 14:
                sampled(
                    run, tps=steady(90), latency_p50_ms=steady(1), latency_p95_ms=steady(2), latency_p99_ms=steady(3)
                )
    drawing = draw(compare(all_runs(), QueryDict(f"view={view}")))
    (part,) = drawing.parts
    assert len(part.figures[0].spec["series"]) == (2 if view == "time" else 1)
    without = "without samples over time" if view == "time" else "without latencies"
    assert {(each.reason, len(each.runs)) for each in drawing.left_out} == {(without, 2)}
    assert len(drawing.left_out) == 13


def test_of_what_is_not_drawn_it_is_told_apart_what_has_no_samples():
    for terminals in range(1, 15):
        sampled(make_run("SQLite 3", 100, factors=FACTORS | {"terminals": terminals}), tps=steady(90))
    make_run("Derby 10", 80, factors=FACTORS)
    drawing = draw(compare(all_runs(), QueryDict("view=time")))
    reasons = Counter(each.reason for each in drawing.left_out)
    assert reasons == {"beyond what one chart shows": 2, "without samples over time": 1}


def test_samples_of_the_window_alone_have_no_warm_up():
    """Was: 2 of 40 measured seconds greyed over and taken for warm-up by the check for stalls."""
    factors = {"scale_factor": 4, "terminals": 4, "warm_up_s": 20, "duration_s": 40}
    rate = [1.0] * 15 + [900.0] * 25
    run = sampled(make_run("SQLite 3", 900, factors=factors), tps=rate)
    run = Run.objects.for_lists().get(pk=run.pk)
    series = read_all(run)
    (multiples,) = over_time_figures(compare(all_runs()))
    (of_run,) = figures(run, series)
    assert multiples.figures[0].spec["bands"] == of_run.spec["bands"] == []
    assert [(event.at_s, event.words) for event in events_of(run, {"tps": series[0]})] == [(0, "stall, 15 s")]
    assert "stalls: 15 of 40 seconds" in no_stalls(RunFacts.of(run, series))["detail"]


@pytest.mark.parametrize(
    "t0_s, count, begin_s", [(0, 60, 20), (20, 40, 20), (0, 40, 0), (1, 40, 1), (0, 39, 0), (0, 41, 20)]
)
def test_the_window_begins_where_the_samples_say(t0_s, count, begin_s):
    series = Series("tps", "TPS", t0_s, 1.0, [1.0] * count)
    assert measured_window({"warm_up_s": 20, "duration_s": 40}, series)[0] == begin_s


def with_latencies(system: str, repeat: int, buckets: list[tuple[int, int]], **more: object) -> Run:
    return make_run(system, 100, repeat=repeat, latency_histogram=histogram.encode(buckets), **more)


def test_percentiles_are_those_of_all_repeats_together():
    with_latencies("SQLite 3", 1, [(1_000, 999), (50_000, 1)])
    with_latencies("SQLite 3", 2, [(1_000, 900), (50_000, 100)])
    make_run("Derby 10", 90)
    (figure,) = latency_parts(compare(all_runs()))
    said = {column.label: cell for column, cell in zip(figure.table.columns, figure.table.rows[0], strict=True)}
    # 101 of 2,000 are slow: p95 is just reached by them, where the mean of both repeats' would be 25 ms.
    assert (said["Repeats"].value, said["Transactions"].value) == (2, 2000)
    assert said["p90"].value < 1.1 < 49 < said["p95"].value
    # Seen: "p99 latency 213.4 ms" in the head of a run and "–" in this table.
    assert said["p99.99"].value > 49 and "fewer than ten" in said["p99.99"].hint
    assert said["p90"].hint == ""
    assert figure.note.endswith(" Without a stored histogram: Derby 10.")
    points = figure.spec["series"][0]["points"]
    assert points[0][0] == 0 and abs(points[-1][0] - 3.301) < 0.001
    assert [words for _, words in figure.spec["x"]["ticks"]] == ["0 %", "50 %", "90 %", "99 %", "99.9 %"]


def test_what_is_stated_without_a_histogram_is_a_table_of_medians():
    """The view was empty where tools state percentiles only."""
    with_latencies("SQLite 3", 1, [(1_000, 999), (50_000, 1)])
    for repeat, p99_ms in enumerate((10.0, 30.0, 14.0), 1):
        make_run("Derby 10", 90, repeat=repeat, beside={"latency_p99_ms": p99_ms, "latency_mean_ms": 2.0})
    make_run("H2 2", 90)
    figure, stated = latency_parts(compare(all_runs()))
    assert figure.note.endswith(" Without a stored histogram: Derby 10 and H2 2.")
    assert [column.heading for column in stated.table.columns][2:] == ["latency_mean_ms (ms)", "latency_p99_ms (ms)"]
    ((group, repeats, mean, p99),) = stated.table.rows
    assert (group.text, repeats.value, mean.value, p99.value) == ("Derby 10", 3, 2.0, 14.0)
    assert (mean.text, p99.text) == ("2", "14 (10–30)")


def test_transaction_types_have_a_range_over_repeats_as_none_has_a_histogram():
    for repeat, p99 in ((1, 4_000), (2, 6_000)):
        types = {"payment": {"transactions": 10, "p50_us": 1_000, "p99_us": p99}, "delivery": {"transactions": 5}}
        with_latencies("SQLite 3", repeat, [(1_000, 10)], statistics={"transaction_types": types})
    *_, types = latency_parts(compare(all_runs()))
    payment, delivery = types.table.rows
    assert [cell.text or cell.value or cell.gap for cell in payment] == [
        "SQLite 3", "payment", 20, "1", "not told", "5 (4–6)", "not told"
    ]  # fmt: skip
    assert delivery[3].gap == "not told"


def test_latency_over_time_is_a_band_over_all_repeats_as_seconds_keep_percentiles_only():
    for repeat in (1, 2):
        sampled(
            make_run("SQLite 3", 100, repeat=repeat, factors=FACTORS), latency_p50_ms=[1.0, 2.0 * repeat, None],
            latency_p95_ms=[3.0, 5.0, None], latency_p99_ms=[9.0, 10.0 * repeat, None],
        )  # fmt: skip
    (over_time,) = latency_parts(compare(all_runs()))
    line = over_time.figures[0].spec["series"][0]
    assert line["band"] == [(0.0, 1.0, 9.0), (1.0, 2.0, 20.0)]
    assert line["points"] == [(0.0, 3.0), (1.0, 5.0), (2.0, None)]
    assert "not histograms" in over_time.note


def test_samples_of_all_runs_are_read_by_one_query():
    for repeat in range(1, 5):
        sampled(
            make_run("SQLite 3.53", 1, repeat=repeat),
            latency_p50_ms=steady(1), latency_p95_ms=steady(2), latency_p99_ms=steady(3),
        )  # fmt: skip
    comparison = compare(all_runs())
    for parts in (latency_parts, over_time_figures):
        with CaptureQueriesContext(connection) as queries:
            assert parts(comparison)
        assert sum('"runs_serieschunk"."data"' in query["sql"] for query in queries) == 1
