"""The compare page: page, table, chart, CSV and JSON say the same."""

from __future__ import annotations

import csv
import io
import math
import re
import statistics

import pytest
from benchagent.catalog.durability import HOST
from django.utils import timezone

from runs.models import Config, Run, SeriesChunk, delete_softly
from runs.models.choices import RunState
from runs.run.series import new_chunk
from tests.runs.cells import ARTICLE, EMPTY_CELL, FACTORS, MEDIANS, machine, make_run, make_runs, metric
from tests.runs.pages import spec

pytestmark = pytest.mark.django_db

URL = "/compare/?publication=tpcb-2010"


def page(client, url: str = URL) -> str:
    response = client.get(url, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_it_draws_six_bars_with_every_repeat_as_a_dot(client, article):
    drawn = spec(page(client))

    assert {bar["label"]: bar["median"] for bar in drawn["groups"]} == MEDIANS
    assert {bar["statistic"] for bar in drawn["groups"]} == {"geometric mean"}
    for bar in drawn["groups"]:
        assert bar["value"] == pytest.approx(statistics.geometric_mean(bar["dots"]))
        assert math.sqrt(math.prod(bar["interval"])) == pytest.approx(bar["value"])
    assert [len(bar["dots"]) for bar in drawn["groups"]] == [5, 5, 5, 5, 5, 3]
    assert {bar["label"]: bar["dots"] for bar in drawn["groups"]} == ARTICLE


def test_it_says_the_same_in_chart_table_csv_and_json(client, article):
    html = page(client)
    drawn = {bar["label"]: bar for bar in spec(html)["groups"]}
    answer = client.get(URL + "&format=json").json()
    rows = list(csv.DictReader(io.StringIO(client.get("/compare.csv?publication=tpcb-2010").content.decode())))

    assert answer == client.get("/api/v1/compare/?publication=tpcb-2010").json()
    assert [group["label"] for group in answer["groups"]] == list(drawn) == [row["group"] for row in rows]
    for group, row in zip(answer["groups"], rows, strict=True):
        bar = drawn[group["label"]]
        assert bar["value"] == group["summary"]["geometric_mean"] == float(row["geometric_mean"])
        assert bar["median"] == group["median"] == float(row["median"])
        assert bar["dots"] == group["values"] == [dot["value"] for dot in group["repeats"]]
        assert bar["dots"] == [float(x) for x in row["values"].split()]
        low, high = bar["interval"]
        assert group["interval"] == {"low": low, "high": high}
        assert f'data-value="{group["median"]}"' in html and f'data-value="{bar["value"]}"' in html
        for value in bar["dots"]:
            assert f'data-value="{value}"' in html


def test_it_shows_the_two_empty_cells_as_gaps_with_their_reason(client, article):
    html = page(client)

    assert html.count(f'<td data-gap title="{EMPTY_CELL}">') == 2
    assert f"2 × {EMPTY_CELL}" in html


def test_it_follows_a_deleted_repeat_on_the_next_load(client, article):
    before = spec(page(client))["groups"][0]
    delete_softly(Run.objects.get(source_id="postgresql-8-3-r3"))

    html = page(client)
    after = spec(html)["groups"][0]

    assert (before["median"], len(before["dots"])) == (508, 5)
    assert (after["median"], len(after["dots"])) == (488.5, 4)
    assert before["value"] != after["value"] == pytest.approx(statistics.geometric_mean(after["dots"]))
    assert 'data-value="546.0"' not in html
    assert "printed median 508" in html


def test_it_says_the_message_in_one_sentence(client, article):
    ratio = r"2\.01\u202f× \(1\.\d\d–2\.\d\d\)"
    said = rf"DB2 9\.7 has the highest throughput, 2,363 TPS: {ratio} that of Derby 10\.3, the next\."
    assert re.search(said, page(client))


def test_it_says_beside_the_table_what_is_judged_together_and_from_where_it_matters(client, article):
    html = page(client)
    said = " ".join(html.partition('id="against"')[2].partition("</div>")[0].split())

    assert "widened for 15 comparisons, so that at most 1 page in 20 names a false winner: Holm" in said
    assert "Below 3&nbsp;% a difference is too small to matter" in said
    assert "2.5&nbsp;%" in page(client, f"{URL}&threshold=2.5")
    assert 'name="threshold" type="number" min="0" max="100" step="any" value="2.5"' in page(
        client, f"{URL}&threshold=2.5"
    )
    assert client.get(f"{URL}&threshold=all").status_code == 400


def test_one_group_is_set_against_nothing(client):
    """Seen: "Against PostgreSQL 16.4", its ratio of 1 to itself, and a select of one baseline."""
    run = make_run("PostgreSQL 16.4", 3111)

    html = page(client, f"/compare/?run={run.id}")

    assert "One group alone." in html
    assert "Against PostgreSQL" not in html and "the baseline" not in html and 'name="baseline"' not in html


def test_it_keeps_everything_in_the_address(client, article):
    html = page(client, URL + "&baseline=db2-9-7&order=best")

    assert "Against DB2 9.7" in html
    assert re.search(r'<tr data-group="db2-9-7" data-baseline>', html)
    assert "0.211" in html  # PostgreSQL / DB2
    kept = html.partition('<form id="set-baseline"')[2].partition("</form>")[0]
    assert re.findall(r'name="(.*?)" value="(.*?)"', kept) == [("publication", "tpcb-2010"), ("order", "best")]
    assert '<button class="button-quiet button-small" form="set-baseline" name="baseline" value="mysql-5-0"' in html
    assert next(bar["label"] for bar in spec(html)["groups"]) == "DB2 9.7"


def test_it_compares_cells(client, article):
    keys = {run.dbms_version.name: run.cell_key for run in Run.objects.select_related("dbms_version")}

    html = page(client, f"/compare/?cell={keys['DB2 9.7'][:12]}&cell={keys['Derby 10.6']}")

    assert [bar["label"] for bar in spec(html)["groups"]] == ["DB2 9.7", "Derby 10.6"]


def test_it_names_the_verdict_in_words(client, article):
    answer = client.get(URL + "&format=json&baseline=postgresql-8-3").json()

    words = {group["label"]: group["verdict"] and group["verdict"]["words"] for group in answer["groups"]}
    assert words == {
        "PostgreSQL 8.3": None, "DB2 9.7": "better", "MySQL 5.0": "worse", "Oracle 10R2": "better",
        "Derby 10.3": "better", "Derby 10.6": "better",
    }  # fmt: skip


def test_it_refuses_a_ratio_in_words(client):
    for system, durability in (("SQLite 3", "power_loss"), ("H2 2", "bounded_loss")):
        for value in (100, 101, 102):
            make_run(system, value, durability=durability)

    html = page(client, "/compare/?workload=tpc-b-profile-1&baseline=sqlite-3")

    assert 'data-verdict="refused"' in html
    assert "no ratio: Durability: a crash may lose the last commits against survives power loss" in html
    assert "shown apart, not ranked" in html


def test_it_takes_every_filter_of_the_list_of_runs(client, article):
    make_run("DB2 9.7", 2451, factors=FACTORS | {"commit_group": 2}, on=machine("Machine of the article"))

    html = page(client, "/compare/?dbms=db2&dbms=mysql-5-0&factor.terminals=4")

    labels = [bar["label"] for bar in spec(html)["groups"]]
    assert sorted(labels) == ["DB2 9.7", "DB2 9.7 · commit group 2", "MySQL 5.0"]


def test_it_draws_disk_memory_and_doubtful_runs_as_classes_of_their_own(client):
    doubt = "1000 TPS, 4 terminals × 200 syncs/s of the device = 800: cannot have waited for this disk"
    make_run("SQLite 3", 100, durability="power_loss")
    make_run("Derby 10", 1000, durability="power_loss", durability_doubt=doubt)
    make_run("H2 2", 5000, durability="memory")

    html = page(client, "/compare/?workload=tpc-b-profile-1&baseline=sqlite-3")

    drawn = [[bar["label"] for bar in spec(html, name)["groups"]] for name in ("comparison", "apart", "apart-2")]
    assert drawn == [["SQLite 3"], ["Derby 10"], ["H2 2, in memory"]]
    assert "Not ranked: in memory" in html
    assert f"Shown apart, not ranked: Derby 10 ({doubt})." in html
    assert f'data-doubt title="{doubt}">contradicted' in html
    assert ">Derby 10 (contradicted)<" in html
    assert html.count('data-verdict="refused"') == 2
    assert f'data-doubt title="{doubt}"' in page(client, "/runs/")


def test_the_badge_of_a_group_promises_no_more_than_its_run_does(client):
    """Was: a commit on a virtual disk survives power loss as far as the host obeys, and the badge left that out."""
    make_run("H2 2.3", 90.0, durability="dbms_crash", durability_reason="the log is not synced")
    make_run("Derby 10.16", 100.0, durability="power_loss", durability_reason=f"the log is synced{HOST}")

    badges = re.findall(r'data-durability="(\w+)"[^>]*>([^<]*)<', page(client, "/compare/?workload=tpc-b-profile-1"))

    assert {durability: words.endswith(HOST) for durability, words in badges} == {
        "dbms_crash": False,
        "power_loss": True,
    }


def test_it_draws_groups_that_promise_less_apart_on_a_scale_of_their_own(client):
    for system, durability, value in (("SQLite 3", "power_loss", 100), ("H2 2", "bounded_loss", 5000)):
        run = make_run(system, value, durability=durability)
        new_chunk(run=run, metric=metric(), chunk=0, t0_s=0, interval_s=1, values=[value]).save()

    html = page(client, "/compare/?workload=tpc-b-profile-1")

    assert [bar["label"] for bar in spec(html)["groups"]] == ["SQLite 3"]
    assert [(bar["label"], bar["ranked"]) for bar in spec(html, "apart")["groups"]] == [("H2 2", False)]
    html = page(client, "/compare/?workload=tpc-b-profile-1&view=time")
    assert [line["label"] for line in spec(html, "over-time")["series"]] == ["SQLite 3, repeat 1"]
    assert [line["label"] for line in spec(html, "over-time-apart")["series"]] == ["H2 2, repeat 1"]


def test_repeats_that_differ_several_fold_are_warned_of(client):
    """As of a file whose results share all factors, because what tells them apart is not in it."""
    words = "Repeats several times as large as others"
    for value in (1000, 1010, 2900):
        make_run("SQLite 3", value)
    assert words not in page(client, "/compare/?workload=tpc-b-profile-1")
    make_run("SQLite 3", 3100)
    assert words in page(client, "/compare/?workload=tpc-b-profile-1")


def test_of_many_warnings_it_names_the_subjects_and_leaves_the_first_screen_to_the_chart(client):
    for system, durability in (("SQLite 3", "power_loss"), ("Derby 10", "power_loss"), ("H2 2", "dbms_crash")):
        make_run(system, 100, durability=durability, checks=[{"name": "no_stalls", "ok": False}])

    html = page(client, "/compare/?workload=tpc-b-profile-1&ask=a_b")

    subjects = "3 warnings: Shown apart, not ranked · Stalls · Fewer than 3 repeats, so no verdict"
    notice = html[html.index('<details class="notice notice-warn warnings"') : html.index("data-view=")]
    assert f"<summary>{subjects}</summary>" in notice
    assert "Stalls: all groups; see the pages of the runs." in notice
    assert "<p>Stalls" in page(client, "/compare/?workload=tpc-b-profile-1&dbms=h2-2")


def test_it_says_when_nothing_matches(client, article):
    assert "No run matches" in page(client, "/compare/?publication=tpcb-2010&status=failed")


@pytest.mark.parametrize(
    "query", ["run=not-an-id", "cell=zzz", "colour=red", "publication=no-such-article", "factor.none=1"]
)
def test_it_names_what_it_did_not_understand(client, query, article):
    name = query.partition("=")[0]

    response = client.get(f"/compare/?{query}")
    answer = client.get(f"/compare/?{query}&format=json")

    assert (response.status_code, answer.status_code) == (400, 400)
    assert f"<code>{name}</code>: " in response.content.decode()
    assert list(answer.json()) == [name]
    assert client.get(f"/compare.csv?{query}").status_code == 400


def with_series(system: str, count: int) -> None:
    for repeat in range(1, count + 1):
        run = make_run(system, 100 + repeat, repeat=repeat, factors={"scale_factor": 4, "terminals": 4, "warm_up_s": 2})
        new_chunk(run=run, metric=metric(), chunk=0, t0_s=0, interval_s=1, values=[90.0, None, 110.0]).save()


def test_it_overlays_throughput_over_time(client):
    with_series("SQLite 3", 3)

    drawn = spec(page(client, "/compare/?dbms=sqlite-3&view=time"), "over-time")

    assert [line["label"] for line in drawn["series"]] == [f"SQLite 3, repeat {repeat}" for repeat in (1, 2, 3)]
    assert drawn["series"][0]["points"] == [[0, 90], [1, None], [2, 110]]
    assert drawn["bands"] == [{"from": 0, "to": 2, "label": "warm-up"}]


def test_it_overlays_no_more_than_twelve_runs(client):
    with_series("SQLite 3", 13)

    assert SeriesChunk.objects.count() == 13
    drawn = spec(page(client, "/compare/?dbms=sqlite-3&view=time"), "over-time")
    assert [line["label"] for line in drawn["series"]] == ["SQLite 3, repeat 1"]


def test_it_leads_to_what_is_inside_its_runs(client):
    with_series("SQLite 3", 2)
    html = page(client, "/compare/?dbms=sqlite-3")
    first, second = Run.objects.order_by("repeat")
    assert "over-time" not in html
    assert 'href="?dbms=sqlite-3&amp;view=time"' in html and 'href="?dbms=sqlite-3&amp;view=latency"' in html
    assert f'href="/runs/diff/?run={first.id}&amp;run={second.id}"' in html


def test_a_view_inside_runs_says_what_none_of_them_holds(client):
    """Seen: the names of 36 groups "without a stored histogram"; "Nothing to draw here" over time."""
    for system in ("SQLite 3", "H2 2"):
        make_run(system, 100)
    latency, over_time = (
        page(client, f"/compare/?workload=tpc-b-profile-1&view={view}") for view in ("latency", "time")
    )
    assert "No run holds a histogram of its latencies." in latency and "Without a stored histogram" not in latency
    assert "No run holds samples over time." in over_time


def test_it_colours_bars_by_the_fact_that_is_ranked(client):
    """Seen: four colours of two machines at two sizes, below the question which machine is best."""
    for size in (50, 200):
        for name in ("alpha", "beta"):
            make_run("Firebird 2.5", 100, factors={"size_gb": size}, on=machine(name))

    html = page(client, "/compare/?dbms=firebird&view=bars")

    assert "Which machine" in html
    assert {(bar["color"], bar["label"].rpartition(" ")[2]) for bar in spec(html)["groups"]} == {
        (0, "alpha"), (1, "beta"),
    }  # fmt: skip


def test_it_colours_many_groups_by_what_a_reader_tells_apart(client):
    for size in range(1, 7):
        for disk in ("HDD", "SSD"):
            make_run("Firebird 2.5", 100 / size, factors={"size_gb": size, "disk": disk})

    bars = spec(page(client, "/compare/?dbms=firebird&view=bars"))["groups"]

    assert len(bars) == 12
    assert {(bar["color"], bar["label"].rpartition(" ")[2]) for bar in bars} == {(0, "HDD"), (1, "SSD")}


def test_bars_of_many_versions_are_coloured_by_their_systems(client):
    """Seen: blue and orange without a legend, of the drivers pgsql and mysql, which no name told."""
    for system, driver in (("PostgreSQL", "pgsql"), ("MySQL", "mysql"), ("MariaDB", "mysql")):
        for version in range(1, 6):
            make_run(f"{system} {version}", 1000 + version, factors={"db_driver": driver})
    bars = spec(page(client, "/compare/?workload=tpc-b-profile-1&view=bars"))["groups"]
    systems = {(bar["color"], bar["label"].partition(" ")[0]) for bar in bars}
    assert len(bars) == 15 and len(systems) == len({color for color, _ in systems}) == 3


def test_it_leads_to_the_differences_of_configurations_and_machines(client):
    configs = [Config.objects.create(slug=slug, name=slug) for slug in ("small", "large")]
    for config, on in zip(configs, (machine("One"), machine("Two")), strict=True):
        make_run("PostgreSQL 17", 100, config=config, on=on)

    html = page(client, "/compare/?dbms=postgresql")
    links = re.findall(r'href="(/configs/diff/[^"]+|/hardware/diff/[^"]+)"', html)

    assert {link.split("?")[0] for link in links} == {"/configs/diff/", "/hardware/diff/"}
    for link in links:
        html = page(client, link.replace("&amp;", "&"))
    assert "marked" not in html  # no machine states anything: there is no mark


def test_where_a_value_is_zero_the_bar_is_the_median_and_says_so(client):
    for repeat, value in enumerate((0.0, 10.0, 30.0), 1):
        make_run("SQLite 3.53", value, repeat=repeat)

    html = page(client, "/compare/?dbms=sqlite")
    bar = spec(html)["groups"][0]

    assert (bar["value"], bar["statistic"], bar["interval"]) == (10, "median", None)
    assert "not known: a value is zero or negative, so that the bar is the median" in html


def test_the_words_of_the_chart_name_its_statistic(client, article):
    html = page(client)

    assert "Bar: geometric mean." in html
    assert "Bars of the geometric mean of throughput: PostgreSQL 8.3 498.9, DB2 9.7 2,363" in html
    assert '>Ratio <span class="sub">of geometric means</span></th>' in html


def test_of_many_groups_it_shows_the_first_rows_and_all_when_they_are_asked_for(client):
    runs = make_runs(
        {"system": "PostgreSQL 17", "value": 100 + at, "factors": {"terminals": 2 + at}} for at in range(60)
    )
    query = "&".join(f"run={run.id}" for run in runs)

    first = page(client, f"/compare/?{query}&baseline=terminals-61&view=bars")
    every = page(client, f"/compare/?{query}&view=bars&rows=all")

    assert first.count("<tr data-group=") == 50 and every.count("<tr data-group=") == 60
    assert "The first 50 of 60 groups in numbers" in first and "All 60 groups in numbers" in every
    assert "rows=all#against" in first and "rows=all#against" not in every
    choice = re.search(r'<select id="baseline".*?</select>', first, re.DOTALL)
    assert choice is not None and choice[0].count("<option") == 51 and 'value="terminals-61" selected' in choice[0]
    assert len(spec(first)["groups"]) == 60
    rows = list(csv.DictReader(io.StringIO(client.get(f"/compare.csv?{query}").content.decode())))
    assert len(rows) == 60


def test_of_many_levels_it_shows_the_first_of_each_series_and_all_when_they_are_asked_for(client):
    runs = make_runs(
        {"system": system, "value": 100 + at, "factors": {"terminals": 2 + at}}
        for system in ("PostgreSQL 17", "SQLite 3.50", "H2 2.3")
        for at in range(120)
    )
    query = "&".join(f"run={run.id}" for run in runs)

    pages = [page(client, f"/compare/?{query}{more}") for more in ("", "&rows=all")]
    assert [html.count("<tr data-level=") for html in pages] == [200, 240]
    assert [html.count("rows=all#levels") for html in pages] == [1, 0]


def test_of_a_cut_table_of_levels_those_that_both_sides_were_measured_at_come_first(client):
    runs = make_runs(
        {"system": system, "value": 100 + at, "factors": {"terminals": at}}
        for system, begin in (("PostgreSQL 17", 1), ("SQLite 3.50", 121))
        for at in range(begin, begin + 130)
    )
    html = page(client, "/compare/?" + "&".join(f"run={run.id}" for run in runs))
    shown = re.findall(r'<tr data-level="([^"]+)"', html)
    assert len(shown) == 200 and shown[0] == "121 terminals"


@pytest.mark.parametrize("view", ["", "bars", "curve", "heatmap", "table", "tradeoff"])
def test_it_draws_no_axis_without_a_number_and_says_what_is_missing(client, view):
    for factor in (1, 2, 3):
        make_run("PostgreSQL 17", None, factors={"terminals": factor}, state=RunState.QUEUED)
        make_run("MariaDB 11", None, factors={"terminals": factor}, state=RunState.FAILED, message="no room")

    html = page(client, f"/compare/?workload=tpc-b-profile-1&view={view}")

    assert "<canvas" not in html and "data-chart=" not in html
    assert "No run has a number: 3 × not finished yet (queued); 3 × failed: no room." in html
    assert "The chart appears here when the first of them has finished." in html
    assert "No run has a number: 3 × not" in page(client, f"/embed/compare/?workload=tpc-b-profile-1&view={view}")


def test_it_says_what_to_do_where_the_only_numbers_are_invalid(client):
    make_run("PostgreSQL 17", 100, invalid_at=timezone.now(), invalid_reason="a backup ran")

    html = page(client, "/compare/?workload=tpc-b-profile-1")

    assert "<canvas" not in html
    assert "marked invalid: a backup ran. Who marked a run invalid can restore it on its page." in html


def test_of_many_combinations_the_baseline_is_chosen_by_one_fact(client):
    """Seen: a menu of 36 configurations, each with all its settings."""
    for terminals in (1, 8):
        for scale in range(1, 9):
            make_run("PostgreSQL 17", 100 + scale, factors={"terminals": terminals, "scale_factor": scale})
    html = page(client, "/compare/?dbms=postgresql&view=bars&compared=none")
    choice = re.search(r'<select id="baseline".*?</select>', html, re.DOTALL)
    assert re.findall(r"<option[^>]*>([^<]*)", choice[0]) == [f"Scale factor {scale}" for scale in range(1, 9)]


def test_what_is_held_does_not_leave_out_a_baseline_that_nobody_chose(client):
    """Seen: "There is no group “postgresql-16-4-10-gb-beta” with values", when one size of three was held."""
    for terminals in (1, 8):
        for scale in (1, 2, 4):
            make_run("PostgreSQL 17", 100 + scale, factors={"terminals": terminals, "scale_factor": scale})
    url = "/compare/?dbms=postgresql&view=bars&compared=none"
    html = page(client, url)
    (sent,) = re.findall(r'<option value="([^"]*)" selected>', html.partition('<select id="baseline"')[2])[:1]
    assert "There is no group" not in page(client, f"{url}&baseline={sent}&fix=factor:scale_factor%3D4")


@pytest.mark.parametrize("view", ["bars", "curve", "heatmap", "table"])
def test_each_id_of_the_page_is_one_elements(client, view):
    """Was: a select and the page's main part had one id, so that each change of a control left one more select."""
    for system in ("PostgreSQL 17", "MySQL 8.4"):
        for scale in (1, 2, 4):
            make_run(system, 100 + scale, factors={"scale_factor": scale})
    html = page(client, f"/compare/?dbms=postgresql&dbms=mysql&view={view}&edit=1")
    assert 'name="compared"' in html
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
