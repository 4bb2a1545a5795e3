"""The page of one run, its CSV, deletion and its undo."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from benchagent import histogram

from runs import results
from runs.models import Run
from runs.run.facets import facets
from tests.runs.builders import job_result, machine, samples, scheduled
from tests.runs.cells import EMPTY_CELL, make_run
from tests.runs.pages import page, spec

pytestmark = pytest.mark.django_db

AT = datetime(2026, 11, 21, 5, 0, tzinfo=UTC)
TPS = [10.0, 20.0, None, 40.5]


def moved(run: Run, *states: str) -> Run:
    for place, state in enumerate(states):
        assert results.record_state(run_id=run.id, state=state, at=AT + timedelta(seconds=10 * place))
    run.refresh_from_db()
    return run


def measuring(**changes) -> Run:
    run = moved(scheduled(hardware=machine(), **changes), "assigned", "preparing", "loading", "warming_up", "measuring")
    results.append_samples(run=run, item=samples("tps", 0, 0.0, TPS))
    results.append_samples(run=run, item=samples("latency_p50_ms", 0, 0.0, [4.0, 3.0, None, 2.0]))
    return run


def finished(outcome: str = "finished", message: str = "", **result) -> Run:
    run = measuring(demonstration=True)
    results.finish_run(
        run=run, outcome=outcome, message=message, at=AT + timedelta(minutes=2), result=job_result(**result)
    )
    run.refresh_from_db()
    return run


def test_it_says_where_the_agent_was_never_verified_against_a_live_server(client):
    run = scheduled(dbms="oracle", dbms_version="19", settings=[], hardware=machine(), connection="prod")
    known = scheduled(dbms="postgresql", dbms_version="15.20", settings=[], hardware=machine(), connection="prod")
    assert "Not verified against a live server" in page(client, run)
    assert "No Oracle server could be had" in page(client, run)
    assert "data-unverified" not in page(client, known)
    assert "not verified against a live server" in client.get("/dbms/oracle/").content.decode()
    assert "data-unverified" not in client.get("/dbms/postgresql/").content.decode()


def test_it_draws_throughput_with_its_gap_and_the_warm_up_marked(client):
    drawn = spec(page(client, finished()), "throughput")
    assert drawn["series"][0]["points"] == [[0.0, 10.0], [1.0, 20.0], [2.0, None], [3.0, 40.5]]
    assert drawn["bands"] == [{"from": 0, "to": 10, "label": "warm-up"}]
    assert (drawn["y"]["unit"], drawn["x"]["unit"], drawn.get("live_url")) == ("TPS", "s", None)


def test_it_puts_every_number_of_the_chart_into_the_table(client):
    html = page(client, finished())
    table = html[html.index('id="throughput-numbers"') : html.index('id="latency"')]
    assert re.findall(r'<td class="num" data-value="([^"]+)"', table) == ["10.0", "20.0", "40.5"]
    assert table.count("data-gap") == 1


def test_it_draws_only_what_was_sampled(client):
    html = page(client, finished())
    assert 'id="latency"' in html
    assert 'id="disk"' not in html
    assert [series["label"] for series in spec(html, "latency")["series"]] == ["p50"]


def test_a_run_that_goes_on_is_asked_for_by_its_chart_and_by_its_state(client):
    run = measuring()
    html = page(client, run)
    live_url = spec(html, "throughput")["live_url"]
    assert live_url == f"/api/v1/runs/{run.id}/series/?metric=tps"
    answer = client.get(f"{live_url}&after=1").json()
    assert answer["series"][0]["values"] == [None, 40.5]
    assert f'hx-get="/runs/{run.id}/?part=state"' in html
    assert client.get(f"/runs/{run.id}/?part=state").status_code == 200


def test_a_run_that_goes_on_says_how_fast_it_is(client):
    run = measuring(factors={"terminals": 4, "warm_up_s": 1, "duration_s": 60})
    for html in (page(client, run), client.get(f"/runs/{run.id}/?part=state").content.decode()):
        said = [re.sub("<[^>]+>", "", words) for words in re.findall("data-so-far>(.*?)</span>", html)]
        assert said == ["now 40.5 TPS", "average so far 30.25 TPS"]
    assert "data-so-far" not in page(client, finished())


def test_a_queued_run_draws_no_empty_chart_and_gets_its_charts_with_the_first_samples(client):
    run = moved(scheduled(hardware=machine()), "assigned", "preparing", "loading", "warming_up")
    html = page(client, run)
    assert "data-no-samples" in html and "<canvas" not in html and "data-embed" not in html
    again = re.search(r'hx-get="([^"]+part=charts[^"]+)"', html)[1].replace("&amp;", "&")
    assert client.get(again).status_code == 204
    results.append_samples(run=run, item=samples("tps", 0, 0.0, TPS))
    drawn = client.get(again).content.decode()
    assert "live_url" in spec(drawn, "throughput")
    assert "data-no-samples" not in drawn and 'id="latency"' not in drawn
    again = re.search(r'hx-get="([^"]+part=charts[^"]+)"', drawn)[1].replace("&amp;", "&")
    assert client.get(again).status_code == 204


def test_live_memory_is_in_the_unit_of_its_axis(client):
    run = measuring()
    results.append_samples(run=run, item=samples("server_rss_bytes", 0, 0.0, [300_000_000.0]))
    drawn = spec(page(client, run), "memory")
    assert (drawn["y"]["unit"], drawn["series"][0]["scale"]) == ("MiB", 2**20)
    assert drawn["series"][0]["points"][0][1] == pytest.approx(286.1, abs=0.1)


def test_it_says_its_result_under_its_title(client):
    html = page(client, finished())
    assert "data-embed" in html
    result = html[html.index('id="result"') : html.index("</dl>", html.index('id="result"'))]
    assert 'data-result="tps"><dt>Throughput</dt><dd>123.5 <small>TPS</small>' in result
    assert "survives power loss" in result and 'data-standing="alone"' in result
    assert html.index('id="result"') < html.index('id="charts"')


def test_the_polling_stops_with_the_run(client):
    run = finished()
    response = client.get(f"/runs/{run.id}/?part=state")
    assert response.status_code == 286
    assert "hx-get" not in response.content.decode()


def test_it_says_everything_that_a_result_carries(client):
    ignored = ["synchronous: 4 given"]
    html = page(client, finished(warnings=["The driver took 30 % of the machine."], ignored_settings=ignored))
    for text in (
        "demonstration, 5 s windows", "survives power loss", "synchronous = FULL", "Two quiet cores", "8 GiB",
        "write back", "ext4", "The driver took 30 % of the machine.", "Balances", "31 · 31 · 31 · 30", "0.1.0",
        "Scale factor", "Data: seed", "not in force as given", "synchronous: 4 given", "Warming up", "SQLite 3.45.1",
    ):  # fmt: skip
        assert text in html, text
    assert 'data-metric="tps" data-value="123.5"' in html
    assert "hunter2" not in html


def test_its_warnings_are_one_notice_above_the_charts(client):
    run = finished()
    Run.objects.filter(pk=run.pk).update(warnings=["stalls: 2 of 20 seconds", "short window: 20 s"])
    html = page(client, run)
    notice = html[html.index('id="warnings"') : html.index('id="charts"')]
    assert re.findall("<li>(.*?)</li>", notice) == ["Stalls: 2 of 20 seconds", "Short window: 20 s"]


def test_a_number_stands_beside_its_unit_and_its_phase_has_words(client):
    run = finished()
    run.measurements.filter(metric__name="tps").update(phase="warm_up")
    html = page(client, run)
    headings = html[html.index('id="numbers"') :]
    assert re.findall('<th scope="col"[^>]*>(.*?)</th>', headings)[:4] == ["Metric", "Value", "Unit", "Phase"]
    assert "<td>warm-up</td>" in headings


def test_the_numbers_begin_with_what_the_run_is_about(client):
    run = finished()
    html = page(client, run)
    rows = re.findall(r'data-metric="(\w+)"', html[html.index('id="numbers"') :])
    assert rows[:2] == re.findall(r'data-result="(\w+)"', html)[:2]
    assert len(rows) == len(set(rows)) == run.measurements.count()


def test_a_run_that_was_cancelled_in_the_queue_says_so_and_shows_no_empty_panels(client):
    run = moved(scheduled(hardware=machine()), "cancelled")
    html = page(client, run)
    assert 'id="durability"' not in html and 'id="charts"' not in html and 'id="factors"' in html


def test_a_line_alone_is_named_by_the_title_of_its_chart(client):
    """Seen: an upload's p99, alone under "Latency over time", without a legend."""
    run = moved(scheduled(hardware=machine()), "assigned", "preparing", "loading", "warming_up", "measuring")
    results.append_samples(run=run, item=samples("latency_p99_ms", 0, 0.0, TPS))
    assert ">Latency over time: p99</strong>" in page(client, run)


def test_names_in_the_words_of_an_agent_are_code_and_nothing_else_is(client):
    run = finished()
    statistics = {"counters": {"commits": 1}, "none": {"log_flushes": "not in `pg_stat_<b>`"}}
    Run.objects.filter(pk=run.pk).update(statistics=statistics)
    assert "not in <code>pg_stat_&lt;b&gt;</code>" in page(client, run)


def test_it_sets_given_and_effective_settings_side_by_side(client):
    html = page(client, finished(effective_settings=[("Journal_Mode", "wal"), ("page_size", "4096")]))
    table = html[html.index("As given") : html.index("more setting")]
    rows = [
        re.findall(r'class="mono">(.*?)</t[hd]>', row, re.DOTALL)
        for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    ]
    assert rows[0] == ["journal_mode", "WAL", "wal"]
    assert rows[1][:2] == ["synchronous", "FULL"]
    assert "not reported" in rows[1][2]
    assert "1 more setting in force" in html


def test_a_failed_run_says_why(client):
    html = page(client, finished("failed", "Balances: 10 is not 11"))
    assert "<strong>Failed.</strong> Balances: 10 is not 11" in html


def test_a_lost_value_is_a_gap_with_its_reason(client, article):
    html = page(client, Run.objects.filter(state="value_missing").first())
    assert f'data-gap title="{EMPTY_CELL}"' in html
    assert "<strong>No number for throughput:</strong>" in html
    assert "<figure" not in html


def test_it_links_to_the_raw_data_and_the_csv_has_every_sample(client):
    run = finished()
    html = page(client, run)
    assert f'href="/runs/{run.id}/series.csv"' in html
    assert f'href="/api/v1/runs/{run.id}/"' in html
    response = client.get(f"/runs/{run.id}/series.csv")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(response.getvalue().decode())))
    assert rows[0] == ["metric", "unit", "t_s", "value"]
    assert [row for row in rows if row[0] == "tps"] == [
        ["tps", "TPS", "0", "10"], ["tps", "TPS", "1", "20"], ["tps", "TPS", "2", ""], ["tps", "TPS", "3", "40.5"],
    ]  # fmt: skip
    assert client.get(f"/runs/{run.id}/series.csv?metric=a%00b").getvalue().count(b"\n") == 1


def test_an_unknown_run_is_not_found(client):
    assert client.get("/runs/00000000-0000-0000-0000-000000000000/").status_code == 404


def test_a_contributor_deletes_and_brings_back(client, contributor):
    run = make_run("SQLite 3.53", 1, owner=contributor)
    client.force_login(contributor)
    assert f'action="/runs/{run.id}/delete/"' in page(client, run)

    gone = client.post(f"/runs/{run.id}/delete/", follow=True)
    assert gone.status_code == 410
    assert "Undo" in gone.content.decode()
    assert Run.objects.present().count() == 0

    back = client.post(f"/runs/{run.id}/restore/", follow=True)
    assert back.status_code == 200
    assert "The run is back" in back.content.decode()
    assert Run.objects.present().get() == run


def test_a_get_deletes_nothing(client, contributor):
    run = make_run("SQLite 3.53", 1)
    client.force_login(contributor)
    assert client.get(f"/runs/{run.id}/delete/").status_code == 405


def test_a_run_that_goes_on_is_not_deleted(client, contributor):
    run = make_run("SQLite 3.53", None, state="measuring", owner=contributor)
    client.force_login(contributor)
    html = client.post(f"/runs/{run.id}/delete/", follow=True).content.decode()
    assert "has not ended" in html
    assert Run.objects.present().get() == run


def test_a_deleted_run_offers_strangers_no_undo(client):
    run = make_run("SQLite 3.53", 1)
    Run.objects.filter(id=run.id).update(deleted_at=AT)
    response = client.get(run.get_absolute_url())
    assert response.status_code == 410
    assert "Undo" not in response.content.decode()
    assert client.get(f"/runs/{run.id}/series.csv").status_code == 404


@pytest.mark.parametrize(("durability", "held"), [("memory", "in memory"), ("power_loss", "vda")])
def test_data_of_a_database_in_memory_are_on_no_disk(durability, held, client):
    uses = [{"role": role, "device": "vda", "path": "/data"} for role in ("data", "temp")]
    run = finished(durability={"durability": durability, "reason": ""}, storage=uses)
    html = page(client, run)
    of = {role: re.search(rf"<dt>{role}</dt>\s*<dd>([^<,]+)", html)[1] for role in ("Data", "Temporary")}
    assert of == {"Data": held, "Temporary": "vda"}
    assert facets(run)["storage:data"].words.startswith(held)


def test_latencies_of_which_one_is_a_hundred_times_another_have_a_logarithmic_axis(client):
    """Seen: 24 h of 4 ms and one stall of 600 ms: a line on the axis."""
    run = moved(scheduled(hardware=machine()), "assigned", "preparing", "loading", "warming_up", "measuring")
    results.append_samples(run=run, item=samples("latency_p99_ms", 0, 0.0, [4.0, 600.0, 5.0]))
    results.append_samples(run=run, item=samples("tps", 0, 0.0, [4.0, 600.0, 5.0]))
    html = page(client, run)
    assert (spec(html, "latency")["y"]["scale"], spec(html, "throughput")["y"]["scale"]) == ("log", "linear")
    assert "Logarithmic axis." in html


def test_a_long_run_is_thinned_and_keeps_its_peak_and_its_stall(client):
    run = finished()
    values = [100.0 + index % 7 for index in range(100_000)]
    values[54_321], values[65_432] = 999.5, 0.0
    run.series.all().delete()
    results.append_samples(run=run, item=samples("tps", 0, 0.0, values))
    results.append_samples(run=run, item=samples("machine_cpu_percent", 0, 0.0, [1.0]))
    response = client.get(f"/runs/{run.id}/")
    html = response.content.decode()
    assert len(response.content) < 600_000
    assert "Thinned: of every 100 samples the lowest and the highest" in html
    (spec,) = re.findall(r'<script id="throughput-data" type="application/json">(.*?)</script>', html)
    points = json.loads(spec)["series"][0]["points"]
    assert [54_321.0, 999.5] in points and [65_432.0, 0.0] in points
    assert 'data-value="999.5"' in html
    whole = client.get(json.loads(spec)["csv_url"]).getvalue().decode().splitlines()
    assert (len(whole), whole[1]) == (100_001, "tps,TPS,0,100")
    assert {row.partition(",")[0] for row in whole[1:]} == {"tps"}
    url = json.loads(spec)["detail_url"]
    (part,) = client.get(f"{url}&after=54319.5&before=54323").json()["thinned"]
    assert part["points"] == [[54_320.0, 100.0 + 54_320 % 7], [54_321.0, 999.5], [54_322.0, 100.0 + 54_322 % 7]]


@pytest.mark.parametrize("value", [1.7e308, -5.0])
def test_a_value_that_cannot_be_takes_no_page_down_and_counts_nowhere(client, value):
    """Such a value was stored before it was refused."""
    good, bad = make_run("PostgreSQL 15", 100.0), make_run("PostgreSQL 15", 100.0)
    bad.measurements.update(value=value)
    for path in ("/", "/runs/", f"/runs/{bad.id}/", "/api/v1/runs/", f"/api/v1/runs/{bad.id}/"):
        assert client.get(path).status_code == 200, path
    assert "it cannot be, so it counts in no median" in client.get(f"/runs/{bad.id}/").content.decode()
    query = f"?run={good.id}&run={bad.id}"
    assert "it cannot be, so it counts nowhere" in client.get(f"/compare/{query}").content.decode()
    (group,) = client.get(f"/api/v1/compare/{query}").json()["groups"]
    assert (group["n"], group["median"]) == (1, 100.0)


def test_what_was_noted_at_a_second_stands_on_its_charts_and_beneath_them(client, operator):
    run = finished()
    address = f"/runs/{run.id}/annotations/"
    assert client.post(address, {"at_s": "2", "text": "x"}).status_code in (302, 403)
    assert not run.annotations.exists()
    client.force_login(operator)
    client.post(address, {"at_s": "2.5", "text": "checkpoint tuning"})
    note = run.annotations.get()
    html = page(client, run)
    assert spec(html, "throughput")["events"] == [{"x": 2.5, "kind": "note", "words": "checkpoint tuning"}]
    assert "2.5 s</strong> checkpoint tuning" in html
    client.post(f"{address}{note.id}/", {"at_s": "3", "text": "checkpoint tuned"})
    assert str(run.annotations.get()) == "3 s: checkpoint tuned"
    assert "“2.5 s: checkpoint tuning” → “3 s: checkpoint tuned”" in page(client, run)
    client.post(f"{address}{note.id}/", {"delete": "1"})
    assert not run.annotations.exists()


def test_a_note_without_a_second_or_words_says_so(client, operator):
    client.force_login(operator)
    run = finished()
    for given, words in (
        ({"at_s": "x", "text": "y"}, "Second:"),
        ({"at_s": "-1", "text": "y"}, "Second:"),
        ({"at_s": "nan", "text": "y"}, "Second:"),
        ({"at_s": "1", "text": " "}, "Words:"),
    ):
        answer = client.post(f"/runs/{run.id}/annotations/", given, follow=True)
        assert words in answer.content.decode(), given
    assert not run.annotations.exists()


def test_it_draws_latency_by_percentile_where_its_histogram_is_stored(client):
    run = make_run("SQLite 3", 100, latency_histogram=histogram.encode([(1_000, 99), (9_000, 1)]))
    assert spec(page(client, run), "percentiles")["x"]["nines"] is True
    assert 'id="percentiles"' not in page(client, make_run("Derby 10", 90))


def test_a_run_that_failed_says_why_once(client):
    run = make_run("MySQL 8.0", None, state="failed", message="port 3306 is taken")
    html = client.get(run.get_absolute_url()).content.decode()
    assert html.count("port 3306 is taken") == 1
    assert "No number" not in html
