"""What a person does in the browser, and what a test reads back from a page."""

from __future__ import annotations

import re
from typing import Any

from tests.e2e.conftest import Site, wait_for

ENDED = ("finished", "failed", "cancelled", "lost")


def schedule(
    page: Any, site: Site, *, engines: list[str], settings: dict[str, str] | None = None, **factors: int
) -> str:
    """Fill in the schedule form and start. `engines` are DBMS slugs. Returns the slug of the experiment."""
    page.goto(f"{site.url}/schedule/")
    for engine in engines:
        page.locator(f"input[name=engines][value^='{engine}:']").first.check()
    for name, value in factors.items():
        page.fill(f"input[name={name}]", str(value))
    for engine, text in (settings or {}).items():
        open_settings(page, engine)
        page.fill(f"textarea[name=settings_{engine}]", text)
    page.locator("button[name=action][value=start]").click()
    page.wait_for_url(re.compile(r"/experiments/"))
    return str(page.url.rstrip("/").split("/")[-1])


def open_settings(page: Any, engine: str) -> None:
    """The configuration may be folded away."""
    page.locator(f"textarea[name=settings_{engine}]").evaluate(
        "area => { const fold = area.closest('details'); if (fold) fold.open = true; }"
    )


def ended(site: Site, run_id: str, *, timeout_s: float = 90) -> Any:
    """The run as the API returns it once it has ended."""
    wait_for(f"run {run_id} ends", lambda: site.run(run_id)["status"] in ENDED, timeout_s=timeout_s)
    return site.run(run_id)


def chart_series(page: Any, label: str = "") -> dict[str, list[tuple[float, float | None]]]:
    """Label -> points of every line that Chart.js has drawn on this page, read out of its own objects; once one whose
    label has these words is there: charts are drawn one after the other.
    """
    page.wait_for_function(
        """label => [...document.querySelectorAll('figure.chart canvas')].some(canvas => canvas.benchsiteChart?.data
            .datasets.some(dataset => (dataset.label ?? '').toLowerCase().includes(label)))""",
        arg=label,
    )
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('figure.chart canvas')]
            .filter(canvas => canvas.benchsiteChart)
            .flatMap(canvas => canvas.benchsiteChart.data.datasets)
            .map(dataset => [dataset.label, dataset.data.map(point => [point.x, point.y])]))"""
    )


def chart_bars(page: Any) -> list[dict[str, Any]]:
    """The first bars chart of the page (bars lie): labels with the drawn value, the median and the drawn dots."""
    page.wait_for_function("() => document.querySelector('figure[data-chart=bars] canvas')?.benchsiteChart")
    return page.evaluate(
        """() => {
            const chart = document.querySelector('figure[data-chart=bars] canvas').benchsiteChart;
            const bars = chart.data.datasets.find(dataset => (dataset.type ?? chart.config.type).startsWith('bar'));
            const dots = chart.data.datasets.filter(dataset => dataset.type === 'scatter').flatMap(d => d.data);
            return chart.data.labels.map((label, index) => ({
                label: [].concat(label).join(' '),
                value: bars.data[index].x,
                median: JSON.parse(document.getElementById(
                    document.querySelector('figure[data-chart=bars]').dataset.source).textContent).groups[index].median,
                dots: dots.filter(dot => dot.group === index).map(dot => dot.x),
            }));
        }"""
    )


def table_numbers(page: Any, selector: str) -> list[list[str]]:
    """Cells of the first table that matches, row by row."""
    return (
        page.locator(selector)
        .first.locator("tbody tr")
        .evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent.trim()))")
    )


def as_number(text: str) -> float:
    return float(re.sub(r"[^\d.\-]", "", text.replace("−", "-")))
