"""A click on a chart of a comparison leads to what is behind it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.e2e.conftest import Site

pytestmark = pytest.mark.browser
BARS = "publication=tpcb-2010&workload=wl-tpcb&view=bars"
CURVE = "publication=firebird-terabyte-2015&view=curve"
FOCUSED_ROW = "() => document.activeElement.matches('tr[data-selected]') && document.activeElement.innerText"


def place(page: Any, dataset: int, index: int) -> Any:
    """Where an element of the first chart stands on the page, scrolled into view."""
    page.wait_for_function("() => document.querySelector('figure.chart canvas')?.benchsiteChart")
    canvas = page.locator("figure.chart canvas").first
    canvas.scroll_into_view_if_needed()
    return canvas.evaluate(
        """(canvas, [dataset, index]) => {
            const { x, y } = canvas.benchsiteChart.getDatasetMeta(dataset).data[index].tooltipPosition();
            return { x, y };
        }""",
        [dataset, index],
    )


def frames(page: Any) -> None:
    """Chart.js takes events in the next frame."""
    page.evaluate("() => new Promise(then => requestAnimationFrame(() => requestAnimationFrame(then)))")


def test_a_bar_leads_to_its_row_and_a_dot_to_its_run(site: Site, page):
    page.goto(f"{site.url}/compare/?{BARS}")
    canvas = page.locator("figure.chart canvas").first
    bar = place(page, 0, 1)
    canvas.hover(position={"x": bar["x"] - 40, "y": bar["y"] + 12})
    frames(page)
    assert canvas.evaluate("canvas => canvas.style.cursor") == "pointer"
    label = canvas.evaluate("canvas => canvas.benchsiteChart.data.labels[1]")
    canvas.click(position={"x": bar["x"] - 40, "y": bar["y"] + 12})
    assert page.wait_for_function(FOCUSED_ROW).json_value().startswith(label)
    assert page.locator("tr[data-selected]").bounding_box()["y"] < page.viewport_size["height"]

    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.getAttribute('href')")
    assert first.startswith("/runs/")
    dot, value = place(page, 1, 0), canvas.evaluate("canvas => canvas.benchsiteChart.data.datasets[1].data[0].x")
    canvas.click(position=dot)
    page.wait_for_url("**/runs/*/")
    assert site.run(page.url.rstrip("/").split("/")[-1])["metrics"]["tps"] == value


def test_a_point_of_a_curve_leads_to_its_row_and_what_is_dragged_or_empty_to_none(site: Site, page):
    page.goto(f"{site.url}/compare/?{CURVE}")
    canvas = page.locator("figure.chart canvas").first
    point = place(page, 0, 3)
    canvas.click(position={"x": point["x"] + 2, "y": point["y"] - 60})
    frames(page)
    assert page.locator("tr[data-selected]").count() == 0
    assert canvas.evaluate("canvas => canvas.style.cursor") == ""
    canvas.click(position=point)
    row = page.wait_for_function(FOCUSED_ROW).json_value()
    series, x = canvas.evaluate(
        "({ benchsiteChart: { data } }) => [data.datasets[0].label, data.datasets[0].data[3].x]"
    )
    assert series in row
    assert page.locator("tr[data-selected] [data-value]").first.get_attribute("data-value") == repr(float(x))
    assert page.locator("tr[data-selected] a").count() == 1


def test_a_finger_sees_the_numbers_first(site: Site, browser):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{site.url}/compare/?{BARS}")
    canvas = page.locator("figure.chart canvas").first
    bar = place(page, 0, 1)
    canvas.evaluate("canvas => canvas.addEventListener('click', () => { canvas.tapped = true; })")
    canvas.tap(position={"x": bar["x"] - 20, "y": bar["y"] + 12})
    page.wait_for_function("() => document.querySelector('figure.chart canvas').tapped")
    frames(page)
    assert canvas.evaluate("canvas => canvas.benchsiteChart.tooltip.opacity") == 1
    assert page.locator("tr[data-selected]").count() == 0
    canvas.tap(position={"x": bar["x"] - 20, "y": bar["y"] + 12})
    page.wait_for_function(FOCUSED_ROW)
    context.close()


def test_of_an_embedded_chart_a_run_opens_beside_it(site: Site, page):
    page.goto(f"{site.url}/embed/compare/?{BARS}")
    dot = place(page, 1, 0)
    with page.expect_popup() as opened:
        page.locator("figure.chart canvas").first.click(position=dot)
    opened.value.wait_for_url("**/runs/*/")
    assert "/embed/" in page.url


def test_a_line_over_time_leads_to_its_run(site: Site, page):
    told = {
        "schema_version": 1, "id": str(uuid4()), "workload": {"slug": "by-the-second", "name": "By the second"},
        "dbms": {"name": "H2", "version": "2.4"}, "hardware": {"name": "By the second"},
    }  # fmt: skip
    samples = {"metrics": {"tps": 120.0}, "series": [{"name": "tps", "values": [118.0, 121.0, 119.0, 122.0]}]}
    sent = site.send("POST", "/api/v1/results/", {**told, "repeats": [samples]})
    assert sent.status_code == 201, sent.text
    page.goto(f"{site.url}/compare/?workload=by-the-second&view=time")
    point = place(page, 0, 2)
    page.locator("figure.chart canvas").first.click(position=point)
    page.wait_for_url("**/runs/*/")
    assert site.run(page.url.rstrip("/").split("/")[-1])["metrics"]["tps"] == 120
