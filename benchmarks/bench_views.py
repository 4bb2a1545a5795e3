"""`make bench-views`: what a first view costs in Chromium: bytes that cross the network, and time to a drawn chart.

Starts a site with the four articles and uploads comparisons of 2, 20 and 200 runs. Each page is opened with an empty
cache, some times; shown are the bytes of all that it asked for, as they were sent (of the page itself beside it), and
the median time from the click to the moment at which its first chart is there.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import uuid
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import requests
from benchagent.dbms.private_server import free_port
from playwright.sync_api import Browser, sync_playwright

from benchmarks.bench_imports import SETUP
from benchsite import programs
from benchsite.state import State
from scripts.private import manage, running

SYSTEMS = (("PostgreSQL", "17.2"), ("MariaDB", "11.4.4"), ("Firebird", "5.0.1"), ("H2", "2.2.224"))
# Label -> systems, numbers of terminals, repeats.
COMPARISONS = {"2 runs": (2, 1, 1), "20 runs": (2, 5, 2), "200 runs": (4, 10, 5)}
PAGES = {
    "home": "/", "runs": "/runs/", "publications": "/publications/", "article": "/publications/firebird-terabyte-2015/",
    **{f"compare, {label}": f"/compare/?{urlencode({'label': label})}" for label in COMPARISONS},
    "heat map, 200 runs": f"/compare/?{urlencode({'label': '200 runs', 'view': 'heatmap'})}",
}  # fmt: skip
MOST_KB = 350
DRAWN = """() => [...document.querySelectorAll("canvas")].some((canvas) => {
  const chart = window.Chart?.getChart(canvas);
  return chart && chart.chartArea && chart.data.datasets.length;
}) && performance.now()"""


def results(label: str, generator: random.Random) -> list[dict[str, Any]]:
    systems, levels, repeats = COMPARISONS[label]
    batch = str(uuid.UUID(int=generator.getrandbits(128), version=4))
    return [
        {
            "schema_version": 1, "id": str(uuid.UUID(int=generator.getrandbits(128), version=4)), "batch": batch,
            "label": label, "workload": "tpcb", "dbms": {"name": name, "version": version},
            "hardware": {"name": "db-server"}, "durability": "power_loss", "factors": {"terminals": 2**level},
            "repeats": [
                {"metrics": {"tps": round(generator.gauss(900 * (level + 1), 20), 2), "latency_p99_ms": 9.5}}
                for _ in range(repeats)
            ],
        }
        for name, version in SYSTEMS[:systems]
        for level in range(levels)
    ]  # fmt: skip


def view(browser: Browser, address: str, *, has_chart: bool) -> tuple[int, int, float]:
    """Bytes of all answers, bytes of the page's own, and ms until a chart is drawn (0 without one)."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: Counter[str] = Counter()
    first: list[str] = []
    session.on("Network.requestWillBeSent", lambda event: first.append(event["requestId"]))
    session.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
    page.goto(address)
    drawn_ms = page.wait_for_function(DRAWN, polling="raf", timeout=60_000).json_value() if has_chart else 0.0
    page.wait_for_load_state("networkidle")
    context.close()
    return int(sum(sizes.values())), int(sizes[first[0]]), float(drawn_ms)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=5, help="that each page is opened")
    options = parser.parse_args()
    with ExitStack() as stack:
        state = State(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchsite-"))) / "state")
        state.path.mkdir()
        state.tmp.mkdir()
        address = programs.Address("127.0.0.1", free_port())
        environment = programs.environment(state, address) | {"LOG_LEVEL": "WARNING", "FIRST_RUN": "0"}
        for command in (("migrate", "--verbosity=0"), ("import_publication",), ("collectstatic", "--noinput")):
            manage(environment, *command)
        secret, _ = manage(environment, "shell", "--no-imports", "-c", SETUP).split()[-2:]
        stack.enter_context(running(environment, state, address))
        generator = random.Random(2026)
        for label in COMPARISONS:
            answer = requests.post(
                f"{address.local_url}/api/v1/results/", json=results(label, generator), timeout=120,
                headers={"Authorization": f"Bearer {secret}"},
            )  # fmt: skip
            answer.raise_for_status()
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        stack.callback(browser.close)
        print(f"{'page':<24}{'kB, all':>10}{'kB, page':>10}{'ms to a chart':>15}")
        for name, path in PAGES.items():
            has_chart = name.startswith(("compare", "article"))
            views = [view(browser, address.local_url + path, has_chart=has_chart) for _ in range(options.times)]
            whole, own = max(views)[0] / 1000, views[0][1] / 1000
            drawn = f"{statistics.median(ms for *_, ms in views):,.0f}" if has_chart else ""
            more = f"  above {MOST_KB}" if whole > MOST_KB else ""
            print(f"{name:<24}{whole:>10.0f}{own:>10.0f}{drawn:>15}{more}", flush=True)


if __name__ == "__main__":
    main()
