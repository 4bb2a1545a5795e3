"""Every number of the four publication pages stands in the API's JSON, or a formula that gives it stands behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.e2e.conftest import Site
from tests.e2e.page_numbers import FORMULAS, SPECS, TEXTS, Pool, chunks, strange_specs, strangers, wrong_formulas

pytestmark = pytest.mark.browser
SLUGS = ("gbak-backup-2007", "tpcb-2010", "firebird-terabyte-2015", "cubrid-mysql-ssd-2011")


def troubles(page: Any, pool: Pool) -> list[str]:
    """Everything on the page behind which nothing stands."""
    formulas = page.evaluate(FORMULAS)
    computed = [float(one["exact"]) for one in formulas]
    return [
        *strangers(page.evaluate(TEXTS), pool),
        *wrong_formulas(formulas, pool),
        *strange_specs(page.evaluate(SPECS), pool, computed),
    ]


@pytest.fixture
def opened(site: Site, page):
    def open_(slug: str) -> tuple[Any, Pool]:
        page.goto(f"{site.url}/publications/{slug}/")
        page.wait_for_load_state("networkidle")
        return page, Pool.of(site.get(f"/api/v1/publications/{slug}/"))

    return open_


@pytest.mark.parametrize("slug", SLUGS)
def test_it_shows_no_number_that_nothing_stands_behind(opened, slug):
    page, pool = opened(slug)
    numbers = [chunk for one in page.evaluate(TEXTS) for chunk in chunks(one["text"])]
    assert len(numbers) > 250
    assert len(page.evaluate(FORMULAS)) > 30
    assert page.evaluate(SPECS)
    assert troubles(page, pool) == []


def test_neither_does_an_article_that_is_added_by_files_alone(site: Site, opened):
    command = [sys.executable, "manage.py", "import_publication", "docs/use/publication-example"]
    environment = os.environ | {"STATE": str(site.state)}
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, capture_output=True)
    page, pool = opened("buffer-size-2020")
    assert page.evaluate(SPECS)
    assert troubles(page, pool) == []


def test_it_finds_every_kind_of_invented_number(opened):
    page, pool = opened("firebird-terabyte-2015")
    page.evaluate(
        """() => document.querySelector("main").insertAdjacentHTML("beforeend", `
          <p id="invented">The gain was 37.91 %, on 4,321 pages, in 7:53 minutes, on 2019-02-03, with Firebird 9.7.</p>
          <p><data value="3.65166075" id="rounded">3.66</data></p>
          <p><data value="3.77" id="stored">3.77</data></p>
          <p><data value="12" data-exact="12" data-formula="5 + 5">12</data></p>
          <p><data value="91.73" data-exact="91.73" data-formula="91.23 + 0.5">91.73</data></p>
          <p hidden>88.88</p>
          <script type="application/json" id="drawn">{"points": [[9.04, 55.55]], "color": 7777}</script>`)"""
    )
    found = troubles(page, pool)
    for invented in ("37.91", "4,321", "7:53", "2019-02-03", "9.7", "3.66", "3.77", "55.55"):
        assert any(one.startswith((f"'{invented}'", invented)) for one in found), invented
    assert any("5 + 5 is 10" in one for one in found)
    assert any("91.23" in one and "not stored" in one for one in found)
    assert len(found) == 10


def test_a_changed_cell_of_a_table_is_found(opened):
    """A number that stands elsewhere in the data is still wrong in a cell that holds another one."""
    page, pool = opened("tpcb-2010")
    assert troubles(page, pool) == []
    page.evaluate(
        """() => { const cell = [...document.querySelectorAll("main data.number")].find(one => one.value === "508");
                   cell.textContent = "507"; }"""
    )
    assert len(strangers(page.evaluate(TEXTS), pool)) == 1


HINT = """one => { const style = getComputedStyle(one, "::after");
  return style.display === "none" || style.content === "none" ? "" : style.content; }"""


def test_a_number_says_where_it_comes_from_by_key_pointer_and_touch(site: Site, browser):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    # An address within what is folded opens it.
    page.goto(f"{site.url}/publications/firebird-terabyte-2015/#check-2.12")
    # Charts that are still drawn move the number away from below the pointer, and Escape meets none.
    page.wait_for_load_state("networkidle")
    computed = page.locator("#check-2\\.12 .number.computed").last
    stored = page.locator("#check-2\\.8 .number").first
    assert computed.evaluate(HINT) == ""
    stored.tap()
    assert "Printed as" in stored.evaluate(HINT)
    assert "1.7713GB" in stored.evaluate(HINT)
    page.keyboard.press("Escape")
    assert stored.evaluate(HINT) == ""
    computed.hover()
    assert "407.97 / 169.33" in computed.evaluate(HINT)
    page.keyboard.press("Escape")
    assert computed.evaluate(HINT) == ""
    page.mouse.move(0, 0)
    computed.hover()
    assert "407.97 / 169.33" in computed.evaluate(HINT)
    page.keyboard.press("Escape")
    stored.focus()
    assert "Printed as" in stored.evaluate(HINT)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
