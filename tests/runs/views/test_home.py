"""The home page: the demonstration filling up, recent runs, publications, and what it says when there is nothing."""

from __future__ import annotations

import re
from datetime import date

import pytest

from runs.models import Experiment, Publication, Run
from tests.runs.cells import make_run
from tests.runs.pages import page, spec

pytestmark = pytest.mark.django_db

ENGINES = {
    "SQLite 3.53": ([410, 430, 420], "power_loss"),
    "Apache Derby 10.17": ([600, 590, 610], "power_loss"),
    "HSQLDB 2.7": ([380, 370, 390], "power_loss"),
    "H2 2.4": ([2900, 2800, 3000], "bounded_loss"),
}
FACTORS = {"scale_factor": 4, "terminals": 4, "warm_up_s": 10, "duration_s": 5}


def demonstration(finished: int = 12) -> Experiment:
    experiment = Experiment.objects.create(slug="first-light", name="First light", demonstration=True)
    place = 0
    for repeat in range(3):
        for system, (values, durability) in ENGINES.items():
            place += 1
            done = place <= finished
            make_run(
                system, values[repeat] if done else None, factors=FACTORS, experiment=experiment, demonstration=True,
                order_index=place, repeat=repeat + 1, state="finished" if done else "queued",
                durability=durability if done else "",
            )  # fmt: skip
    return experiment


def test_it_says_what_to_expect_before_anything_has_run(client, settings):
    settings.FIRST_RUN = True
    html = page(client, "/")
    assert "The first benchmark starts by itself" in html
    assert "Nothing measured or uploaded yet" in html
    assert 'hx-trigger="every 3s"' in html


def test_it_does_not_promise_a_first_run_that_is_switched_off(client, settings):
    settings.FIRST_RUN = False
    html = page(client, "/")
    assert "No benchmark has been run here yet" in html
    assert "starts by itself" not in html
    assert "hx-trigger" not in html


def test_what_is_still_to_come_is_counted_where_it_is_much(client, monkeypatch):
    for minor in range(5, 9):
        monkeypatch.setitem(ENGINES, f"MySQL {minor}.0", ([1, 1, 1], "power_loss"))
    demonstration(finished=1)
    html = page(client, "/")
    assert " and 4 more." in html.partition("Still to come: ")[2][:200]


def test_a_demonstration_that_has_ended_gives_way_to_other_results(client):
    demonstration()
    html = page(client, "/")
    assert html.index('id="demonstration"') < html.index("Recent runs")
    make_run("PostgreSQL 17", 100)
    html = page(client, "/")
    assert html.index("Recent runs") < html.index('id="demonstration"')


def test_one_that_goes_on_stays_on_top(client):
    demonstration(finished=4)
    make_run("PostgreSQL 17", 100)
    html = page(client, "/")
    assert html.index('id="demonstration"') < html.index("Recent runs")


def test_it_says_so_no_longer_once_something_was_measured(client, settings):
    settings.FIRST_RUN = False
    make_run("PostgreSQL 17", 100)
    html = page(client, "/")
    assert "No benchmark has been" not in html
    assert "PostgreSQL 17" in html


def test_it_shows_all_twelve_runs_with_every_repeat_as_a_dot(client):
    demonstration()

    html = page(client, "/")

    ranked = spec(html, "ranked")
    assert {bar["label"]: bar["median"] for bar in ranked["groups"]} == {
        "Apache Derby 10.17": 600, "SQLite 3.53": 420, "HSQLDB 2.7": 380,
    }  # fmt: skip
    assert all(sorted(bar["dots"]) == sorted(ENGINES[bar["label"]][0]) for bar in ranked["groups"])
    assert len(set(re.findall(r'data-run="([^"]+)"', html))) == 12
    assert "12 of 12 runs done" in html
    assert "demonstration, 5 s windows" in html
    for value in (410, 430, 420):
        assert f'data-value="{float(value)}"' in html


def test_it_shows_the_engine_that_does_not_wait_for_the_disk_apart(client):
    demonstration()
    html = page(client, "/")
    assert [bar["label"] for bar in spec(html, "apart")["groups"]] == ["H2 2.4"]
    assert not spec(html, "apart")["groups"][0]["ranked"]
    assert html.count("Not ranked: a crash may lose the last commits") >= 2


def colours(html: str) -> dict[str, int]:
    return {bar["label"]: bar["color"] for chart in ("ranked", "apart") for bar in spec(html, chart)["groups"]}


def test_it_keeps_an_engines_colour_while_the_order_changes(client):
    demonstration(finished=4)
    early = colours(page(client, "/"))
    Run.objects.all().delete()
    Experiment.objects.all().delete()
    demonstration()
    late = colours(page(client, "/"))
    assert early == late
    assert len(set(late.values())) == 4


def test_it_fills_up_by_polling_and_stops_when_all_have_ended(client):
    demonstration(finished=5)
    html = page(client, "/")
    seen = re.search(r'hx-get="/\?seen=(\w+)"', html)
    assert "5 of 12 runs done" in html

    assert client.get(f"/?seen={seen[1]}").status_code == 204
    Run.objects.filter(state="queued").update(state="finished")
    part = client.get(f"/?seen={seen[1]}").content.decode()

    assert part.lstrip().startswith('<section class="panel" id="demonstration"')
    assert "12 of 12 runs done" in part
    assert "hx-get" not in part


def test_it_lists_recent_runs_without_the_published_ones(client, article):
    make_run("SQLite 3.53", 411, provenance="uploaded")
    html = page(client, "/")
    recent = html[html.index("Recent runs") : html.index("Published results")]
    assert "SQLite 3.53" in recent
    assert "PostgreSQL 8.3" not in recent
    assert "28 values, 2 lost" in html


def test_it_does_not_draw_a_gap_for_what_is_still_to_come(client):
    demonstration(finished=2)
    html = page(client, "/")
    drawn = spec(html, "ranked")["groups"]
    assert [bar["label"] for bar in drawn] == ["Apache Derby 10.17", "SQLite 3.53"]
    assert "Still to come: HSQLDB 2.7 and H2 2.4." in html


def test_it_lists_what_was_measured_last_and_not_what_waits(client):
    demonstration(finished=2)
    recent = page(client, "/").split("Recent runs")[1].split("</table>")[0]
    assert "Finished" in recent
    assert "Queued" not in recent


def test_it_hides_deleted_runs(client):
    run = make_run("SQLite 3.53", 411)
    Run.objects.filter(id=run.id).update(deleted_at=run.created_at)
    assert str(run.id) not in page(client, "/")


def test_articles_stand_by_their_dates_as_in_their_list(client):
    """Was: on home in whatever order the database counted their runs."""
    for year in (2015, 2001, 2010):
        Publication.objects.create(slug=f"of-{year}", title_en=f"Of {year}", published_on=date(year, 1, 1))
    for address in ("/", "/publications/"):
        found = re.findall(r'<a href="/publications/of-(\d+)/">', page(client, address))
        assert found == ["2001", "2010", "2015"], address
