"""The views of one selection: curve, heat map, table, trade-off; their controls, exports and the same over the API."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs.charts.pivots import Pivot, heat
from runs.charts.tradeoff import front_of
from runs.models import Experiment, Measurement, Metric, Report, Run
from runs.templatetags.show import pivot_rows
from tests.runs.cells import add_number, machine, make_repeats, make_run, make_runs, workload
from tests.runs.pages import spec

pytestmark = pytest.mark.django_db
HIGHER, LOWER = "higher", "lower"


@pytest.fixture(scope="module")
def sweep(kept) -> Iterator[Experiment]:
    """2 engines × 3 scales × 2 terminal counts × 3 repeats, with throughput and latency."""
    with kept():
        experiment = Experiment.objects.create(slug="sweep", name="Sweep")
        cells = list(product((1, 2, 3), (("Derby 10.6", 1), ("H2 2.4", 2)), (1, 4, 16), (2, 8)))
        rates = [1000 * factor / scale + 10 * terminals + repeat for repeat, (_, factor), scale, terminals in cells]
        make_runs(
            {
                "system": engine, "value": rate, "beside": {"latency_p99_ms": 10_000 / rate}, "repeat": repeat,
                "factors": {"scale_factor": scale, "terminals": terminals}, "experiment": experiment, "order_index": at,
            }
            for at, (rate, (repeat, (engine, _), scale, terminals)) in enumerate(zip(rates, cells, strict=True), 1)
        )  # fmt: skip
        yield experiment


def page(client, query: str, of: str = "sweep") -> str:
    response = client.get(f"/compare/?experiment={of}{query}")
    assert response.status_code == 200
    return response.content.decode()


def options(html: str, name: str) -> dict[str, str]:
    select = re.search(rf'<select id="[^"]*" name="{name}">(.*?)</select>', html, re.DOTALL)
    return dict(re.findall(r'<option value="([^"]*)"[^>]*>([^<]*)<', select[1]))


def test_a_sweep_is_two_panels_with_the_same_axes_and_one_legend(client, sweep):
    html = page(client, "")
    left, right = spec(html, "curve-2-terminals"), spec(html, "curve-8-terminals")
    assert left["x"] == right["x"]
    assert left["y"]["span"] == right["y"]["span"]
    assert [line["label"] for line in left["series"]] == ["Derby 10.6", "H2 2.4"]
    assert left["series"][0]["dots"][:3] == [[1, 1021], [1, 1022], [1, 1023]]
    assert len(left["series"][0]["band"]) == 3
    assert html.count('<ul class="keys">') == 1
    assert "Table of these numbers" in html


def test_the_axis_of_shares_ends_where_there_are_no_more(client):
    """Was: at 120 %, as the interval of 99.5 to 100 % ended at 100.8 %."""
    experiment = Experiment.objects.create(slug="shares", name="Shares")
    for scale, shares in {1: (99.5, 99.8, 100), 4: (97, 97.1, 97.2), 16: (90, 90.1, 90.2)}.items():
        for repeat, share in enumerate(shares, start=1):
            add_number(
                make_run("H2 2.4", None, factors={"scale_factor": scale}, experiment=experiment, repeat=repeat),
                share, name="hit_percent", unit="%",
            )  # fmt: skip
    y = spec(page(client, "&metric=hit_percent", of="shares"), "curve")["y"]
    assert (y["zero"], y["span"][1]) == (True, 100)


def test_an_interval_that_would_cover_the_chart_is_no_band(client):
    experiment = Experiment.objects.create(slug="scatter", name="Scatter")
    quiet = {scale: (rate, rate + 1, rate + 2) for scale, rate in ((4, 100), (16, 90), (64, 80), (256, 70))}
    for scale, rates in {1: (60, 150, 290), **quiet}.items():
        for repeat, rate in enumerate(rates, start=1):
            make_run("H2 2.4", rate, factors={"scale_factor": scale}, experiment=experiment, repeat=repeat)
    html = page(client, "", of="scatter")
    line = spec(html, "curve")["series"][0]
    assert [x for x, *_ in line["band"]] == [4, 16, 64, 256]
    assert [x for x, *_ in line["open"]] == [1]
    assert "Arrow: an interval that reaches far beyond the chart" in html


def test_a_wide_span_is_logarithmic_unless_a_reader_says(client, sweep):
    assert spec(page(client, ""), "curve-2-terminals")["x"]["scale"] == "log"
    assert spec(page(client, "&x_scale=linear"), "curve-2-terminals")["x"]["scale"] == "linear"
    assert spec(page(client, "&y_scale=log"), "curve-2-terminals")["y"]["scale"] == "log"


def test_panels_that_lie_far_apart_are_logarithmic(client):
    """Seen: the panel of one terminal as a line on the floor, under the axis of 64."""
    experiment = Experiment.objects.create(slug="apart", name="Apart")
    for terminals, scale in product((1, 64), (1, 4, 16)):
        factors = {"scale_factor": scale, "terminals": terminals}
        make_run("H2 2.4", (100 - scale) * terminals**0.7, factors=factors, experiment=experiment)
    axes = [spec(page(client, f"&panels=factor:terminals{more}", of="apart"), "curve-64-terminals")["y"]
            for more in ("", "&y_scale=linear")]  # fmt: skip
    assert [axis["scale"] for axis in axes] == ["log", "linear"]


@pytest.mark.parametrize(("times", "scale"), [(9, "linear"), (11, "log")])
def test_curves_of_one_panel_that_lie_far_apart_are_logarithmic(client, times, scale):
    """Seen: 170 to 495 TPS as a line on the floor, under an axis to 5,000."""
    experiment = Experiment.objects.create(slug="apart", name="Apart")
    for size in (1, 4, 16):
        make_run("H2 2.4", 500 - size, factors={"scale_factor": size}, experiment=experiment)
        make_run("SQLite 3", (500 - size) * times, factors={"scale_factor": size}, experiment=experiment)
    assert spec(page(client, "", of="apart"), "curve")["y"]["scale"] == scale


def test_a_class_with_a_single_panel_keeps_its_title(client):
    """Seen: "4 terminals" above a chart of what is not ranked, and nothing said of its lines."""
    experiment = Experiment.objects.create(slug="single", name="Single")
    for (engine, durability), terminals, scale in product(
        (("H2 2.4", "power_loss"), ("SQLite 3", "dbms_crash")), (1, 8), (1, 4, 16)
    ):
        if terminals == 1 or durability == "power_loss":
            make_run(engine, 100 - scale, factors={"scale_factor": scale, "terminals": terminals},
                     experiment=experiment, durability=durability)  # fmt: skip
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page(client, "", of="single")))
    assert re.search(
        "Not ranked: .{1,60}Throughput over scale factor: 1 terminal .{0,40}TPS, higher is better", text
    ), text


def test_a_table_speaks_of_intervals_where_it_has_some(client, sweep):
    assert "geometric mean; with intervals; higher is better" in page(client, "&view=table")
    alone = Experiment.objects.create(slug="alone", name="Alone")
    for terminals in (1, 8):
        make_run("H2 2.4", 100 * terminals, factors={"terminals": terminals}, experiment=alone)
    assert "geometric mean; higher is better" in page(client, "&view=table", of="alone")


def test_who_comes_to_bars_by_an_x_axis_finds_its_select_again(client, sweep):
    """Seen: another x axis chosen with the keyboard led to bars without the select, and the focus was lost."""
    by_system = options(page(client, "&x=dbms"), "x")
    assert by_system == {
        "": "automatic", "dbms": "DBMS", "factor:scale_factor": "Scale factor", "factor:terminals": "Terminals",
        "none": "none",
    }  # fmt: skip
    assert 'id="axis-x"' not in page(client, "&x=dbms&view=bars")


def test_values_are_per_cent_of_the_first_level_or_of_the_baselines_series(client, sweep):
    first = spec(page(client, "&y_as=first"), "curve-2-terminals")
    assert [line["points"][0][1] for line in first["series"]] == [100, 100]
    base = spec(page(client, "&y_as=baseline"), "curve-2-terminals")
    assert [point[1] for point in base["series"][0]["points"]] == [100, 100, 100]
    assert base["series"][1]["points"][0][1] == pytest.approx(197.8, abs=0.1)
    text = client.get("/compare.csv?experiment=sweep&view=curve&y_as=first").content.decode()
    medians = [float(row["median"]) for row in csv.DictReader(text.splitlines())]
    assert medians[0] == pytest.approx(100, abs=0.1) and max(medians) < 101


def test_several_metrics_are_rows_over_the_same_axis_and_cost_no_query(client, sweep, django_assert_num_queries):
    html = page(client, "&metric=tps&metric=latency_p99_ms")
    assert spec(html, "curve-2-terminals")["x"] == spec(html, "curve-metric-2-2-terminals")["x"]
    assert re.search(r'name="metric" value="latency_p99_ms" checked', html)

    with CaptureQueriesContext(connection) as one:
        page(client, "")
    with django_assert_num_queries(len(one)):
        page(client, "&metric=tps&metric=latency_p99_ms")


def test_its_selects_offer_what_varies_and_say_what_the_rule_chose(client, sweep):
    html = page(client, "")
    assert options(html, "x") == {
        "": "Scale factor", "dbms": "DBMS", "factor:terminals": "Terminals", "none": "none",
    }  # fmt: skip
    assert (options(html, "series")[""], options(html, "panels")[""]) == ("DBMS", "Terminals")
    assert '<option value="factor:terminals=8">only 8</option>' in html
    html = page(client, "&x=factor:terminals&fix=factor:scale_factor=4")
    assert "Only Scale factor: 4." in html
    assert '<option value="factor:scale_factor=4" selected>only 4</option>' in html
    assert spec(html, "curve")["series"][0]["points"] == [
        [2, pytest.approx(272, abs=0.1)],
        [8, pytest.approx(332, abs=0.1)],
    ]


def test_a_fact_that_does_not_vary_is_said_and_the_rule_stays(client, sweep):
    html = unescape(page(client, "&x=colour"))
    assert "“colour” does not vary. There are: dbms, factor:scale_factor, factor:terminals." in html
    assert spec(html, "curve-2-terminals")


def test_htmx_takes_the_part_that_changes_and_the_address_has_no_blanks(client, sweep):
    response = client.get("/compare/?experiment=sweep&x=&series=&view=table", headers={"HX-Request": "true"})
    assert response["HX-Push-Url"] == "/compare/?experiment=sweep&view=table"
    html = response.content.decode()
    assert 'id="compared"' in html
    assert 'hx-target="#compared"' in html
    assert '<button class="button">Show</button>' in html


def test_a_heat_map_has_the_value_in_each_cell_and_one_scale_for_all_panels(client, sweep):
    html = page(client, "&view=heatmap")
    cells = re.findall(r'data-value="([\d.]+)" data-heat="(\d)"', html)
    assert len(cells) == 12
    by_value = sorted((float(value), int(step)) for value, step in cells)
    assert [step for _, step in by_value] == sorted(step for _, step in by_value)
    assert (by_value[0][1], by_value[-1][1]) == (0, 8)


def test_steps_of_colour_are_logarithmic_where_values_lie_far_apart():
    assert [heat(value, (1, 9)) for value in (1, 5, 9)] == [0, 4, 8]
    assert [heat(value, (1, 10_000)) for value in (1, 100, 10_000)] == [0, 4, 8]
    assert heat(None, (1, 2)) is None
    assert heat(7, (7, 7)) == 4


@pytest.mark.parametrize(("columns", "stacks"), [(4, False), (5, True)])
def test_rows_of_a_heat_map_that_are_too_wide_for_a_phone_are_cards_there(columns: int, stacks: bool):
    """Was: fourteen columns that scrolled sideways."""
    headings = [str(at) for at in range(columns)]
    drawn = Pivot("heat", "Throughput", "", headings, [("1 terminal", [None] * columns)], "TPS", "", (1.0, 2.0))
    assert drawn.stacks == stacks
    assert ('data-label="0"' in pivot_rows(drawn)) == stacks


def test_a_table_has_x_down_and_series_across(client, sweep):
    html = page(client, "&view=table&panels=none&series=dbms&fix=factor:terminals=2")
    head = re.search(r"Scale factor ↓ {2}DBMS →</th>(.*?)</tr>", html, re.DOTALL)
    assert re.findall(r">([^<>]+)</th>", head[1]) == ["Derby 10.6", "H2 2.4"]
    assert re.findall(r'<th scope="row">(\d+)</th>', html) == ["1", "4", "16"]


def test_many_bars_of_two_facts_are_a_heat_map(client):
    experiment = Experiment.objects.create(slug="many", name="Many")
    for engine in range(11):
        for method in ("local", "over TCP"):
            make_run(f"Engine {engine}", engine + 1, factors={"method": method}, experiment=experiment)
    assert page(client, "", of="many").count("data-heat=") > 22
    assert "comparison-data" in page(client, "&view=bars", of="many")


def test_many_groups_without_a_value_are_one_line(client):
    experiment = Experiment.objects.create(slug="lost", name="Lost")
    for at in range(9):
        lost = {"state": "value_missing", "missing_reason": "lost in a picture"} if at > 1 else {}
        make_run(f"Engine {at}", None if lost else 7, experiment=experiment, **lost)
    html = page(client, "", of="lost")
    assert len(spec(html, "comparison")["groups"]) == 2
    assert "7 groups are not known: 7 × lost in a picture." in html
    assert html.count("<li data-gap>Engine") == 7


def test_what_is_lost_and_what_has_none_of_the_metric_have_one_count(client):
    """Seen: "34 groups are not known: 22 × lost in a picture" of 11 lost rates and 11 loads whose time was lost."""
    experiment = Experiment.objects.create(slug="loads", name="Loads")
    for at in range(1, 8):
        lost = {"state": "value_missing", "missing_reason": "lost in a picture"}
        make_run("H2 2.4", 7 / at, factors={"size_gb": at, "disk": "HDD"}, experiment=experiment)
        make_run("H2 2.4", None, factors={"size_gb": at, "disk": "SSD"}, experiment=experiment, missing_metric="tps",
                 **lost)  # fmt: skip
        for more in ({"missing_metric": "load_time_s", **lost}, {}):
            make_run("H2 2.4", None, factors={"size_gb": at, "disk": "SSD" if more else "HDD"}, of=workload("load"),
                     experiment=experiment, **more)  # fmt: skip
    for view in ("curve", "bars"):
        html = page(client, f"&metric=tps&view={view}", of="loads")
        assert {*re.findall(r"\d+ groups are not known: [^.]*", html)} == {
            "7 groups are not known: 7 × lost in a picture"
        }
        assert {*re.findall(r"\d+ groups of another workload", html)} == {"14 groups of another workload"}
        assert ("7 lost values are left out." in html) is (view == "curve")
    assert "no throughput in this run, load time not known (lost in a picture)" in html


def test_a_trade_off_sets_metric_against_metric_and_rings_what_none_beats(client, sweep):
    html = page(client, "&view=tradeoff&metric=tps&metric=latency_p99_ms")
    drawn = spec(html, "tradeoff")
    assert (drawn["y"]["label"], drawn["x"]["better"], drawn["joined"]) == ("Throughput", "lower", False)
    assert len(drawn["groups"]) == 12
    assert re.search(r'id="against-metric" name="metric">\s*<option value="latency_p99_ms" selected>', html)
    ringed = {group["label"] for group in drawn["groups"] if group["front"]}
    assert ringed == {f"H2 2.4 · scale factor {scale} · 8 terminals" for scale in (1, 4, 16)}


def test_what_panels_part_is_parted_in_one_trade_off_too(client, sweep):
    """Was: 54 dots in three colours, two disks in each, without a word of terminals, and a note on percentiles of all
    repeats together, which no histogram told.
    """
    html = page(client, "&view=tradeoff&metric=tps&metric=latency_p99_ms&x=factor:terminals&panels=factor:scale_factor")
    groups = spec(html, "tradeoff")["groups"]
    assert len({group["color"] for group in groups}) == len({group["series"] for group in groups}) == 6
    assert {group["name"] for group in groups} == {"2", "8"}
    assert "At the dots: terminals." in html and "of a percentile all repeats together" not in html


def test_a_latency_is_paid_with_a_rate_and_not_with_another_latency(client, sweep):
    """Was: p99 against p95, which fall together."""
    for run in Run.objects.filter(experiment__slug="sweep"):
        metric = Metric.objects.get_or_create(name="latency_p95_ms", defaults={"label": "p95", "better": "lower"})[0]
        Measurement.objects.create(run=run, metric=metric, value=2)
    drawn = spec(page(client, "&view=tradeoff&metric=latency_p99_ms"), "tradeoff")
    assert (drawn["y"]["label"], drawn["x"]["label"]) == ("latency_p99_ms", "Throughput")


def test_a_group_without_a_dot_says_why_beneath_the_trade_off(client, sweep):
    one = Run.objects.get(experiment__slug="sweep", order_index=1)
    Measurement.objects.filter(run__cell_key=one.cell_key, metric__name="latency_p99_ms").delete()
    html = page(client, "&view=tradeoff&metric=tps&metric=latency_p99_ms")
    assert len(spec(html, "tradeoff")["groups"]) == 11
    assert "No dot: Derby 10.6 · scale factor 1 · 2 terminals (no latency_p99_ms in this run)." in html


def test_many_groups_without_a_dot_are_counted(client, sweep):
    cells = sorted(set(Run.objects.filter(experiment__slug="sweep").values_list("cell_key", flat=True)))[:5]
    Measurement.objects.filter(run__cell_key__in=cells, metric__name="latency_p99_ms").delete()
    html = page(client, "&view=tradeoff&metric=tps&metric=latency_p99_ms")
    assert re.search(r"No dot: [^,(]+, [^,(]+, [^,(]+ and 2 more \(", html)


def test_only_what_nothing_beats_in_both_is_on_the_front():
    points = [(1, 1), (2, 5), (3, 4), (5, 5)]
    assert front_of(points, (HIGHER, HIGHER)) == {(5, 5)}
    assert front_of(points, (LOWER, HIGHER)) == {(1, 1), (2, 5)}
    assert front_of(points, (LOWER, "none")) == set()


def test_files_hold_what_is_drawn(client, sweep):
    response = client.get("/compare.csv?experiment=sweep&view=curve&metric=tps&metric=latency_p99_ms")
    rows = list(csv.DictReader(b"".join(response.streaming_content if response.streaming else [response.content])
                               .decode().splitlines()))  # fmt: skip
    assert len(rows) == 24
    assert {row["metric"] for row in rows} == {"tps", "latency_p99_ms"}
    assert (rows[0]["panel"], rows[0]["series"], rows[0]["x"], rows[0]["n"]) == ("2 terminals", "Derby 10.6", "1", "3")
    assert float(rows[0]["interval_low"]) < float(rows[0]["value"]) < float(rows[0]["interval_high"])


def test_the_file_of_a_trade_off_has_both_metrics_of_each_group(client, sweep):
    text = client.get("/compare.csv?experiment=sweep&view=tradeoff").content.decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert {row["metric"] for row in rows} == {"tps", "latency_p99_ms"}
    assert len({row["x_label"] for row in rows}) == 12
    assert len(rows) == 24


def test_x_of_the_file_of_a_trade_off_is_the_other_metric(client, sweep):
    """Was: 0 GB in every row."""
    text = client.get("/compare.csv?experiment=sweep&view=tradeoff").content.decode()
    rows = list(csv.DictReader(text.splitlines()))
    of_metric = {
        name: {row["groups"]: row for row in rows if row["metric"] == name} for name in ("tps", "latency_p99_ms")
    }
    rates, latencies = of_metric["tps"], of_metric["latency_p99_ms"]
    assert len(rates) == len(latencies) == 12
    for group, rate in rates.items():
        assert (rate["x"], rate["x_unit"]) == (latencies[group]["value"], "ms")
        assert (latencies[group]["x"], latencies[group]["x_unit"]) == (rate["value"], "TPS")


def test_where_the_baseline_is_not_measured_its_name_is_told_and_what_failed_wherever_numbers_go(client):
    """Was: "not measured here" beside a measured value, and a row of n = 2 without a word of the third."""
    on = machine("Alpha")
    for system, sizes in (("Derby 10.6", (1, 10)), ("H2 2.4", (1, 10, 100))):
        for size in sizes:
            factors = {"size_gb": size, "terminals": 8}
            make_repeats(system, [100.0 / size, 101.0 / size, 102.0 / size], factors=factors, on=on)
    lost = Run.objects.filter(dbms_version__slug="h2-2-4", factors__number=100).first()
    Run.objects.filter(pk=lost.pk).update(state="failed", message="disk full")
    texts = [
        client.get(f"/compare/?hardware=alpha&baseline=derby-10-6{form}").content.decode()
        for form in ("", "&format=md")
    ]
    texts.append(client.get("/compare.csv?hardware=alpha").content.decode())
    for text in map(unescape, texts):
        assert "no ratio: Derby 10.6 was not measured here" in text
        assert "not measured here" not in text.replace("Derby 10.6 was not measured here", "")
        assert "Repeats without a number: H2 2.4 · 100 GB (1 of 3: failed: disk full)." in text


def test_what_is_known_and_does_not_count_is_not_called_unknown(client):
    runs = make_repeats("H2 2.4", [100.0, 101.0, 60.0], on=machine("Alpha"))
    Run.objects.filter(pk=runs[-1].pk).update(invalid_at=timezone.now(), invalid_reason="backup ran")
    html = client.get("/compare/?hardware=alpha").content.decode()
    assert "not counted: marked invalid: backup ran" in html
    assert "not known: marked invalid" not in html
    # Was: "Repeats without a number: H2 2.4 (1 of 3: marked invalid: backup ran)", of one that has 60 TPS.
    assert "Repeats that do not count: H2 2.4 (1 of 3: marked invalid: backup ran)." in html
    assert "Repeats without a number" not in html


def test_page_and_api_answer_the_same_drawing(client, sweep):
    query = "experiment=sweep&metric=tps&metric=latency_p99_ms&x=factor:terminals&panels=dbms"
    of_page = client.get(f"/compare/?{query}&format=json").json()
    assert of_page == client.get(f"/api/v1/compare/?{query}").json()
    drawing = of_page["drawing"]
    assert (drawing["view"], drawing["x"], drawing["series"], drawing["panels"]) == (
        "curve", "factor:terminals", ["factor:scale_factor"], "dbms",
    )  # fmt: skip
    assert [one["metric"]["name"] for one in drawing["metrics"]] == ["tps", "latency_p99_ms"]
    point = drawing["metrics"][0]["panels"][0]["curves"][0]["points"][0]
    assert (point["x"], point["n"], point["values"]) == (2, 3, [1021, 1022, 1023])


@pytest.mark.parametrize(
    "wrong", ["x=colour", "view=pie", "fix=dbms=Oracle", "pool=colour", "y_as=half", "metric=colour"]
)
def test_a_program_is_told_what_there_is_not(client, sweep, wrong):
    response = client.get(f"/api/v1/compare/?experiment=sweep&{wrong}")
    assert response.status_code == 400
    assert "There are: " in json.dumps(response.json(), ensure_ascii=False)


def test_a_comparison_is_markdown_too(client, sweep):
    address = "/compare/?experiment=sweep&metric=tps"
    response = client.get(f"{address}&format=md")
    answer = client.get("/api/v1/answers/?experiment=sweep&metric=tps").json()
    lines = response.content.decode().splitlines()
    assert response["Content-Type"].startswith("text/markdown")
    assert lines[:3] == [f"### {answer['asked']}", "", answer["words"]]
    groups = client.get(f"{address}&format=json").json()["groups"]
    rows = [line.split(" | ") for line in lines if line.startswith("| ")][1:]
    assert [row[0] for row in rows] == [f"| {each['label']}" for each in groups]
    # Was: no ratio in the rows of the baseline; "the baseline" in each of them.
    assert all(row[3] for row in rows)
    (head,) = [line for line in lines if line.startswith("| Group")]
    assert head.split(" | ")[3] == "Ratio to Derby 10.6 at its level"
    assert sum(row[3:] == ["1", " |"] for row in rows) == 6
    assert "baseline" not in response.content.decode()
    assert lines[-1].endswith("metric=tps>")


def test_the_link_of_markdown_is_short_where_the_page_has_a_short_address(client, db):
    """Was: some 2,000 characters of ids."""
    for system in ("PostgreSQL 17", "Derby 10.6"):
        make_repeats(system, range(400, 430))
    named = "&".join(f"run={run.id}" for run in Run.objects.all())

    link = client.get(f"/compare/?{named}&view=bars&format=md").content.decode().splitlines()[-1]

    page = client.get(f"/compare/?{named}&view=bars")
    assert link == f"<http://testserver{page.url}>" and len(link) < 100


def test_a_file_of_a_comparison_says_what_is_the_same_in_all_groups(client):
    """Was: neither file told machine, window and load generator, nor the page the load generator."""
    told = {"on": machine("alpha"), "driver": {"name": "pgbench", "version": "16.4"}}
    for system, value in (("PostgreSQL 17", 500), ("Derby 10.6", 400)):
        make_run(system, value, factors={"duration_s": 300}, **told)
    of_file = "Machine: alpha; Provenance: Measured; Load generator: pgbench 16.4"

    markdown = client.get("/compare/?hardware=alpha&format=md").content.decode().splitlines()
    files = [
        list(csv.DictReader(client.get(f"/compare.csv?hardware=alpha{view}").content.decode().splitlines()))
        for view in ("", "&view=table", "&view=latency")
    ]
    common = client.get("/api/v1/compare/?hardware=alpha").json()["common"]

    words = "; ".join(f"{label}: {value}" for label, value in common.items())
    assert words == f"Workload: TPC-B profile, version 1; Measured window: 300 s; {of_file}"
    assert f"**The same in all groups:** {words}" in markdown
    assert [{row["common"] for row in rows} for rows in files] == [{words}, {words}, set()]
    assert "<dt>Load generator</dt><dd>pgbench 16.4</dd>" in client.get("/compare/?hardware=alpha").content.decode()
    make_run("H2 2.4", 300, factors={"duration_s": 300}, on=machine("alpha"), driver={"name": "sysbench"})
    assert "Load generator" not in client.get("/api/v1/compare/?hardware=alpha").json()["common"]


def test_embeds_and_reports_carry_the_controls(client, sweep):
    embedded = client.get("/embed/compare/?experiment=sweep&view=heatmap").content.decode()
    assert "data-heat=" in embedded
    Report.objects.create(slug="kept", name="Kept", query="experiment=sweep&view=table&series=factor:terminals",
                          visibility="public")  # fmt: skip
    html = client.get("/reports/kept/").content.decode()
    assert "Scale factor ↓  Terminals →" in html
    assert "data-heat=" in client.get("/reports/kept/?view=heatmap").content.decode()


def groups_of(client, query: str) -> list[dict]:
    return client.get(f"/api/v1/compare/?experiment=sweep{query}").json()["groups"]


def test_bars_in_panels_share_their_axis_and_name_within_it_what_the_panel_does_not(client, sweep):
    html = page(client, "&view=bars&panels=factor:terminals&metric=tps&metric=latency_p99_ms")
    left, right = spec(html, "comparison-2-terminals"), spec(html, "comparison-8-terminals")
    assert left["most"] == right["most"] >= max(group["value"] for group in right["groups"])
    labels = [f"{engine} · Scale factor {scale}" for engine in ("Derby 10.6", "H2 2.4") for scale in (1, 4, 16)]
    for panel in (left, right):
        assert sorted(group["label"] for group in panel["groups"]) == sorted(labels)
    assert [group["color"] for group in left["groups"]] == [group["color"] for group in right["groups"]]
    assert spec(html, "comparison-metric-2-8-terminals")["y"]["label"] == "latency_p99_ms"
    drawing = client.get("/api/v1/compare/?experiment=sweep&view=bars&panels=factor:terminals").json()["drawing"]
    panels = drawing["metrics"][0]["panels"]
    assert [(panel["label"], len(panel["curves"][0]["points"])) for panel in panels] == [
        ("2 terminals", 6), ("8 terminals", 6),
    ]  # fmt: skip
    assert '<select id="axis-panels" name="panels">' in html


def test_more_panels_than_twelve_are_refused_in_words(client):
    experiment = Experiment.objects.create(slug="many", name="Many")
    for terminals in range(1, 15):
        make_run("H2 2.4", terminals, factors={"terminals": terminals}, experiment=experiment)
    assert "Terminals has 14 levels: 12 at most." in page(client, "&view=bars&panels=factor:terminals", of="many")


def test_what_is_fixed_is_so_in_chart_table_file_and_answer(client, sweep):
    query = "&fix=factor:terminals=2&view=bars"
    html = page(client, query)
    assert html.count("<tr data-group=") == 6
    assert "Throughput of Derby and H2: 6 groups, 18 runs" in html
    assert len(spec(html, "comparison")["groups"]) == 6
    assert '<option value="factor:terminals=8">only 8</option>' in html
    rows = list(csv.DictReader(client.get(f"/compare.csv?experiment=sweep{query}").content.decode().splitlines()))
    assert len(rows) == 6
    answer = client.get(f"/api/v1/compare/?experiment=sweep{query}").json()
    assert (len(answer["groups"]), answer["common"]["Terminals"], answer["varying"]) == (
        6,
        "2",
        ["DBMS", "Scale factor"],
    )


def test_what_is_pooled_is_one_group_of_all_its_repeats_wherever_it_is_said(client, sweep):
    query = "&pool=factor:terminals&fix=factor:scale_factor=4"
    (derby, h2) = groups_of(client, query)
    assert (derby["label"], derby["n"], h2["n"]) == ("Derby 10.6", 6, 6)
    assert sorted(derby["values"]) == [271, 272, 273, 331, 332, 333]
    assert h2["ratio"]["value"] == pytest.approx(1.83, abs=0.01)
    html = page(client, query)
    assert "2 groups, 12 runs" in html
    assert "Pooled: Terminals." in html
    assert "not repeated alike" not in html
    assert spec(html, "comparison")["groups"][0]["dots"] == derby["values"]


def test_groups_that_pool_other_levels_are_said_to(client, sweep):
    make_run("H2 2.4", 600, factors={"scale_factor": 4, "terminals": 8}, experiment=sweep, repeat=4, order_index=40)
    query = "&pool=factor:terminals&fix=factor:scale_factor=4"
    assert "Pooled, but not repeated alike in all groups: Terminals." in page(client, query)
    # Four repeats of each level lean no ratio against three of each.
    make_run("H2 2.4", 540, factors={"scale_factor": 4, "terminals": 2}, experiment=sweep, repeat=4, order_index=42)
    assert "not repeated alike" not in page(client, query)
    make_run("H2 2.4", 600, factors={"scale_factor": 4, "terminals": 16}, experiment=sweep, repeat=1, order_index=41)
    (_, h2) = groups_of(client, query)
    assert [told["a"] + " against " + told["b"] for told in h2["differences"] if told["field"] == "terminals"] == [
        "16, 2, 8 against 2, 8"
    ]


def test_the_file_of_bars_has_each_metric_and_that_of_other_views_their_tables(client, sweep):
    text = client.get("/compare.csv?experiment=sweep&view=bars&metric=tps&metric=latency_p99_ms").content.decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["metric"] for row in rows] == ["tps"] * 12 + ["latency_p99_ms"] * 12
    assert [any(row["verdict"] for row in part) for part in (rows[:12], rows[12:])] == [True, False]
    head, first, *_ = client.get("/compare.csv?experiment=sweep&view=latency").content.decode().splitlines()
    assert head == "chart,row,column,unit,value,gap,asked,answer,common,not_here,warnings"
    assert first.startswith("Latencies as stated,")


def test_a_curve_of_one_group_has_no_axis_of_numbers(client):
    """Was: "Throughput over", with 0 on the axis."""
    make_run("PostgreSQL 17", 500, factors={"scale_factor": 10})
    html = client.get("/compare/?dbms=postgresql&view=curve").content.decode()
    assert "Throughput</strong>" in html
    assert spec(html, "curve")["x"]["ticks"] == [[0.0, "all"]]


def test_nothing_is_said_of_what_can_be_asked_for(client, sweep):
    assert 'class="small notice-text"' not in page(client, "&ask=best&metric=tps&x=factor:terminals")


@pytest.mark.parametrize(
    "asked",
    ["metric=foo", "ask=nonsense", "baseline=zz", "group=zz", "compared=zz", "than=zz", "from=zz", "x=zz", "fact=zz"],
)
def test_what_an_address_asks_for_in_vain_is_said_and_refused_to_a_program(client, sweep, asked):
    name, _, _ = asked.partition("=")
    assert re.search(r'class="small notice-text">[^<]*(foo|nonsense|zz)', page(client, f"&{asked}"))
    for kind in ("compare", "answers"):
        refused = client.get(f"/api/v1/{kind}/?experiment=sweep&{asked}")
        assert (refused.status_code, [*refused.json()]) == (400, [name])
