"""Published results in the browser, and what every page owes its reader."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY
from tests.e2e.conftest import Site
from tests.e2e.steps import chart_bars
from tests.whole import whole_but

pytestmark = pytest.mark.browser
SIX = "/compare/?publication=tpcb-2010&workload=wl-tpcb"
PAGES = [
    "/",
    "/runs/",
    "/compare/",
    "/agents/",
    "/schedule/",
    "/schedule/?workload=tpcc",
    "/schedule/article/tpcb-2010/",
    "/login/",
    "/publications/",
    "/publications/gbak-backup-2007/",
    "/publications/tpcb-2010/",
    "/publications/firebird-terabyte-2015/",
    "/publications/cubrid-mysql-ssd-2011/",
]


def bar_of(page, name: str) -> dict:
    """The bar of a system; DB2 with a commit group of its own is another cell."""
    return next(bar for bar in chart_bars(page) if name in bar["label"] and "group" not in bar["label"].lower())


def test_it_follows_a_deleted_repeat_and_its_return(site: Site, page):
    runs = site.get("/api/v1/runs/", publication="tpcb-2010", page_size=100)["results"]
    victim = next(run for run in runs if run["metrics"].get("tps") == 508 and "PostgreSQL" in run["dbms"]["name"])
    assert site.send("DELETE", f"/api/v1/runs/{victim['id']}/").status_code == 204
    page.goto(site.url + SIX)
    bar = bar_of(page, "PostgreSQL")
    assert (bar["median"], len(bar["dots"])) == (490, 4)
    assert "490" in page.locator("figure.chart + details table, table").first.text_content()
    environment = os.environ | {"STATE": str(site.state)}
    command = [sys.executable, "manage.py", "import_publication"]
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, capture_output=True)
    page.reload()
    bar = bar_of(page, "PostgreSQL")
    assert (bar["median"], len(bar["dots"])) == (508, 5)


# The others are opened without it by test_layout.py, which hears their troubles too.
HELD = ("/", "/schedule/", "/publications/firebird-terabyte-2015/")


@pytest.mark.parametrize("path", whole_but(HELD, PAGES))
def test_it_is_quiet_and_fits_a_phone_under_its_content_security_policy(site: Site, browser, path):
    """Opened in one theme on a phone, drawn anew on a wide screen and in the other theme there and on the phone."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: request.url.startswith((site.url, "data:")) or troubles.append(request.url))
    schemes = ("light", "dark") if PAGES.index(path) % 2 else ("dark", "light")
    for opens, width, scheme in ((True, 390, 0), (False, 1280, 0), (False, 1280, 1), (False, 390, 1)):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=schemes[scheme])
        if opens:
            page.goto(site.url + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, schemes[scheme]
        assert troubles == [], schemes[scheme]
    context.close()


def test_facts_are_read_beside_their_names_on_every_machine_and_form(site: Site, logged_in):
    """No column of facts is squeezed to letters, and no long fact widens the page."""
    machines = site.get("/api/v1/hardware/")
    assert machines
    for path in ("/imports/", "/agents/", *(f"/hardware/{machine['slug']}/" for machine in machines)):
        logged_in.goto(site.url + path)
        for width in (1280, 390):
            logged_in.set_viewport_size({"width": width, "height": 844})
            assert logged_in.evaluate("document.documentElement.scrollWidth") <= width, path
            values = logged_in.locator("dl.facts dd:visible").evaluate_all("all => all.map(value => value.offsetWidth)")
            assert min(values) >= 120, path


def test_a_comparison_changes_its_view_without_a_new_page_and_comes_back(site: Site, page):
    page.goto(f"{site.url}/compare/?publication=firebird-terabyte-2015")
    page.evaluate("window.same = true")
    page.get_by_role("link", name="Table", exact=True).click()
    page.wait_for_url("**view=table")
    assert page.locator("section.pivot td[data-value]").count() == 12
    page.get_by_label("x axis").select_option("factor:disk")
    page.wait_for_url("**x=factor%3Adisk**")
    assert page.evaluate("window.same")
    page.go_back()
    page.wait_for_url("**view=table")
    # The address is there at once, and then htmx loads the page anew: going on before would abort that.
    page.wait_for_function("!window.same")
    page.wait_for_load_state("networkidle")
    page.go_back()
    page.wait_for_function("document.querySelector('canvas')?.benchsiteChart")
    assert page.locator("[data-chart-tools] button:visible").count() == 2


@pytest.mark.parametrize("path", [SIX, "/publications/firebird-terabyte-2015/"])
def test_it_works_without_javascript_as_tables(site: Site, browser, path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url + path)
    assert page.locator("table:visible td").count() > 10
    context.close()
