"""The list of runs: filter, sort, gaps, pages, ticks."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from benchagent.catalog import WORKLOADS
from django.http import QueryDict

from runs import results
from runs.listing.cursor import cursor_at
from runs.listing.cursor import page as cursor_page
from runs.listing.filters import RunFilter, columns_of
from runs.models import Config, Experiment, Run, RunStorage, StorageDevice, Workload
from tests.runs.builders import document
from tests.runs.cells import EMPTY_CELL, add_number, machine, make_repeats, make_run

pytestmark = pytest.mark.django_db


def page(client, url: str = "/runs/", **headers) -> str:
    response = client.get(url, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def values(html: str) -> list[float]:
    return [float(text) for text in re.findall(r'<td class="num[^"]*" data-value="([^"]+)"', html)]


def test_it_says_what_to_do_when_there_is_nothing(client):
    html = page(client)
    assert "No runs yet" in html
    assert '<a href="/schedule/">' in html


def test_who_is_logged_in_asks_for_the_runs_of_a_person(client, contributor, operator):
    """Was: the filter stood in the address only."""
    for number, owner in enumerate((contributor, operator)):
        make_run("SQLite 3", 100.0 + number, owner=owner)
    assert 'name="owner"' not in page(client)
    client.force_login(operator)
    html = page(client, f"/runs/?owner={contributor.username}")
    assert f'name="owner" value="{contributor.username}"' in html and values(html) == [100.0]
    assert sorted(values(page(client, "/runs/?owner="))) == [100.0, 101.0]


def test_it_shows_a_lost_value_as_a_gap_with_its_reason_and_never_as_zero(client, article):
    html = page(client, "/runs/?status=value_missing")
    assert html.count(f'<td data-gap title="{EMPTY_CELL}">') == 2
    assert values(html) == []


def test_a_copy_is_called_one(client):
    """Seen: three rows of what was sent twice were "invalid", as if somebody had taken them back."""
    first = document(repeats=[{"metrics": {"tps": 1234.5678 + at}} for at in range(3)])
    again = first | {"id": str(uuid4())}
    results.store_uploads(documents=[first])
    results.store_uploads(documents=[again])
    badges = re.findall(r'<span class="badge invalid"[^>]*>([^<]*)<', page(client))
    assert badges == ["copy"] * 3


def test_a_row_says_what_must_not_be_trusted(client):
    names = {"machine_alone": "disturbed", "terminals_fair": "unfair", "steady_state": "unsteady"}
    bad = [{"name": name, "ok": False, "detail": f"why {name}"} for name in names]
    make_run("SQLite 3", 1, checks=bad)
    make_run("MySQL 8", 1, checks=[{**check, "ok": True} for check in bad])
    make_run("Derby 10", None, checks=bad, state="failed")
    html = page(client)
    assert re.findall(r'data-doubt="(\w+)" title="why (\w+)"', html) == [(word, name) for name, word in names.items()]
    make_run("H2 2", 1, durability="power_loss", durability_doubt="too fast for its disk")
    assert 'title="too fast for its disk"' in page(client)


def test_a_row_says_how_long_was_measured(client):
    """Seen: 9,012 and 5,856 TPS in rows that were alike, of 10 and of 600 s."""
    for duration_s in (10, 600):
        make_run("SQLite 3", 1, factors={"duration_s": duration_s, "warm_up_s": 5})
    said = re.findall(r'<span class="sub">TPC-B[^<]*', page(client))
    assert ["600" in row for row in said] == [True, False] and "10 s" in said[1]


def test_it_offers_each_version_of_a_workload_by_the_slug_that_finds_its_runs(client):
    first = Workload.objects.create(slug="tpcc", kind="tpcc", name=WORKLOADS["tpcc"].name, version="1")
    present = results.resolve_workload("tpcc")
    html = client.get("/runs/").content.decode()
    for row in (first, present):
        assert re.search(rf'<option value="{row.slug}"[^>]*>{row}</option>', html)
    assert str(first) != str(present)
    assert len(re.findall(r">TPC-C-like[^<]*</option>", html)) == 2


def test_it_takes_the_whole_form_with_its_empty_fields_and_shows_a_short_address(client, article):
    form = "q=&workload=&dbms=derby-10-6&status=&provenance=&durability=&hardware=&experiment=&publication="
    response = client.get(f"/runs/?{form}", headers={"HX-Request": "true", "HX-Target": "run-table"})
    assert sorted(values(response.content.decode())) == [855, 875, 919]
    assert response["HX-Push-Url"] == "/runs/?dbms=derby-10-6"
    assert "HX-Target" in response["Vary"]
    assert sorted(values(page(client, f"/runs/?{form}"))) == [855, 875, 919]


def test_it_looks_for_words(client):
    for number in range(4):
        make_run("SQLite 3.53", number, note="odd" if number % 2 else "even", repeat=number)
    assert values(page(client, "/runs/?q=odd")) == [3, 1]
    assert "No run matches" in page(client, "/runs/?q=odd&dbms=firebird")


def test_it_finds_runs_by_the_tool_that_measured_them(client):
    make_run("SQLite 3.53", 1, driver={"name": "pgbench", "version": "15.8"})
    make_run("SQLite 3.53", 2, driver={"name": "sysbench", "cores": "pgbench"})
    make_run("SQLite 3.53", 3, driver=["pgbench"])
    assert values(page(client, "/runs/?q=PgBench+3.53")) == [1]


def test_it_sorts_by_value_both_ways_with_gaps_last(client, article):
    rising = page(client, "/runs/?dbms=derby-10-6&ordering=value&show_lost=1")
    falling = page(client, "/runs/?dbms=derby-10-6&ordering=-value&show_lost=1")
    assert values(rising) == [855, 875, 919]
    assert values(falling) == [919, 875, 855]
    assert rising.index("data-gap") > rising.index('data-value="919')
    assert 'aria-sort="descending"' in falling


def test_every_link_of_the_head_works_without_javascript(client):
    make_run("SQLite 3.53", 1)
    html = page(client, "/runs/?q=sqlite&page=1")
    links = re.findall(r'<a href="(/runs/\?[^"]+)" hx-get="(/runs/\?[^"]+)"', html)
    assert len(links) == 6
    for href, hx_get in links:
        assert href == hx_get
        assert "q=sqlite" in href
        assert "page=" not in href
        assert client.get(href.replace("&amp;", "&")).status_code == 200


def test_it_answers_htmx_with_the_table_alone(client):
    make_run("SQLite 3.53", 1)
    part = page(client, **{"HX-Request": "true", "HX-Target": "run-table"})
    assert part.lstrip().startswith('<div id="run-table"')
    assert "<html" not in part


@pytest.mark.parametrize("query", ["status=nonsense", "ordering=colour", "dbsm=sqlite"])
def test_it_names_a_filter_that_it_does_not_understand(client, query):
    make_run("SQLite 3.53", 1)
    response = client.get(f"/runs/?{query}")
    assert response.status_code == 400
    html = response.content.decode()
    assert f"<strong>{query.split('=')[0]}</strong>" in html
    assert values(html) == []


def test_it_marks_demonstrations_with_the_length_of_their_window(client):
    experiment = Experiment.objects.create(slug="demo", name="Demo", demonstration=True)
    make_run("SQLite 3.53", 1, factors={"duration_s": 5}, demonstration=True, experiment=experiment)
    make_run("H2 2.4", 1, factors={"duration_s": 60})
    assert page(client).count("demonstration, 5 s windows") == 1


def test_it_does_not_show_a_failed_runs_number_as_one_that_counts(client):
    make_run("SQLite 3.53", 77, state="failed", message="Balances do not add up")
    html = page(client)
    assert '<td class="num muted" data-value="77.0"' in html
    assert "not counted, the run is failed" in html


def test_it_sends_the_ticked_runs_to_the_compare_page(client):
    runs = [make_run("SQLite 3.53", 1), make_run("H2 2.4", 2)]
    html = page(client)
    assert '<form class="panel panel-flush" method="post" action="/compare/ticked/"' in html
    for run in runs:
        assert f'name="run" value="{run.id}"' in html
    answer = client.post("/compare/ticked/", {"run": [str(run.id) for run in runs]}, follow=True)
    assert answer.status_code == 200 and "2 groups, 2 runs" in answer.content.decode()


def test_it_has_pages_and_keeps_the_filter_on_them(client):
    make_repeats("SQLite 3.53", range(53), factors={"terminals": 1})
    first, second = page(client, "/runs/?dbms=sqlite"), page(client, "/runs/?dbms=sqlite&page=2")
    assert len(values(first)) == 50
    assert len(values(second)) == 3
    assert 'rel="next" href="/runs/?dbms=sqlite&amp;page=2"' in first
    assert "page 2 of 2" in second


def test_a_select_offers_the_first_of_many_and_the_one_that_is_chosen(client, monkeypatch):
    from runs.listing import filters
    from runs.models import HardwareProfile
    from runs.templatetags import show

    monkeypatch.setattr(filters, "MOST_OFFERED", 3)
    monkeypatch.setattr(show, "MOST_OFFERED", 3)
    machines = [HardwareProfile.objects.create(slug=f"m{number}", name=f"M{number}") for number in range(6)]
    make_run("SQLite 3.53", 5, on=machines[5])
    html = page(client, "/runs/?hardware=m5")
    assert values(html) == [5]
    offered = re.findall(r'<option value="(m\d)"', html)
    assert offered == ["m0", "m1", "m2", "m5"]
    assert "search finds the others" in html
    assert client.get("/runs/?hardware=m7").status_code == 400


def test_lost_values_are_hidden_and_said_and_shown_on_demand(client, article):
    html = page(client)
    assert len(values(html)) == 28 and "<td data-gap" not in html
    assert "2 values that their sources have lost are hidden" in html and "28 runs" in html
    shown = page(client, re.search(r'href="(/runs/\?[^"]*show_lost=1[^"]*)"', html)[1])
    assert shown.count("<td data-gap") == 2 and "30 runs" in shown
    assert 'name="show_lost" value="1" form="run-filter"' in shown
    assert "format=csv" in shown and "show_lost=1&amp;format" not in shown
    assert len(values(page(client, "/runs/?publication=tpcb-2010&dbms=derby-10-6"))) == 3


def test_a_list_of_nothing_but_lost_values_says_so(client, article):
    Run.objects.exclude(state="value_missing").delete()
    html = page(client)
    assert "No runs yet" not in html and "show_lost=1" in html


@pytest.mark.parametrize("after", ["", "MySQL 5.0"])
def test_versions_come_as_people_count_them(client, after):
    for version in ("18.1", "9.6", "10", "18.1"):
        make_run(f"PostgreSQL {version}", 1)
    make_run("MySQL 5.0", 1)
    columns = columns_of("dbms")
    cursor = cursor_at(Run.objects.get(dbms_version__name=after), columns, "dbms") if after else ""

    shown = cursor_page(Run.objects.all(), columns=columns, name="dbms", cursor=cursor, size=9)
    listed = re.findall(r'class="run-name"><a [^>]*>([^<]*)</a>', page(client, "/runs/?ordering=dbms"))
    falling = re.findall(r'class="run-name"><a [^>]*>([^<]*)</a>', page(client, "/runs/?ordering=-dbms"))

    expected = ["MySQL 5.0", "PostgreSQL 9.6", "PostgreSQL 10", "PostgreSQL 18.1", "PostgreSQL 18.1"]
    assert [run.dbms_version.name for run in shown.rows] == expected[bool(after) :]
    assert (listed, falling) == (expected, expected[::-1])


def test_versions_are_offered_as_people_count_them(client):
    for version in ("18.1", "9.6", "10"):
        make_run(f"PostgreSQL {version}", 1)
    assert re.findall(r">PostgreSQL ([\d.]+)</option>", page(client)) == ["9.6", "10", "18.1"]


def test_a_row_says_its_result_in_one_line_and_links_its_tags(client):
    row = Workload.objects.create(slug="dump", kind="backup", name="Backup", primary_metric="backup_s")
    run = make_run("SQLite 3.53", 12.5, number="backup_s", of=row, tags="nightly")
    add_number(run, 80, name="backup_mb_per_s", unit="MB/s")
    html = page(client)
    assert '<a class="plain" href="/runs/?tag=nightly"' in html
    assert len(values(page(client, "/runs/?tag=nightly"))) == 1
    cell = re.search(r'<td class="num" data-value="12.5".*?</td>', html, re.DOTALL)[0]
    assert "80 MB/s" in cell


def test_each_filter_has_a_name_to_be_called_by():
    """Seen: "[invalid name] nightly" among what is compared."""
    filters = RunFilter(QueryDict(), queryset=Run.objects.none(), is_shown=True).filters
    assert [name for name, known in filters.items() if str(known.label).startswith("[")] == []


def test_rows_that_differ_in_disk_and_configuration_alone_say_so(client):
    bench = machine()
    for disk in ("Slow HDD", "Quick NVMe"):
        device = StorageDevice.objects.create(hardware=bench, slug=disk, name=disk)
        config = Config.objects.create(slug=disk, name=f"tuned for {disk}")
        run = make_run("SQLite 3", 1, on=bench, config=config)
        RunStorage.objects.create(run=run, role="data", device=device)
        RunStorage.objects.create(run=run, role="log", device=device)

    rows = re.findall(r"data-setup>([^<]*)<", page(client))

    assert sorted(rows) == ["Quick NVMe · tuned for Quick NVMe", "Slow HDD · tuned for Slow HDD"]


def test_what_was_sent_at_once_stands_as_it_was_measured_cell_by_cell(client):
    """Was: the first repeats of all of it, by their ids."""
    cells = [(f"2026-05-0{day}", terminals) for day in range(1, 4) for terminals in (1, 8)]
    repeats = [{"metrics": {"tps": 1}}, {"metrics": {"tps": 2}}]
    results.store_uploads(documents=[
        document(id=str(uuid4()), measured_on=day, factors={"terminals": terminals}, repeats=repeats)
        for day, terminals in cells
    ])  # fmt: skip

    runs = [row.run for row in client.get("/runs/").context["page"]["rows"]]

    assert [run.repeat for run in runs] == [1, 2] * 6
    assert len({(run.measured_on, run.cell_key) for run in runs[::2]}) == 6
    assert [run.measured_on.day for run in runs] == [3] * 4 + [2] * 4 + [1] * 4


def test_a_filter_that_is_given_twice_finds_either_value_or_is_refused(client):
    for label, tags, tested in (("a", "x y", {"commit": "ab1"}), ("b", "y z", {"commit": "cd2"}), ("c", "w", {})):
        made = document(label=label, tags=tags.split(), tested=tested) | {"batch": str(uuid4()), "id": str(uuid4())}
        assert results.store_uploads(documents=[made])[0].errors == {}
    runs = list(Run.objects.order_by("label"))

    def found(query: str) -> str:
        rows = client.get(f"/api/v1/runs/?{query}").json()["results"]
        return "".join(sorted({row["label"] for row in rows}))

    assert found("label=a") == "a"
    assert found("label=a&label=c") == "ac"
    assert found("tag=x&tag=w") == "ac"
    assert found("tag=y+z&tag=w") == "bc"
    assert found("commit=ab&commit=cd") == "ab"
    assert found(f"batch={runs[0].batch_id}&batch={runs[-1].batch_id}") == "ac"
    refused = client.get("/api/v1/runs/?above=1&above=2")
    assert (refused.status_code, refused.json()) == (400, {"above": ["It takes one value, and is given several."]})
    assert "It takes one value" in client.get("/runs/?q=a&q=b").content.decode()
