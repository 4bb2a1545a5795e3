"""From the schedule form to numbers: real engines, real agent, real browser."""

from __future__ import annotations

import csv
import io
import os
import re
import signal
import sqlite3
import time

import pytest
import requests

from tests.e2e.conftest import Site, wait_for
from tests.e2e.steps import ENDED, as_number, chart_series, ended, schedule, table_numbers
from tests.whole import whole

pytestmark = pytest.mark.browser
SHORT = {"scale_factor": 1, "terminals": 2, "warm_up_s": 1, "duration_s": 2, "repeats": 1}


def spooled_seconds(site: Site, run_id: str) -> list[tuple[int, int, int]]:
    """(second, warm-up?, transactions) as the load generator printed them, from the agent's spool."""
    with sqlite3.connect(site.state / "agent" / "spool.sqlite3") as spool:
        return spool.execute("SELECT t, warm_up, n FROM seconds WHERE run_id = ? ORDER BY t", [run_id]).fetchall()


def series(run: dict, name: str) -> list[float | None]:
    return next(found["values"] for found in run["series"] if found["name"] == name)


def tps_so_far(run: dict) -> list[float | None]:
    return series(run, "tps") if any(found["name"] == "tps" for found in run["series"]) else []


def test_it_shows_the_same_numbers_in_chart_table_csv_api_and_spool(site: Site, logged_in):
    slug = schedule(logged_in, site, engines=["sqlite"], **SHORT | {"duration_s": 5})
    run = ended(site, site.experiment_runs(slug)[0]["id"])
    assert run["status"] == "finished", run["message"]
    seconds = spooled_seconds(site, run["id"])
    assert sum(n for _, warm_up, n in seconds if not warm_up) == run["metrics"]["transactions"]
    per_second = [float(n) for _, _, n in seconds]
    assert series(run, "tps") == per_second

    logged_in.goto(f"{site.url}/runs/{run['id']}/")
    drawn = next(
        points for label, points in chart_series(logged_in, "throughput").items() if "throughput" in label.lower()
    )
    assert [value for _, value in drawn] == per_second
    rows = table_numbers(logged_in, "figure.chart[data-chart=lines] ~ details table, figure.chart details table")
    assert [as_number(row[1]) for row in rows] == per_second
    answer = requests.get(f"{site.url}/runs/{run['id']}/series.csv", timeout=60)
    lines = [row for row in csv.DictReader(io.StringIO(answer.text)) if row["metric"] == "tps"]
    assert [float(row["value"]) for row in lines] == per_second


def test_what_was_opened_on_the_form_is_open_in_its_preview(site: Site, logged_in):
    logged_in.goto(f"{site.url}/schedule/")
    logged_in.locator("input[name=engines][value^='sqlite:']").first.check()
    for opened in ("described", "configuration-sqlite"):
        logged_in.locator(f"#{opened} > summary").click()
    with logged_in.expect_response("**/schedule/") as answer:
        logged_in.get_by_role("button", name="Preview").click()
    assert "3 runs" in answer.value.text()
    logged_in.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
    opened = logged_in.locator("form details[open]").evaluate_all("all => all.map(each => each.id)")
    assert {"described", "configuration-sqlite"} <= set(opened)
    assert logged_in.locator("#estimate strong").inner_text().startswith("3 runs")


def test_it_varies_a_condition_and_shows_what_the_dbms_counted(site: Site, logged_in):
    page = logged_in
    page.goto(f"{site.url}/schedule/")
    page.get_by_role("link", name="TPC-B profile").click()
    page.wait_for_url(re.compile(r"workload=tpcb"))  # what is filled in before the other form is there would be lost
    page.locator("#conditions summary").click()
    page.locator("input[name=cache_state][value=cold]").check()
    page.locator("input[name=engines][value^='sqlite:']").first.check()
    for name, value in SHORT.items():
        page.fill(f"input[name={name}]", str(value))
    page.locator("button[name=action][value=start]").click()
    page.wait_for_url(re.compile(r"/experiments/"))
    runs = site.experiment_runs(page.url.rstrip("/").split("/")[-1])
    done = {run["factors"]["cache_state"]: run for run in (ended(site, run["id"]) for run in runs)}
    assert {state: run["status"] for state, run in done.items()} == {"warm": "finished", "cold": "finished"}
    page.goto(f"{site.url}/runs/{done['cold']['id']}/")
    told = page.locator("#statistics").inner_text()
    assert "page cache" in told
    assert "checkpoint" in told
    assert "accounts" in told


def test_it_streams_seconds_that_stay_as_they_are(site: Site, logged_in):
    slug = schedule(logged_in, site, engines=["sqlite"], **SHORT | {"warm_up_s": 2, "duration_s": 28})
    run_id = site.experiment_runs(slug)[0]["id"]

    def ten_seconds_of_a_running_run() -> list[float | None]:
        run = site.run(run_id)
        assert run["status"] not in ENDED, "it ended before ten of its seconds were there"
        values = tps_so_far(run)
        return values if len(values) >= 10 else []

    early = wait_for("ten seconds through the API", ten_seconds_of_a_running_run, timeout_s=60)
    logged_in.goto(f"{site.url}/runs/{run_id}/")
    before = next(len(points) for label, points in chart_series(logged_in).items() if "throughput" in label.lower())
    wait_for(
        "the drawn line grows without a reload",
        lambda: next(len(p) for label, p in chart_series(logged_in).items() if "throughput" in label.lower()) > before,
        timeout_s=60,
    )
    late = series(ended(site, run_id), "tps")
    assert len(late) == 30
    assert late[: len(early)] == early


def test_it_cancels_a_postgresql_run_and_goes_on_with_the_next(site: Site, logged_in):
    slug = schedule(logged_in, site, engines=["postgresql", "sqlite"], **SHORT | {"duration_s": 600})
    first, second = site.experiment_runs(slug)
    assert first["dbms"]["slug"].startswith("postgresql")
    wait_for("it measures", lambda: site.run(first["id"])["status"] == "measuring", timeout_s=60)
    wait_for("three seconds", lambda: len(tps_so_far(site.run(first["id"]))) >= 3, timeout_s=60)
    logged_in.goto(f"{site.url}/runs/{first['id']}/")
    logged_in.on("dialog", lambda dialog: dialog.accept())
    logged_in.locator("main").get_by_role("button", name="Cancel").first.click()
    job_folder = f"agent/jobs/{first['id']}"
    wait_for("load generator and DBMS are gone", lambda: not site.child_pids(job_folder), timeout_s=60)
    run = ended(site, first["id"], timeout_s=60)
    assert run["status"] == "cancelled"
    assert 3 <= len(series(run, "tps")) < 300  # long before its window would have ended
    wait_for(
        "the next run starts", lambda: site.run(second["id"])["status"] not in ("queued", "assigned"), timeout_s=60
    )
    site.send("POST", f"/api/v1/runs/{second['id']}/cancel/")
    ended(site, second["id"], timeout_s=60)


def test_it_says_why_a_run_waits_while_the_worker_stands_still(site: Site, logged_in):
    workers = [pid for pid in site.child_pids("celery") if pid in site.child_pids(" worker")]
    assert workers
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    try:
        slug = schedule(logged_in, site, engines=["sqlite"], **SHORT)
        run_id = site.experiment_runs(slug)[0]["id"]
        time.sleep(9)
        assert site.run(run_id)["status"] == "queued"
        logged_in.goto(f"{site.url}/runs/{run_id}/")
        assert "worker" in logged_in.locator("main").inner_text().lower()
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGCONT)
    wait_for("it starts", lambda: site.run(run_id)["status"] != "queued", timeout_s=60)
    assert ended(site, run_id)["status"] == "finished"


@pytest.mark.parametrize(
    ("engine", "setting", "words"),
    [
        ("sqlite", "journal_mode = WAL\nsynchronous = NORMAL", "survives a crash of the DBMS, not of the machine"),
        *whole(
            ("hsqldb", "FILES WRITE DELAY = TRUE", "the last moments of commits may be lost"),
            ("postgresql", "synchronous_commit = off", "the last moments of commits may be lost"),
        ),
    ],
)
def test_it_shows_the_durability_class_of_the_settings_in_force(site: Site, logged_in, engine, setting, words):
    slug = schedule(logged_in, site, engines=[engine], settings={engine: setting}, **SHORT)
    run = ended(site, site.experiment_runs(slug)[0]["id"])
    assert run["status"] == "finished", run["message"]
    logged_in.goto(f"{site.url}/runs/{run['id']}/")
    assert words in logged_in.locator("main").inner_text()


def test_it_fails_a_run_whose_balances_do_not_add_up(site: Site, logged_in):
    slug = schedule(logged_in, site, engines=["sqlite"], **SHORT | {"duration_s": 20})
    run_id = site.experiment_runs(slug)[0]["id"]
    wait_for("it measures", lambda: site.run(run_id)["status"] == "measuring", timeout_s=60)
    database = next((site.state / "agent" / "jobs" / run_id).rglob("bench.db"))
    with sqlite3.connect(database, timeout=60) as behind_its_back:
        behind_its_back.execute("UPDATE accounts SET abalance = abalance + 1 WHERE aid = 7")
    run = ended(site, run_id)
    assert run["status"] == "failed"
    sums = dict(part.rsplit(" ", 1) for part in run["message"].split(": ")[-1].split(", ") if " " in part)
    assert int(sums["accounts"]) == int(sums["tellers"].rstrip(";,.")) + 1
    logged_in.goto(f"{site.url}/runs/{run_id}/")
    assert sums["accounts"] in logged_in.locator("main").inner_text()
