"""Take the pictures of docs/images anew from a running site.

    .venv/bin/python scripts/pictures.py http://127.0.0.1:8020 TOKEN

The site is one of `make up`: it holds the published articles and its first experiment. TOKEN may upload: the results
of the tests' questions (tests/e2e/asked.py) are stored there.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import requests
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.asked import RESULTS  # noqa: E402

SIX = "/compare/?publication=tpcb-2010&workload=wl-tpcb"
FIREBIRD = "/compare/?publication=firebird-terabyte-2015&workload=wl-firebird-oltp&x=factor:size_gb"
FOUR, SIZES, STALL, VERSIONS = (
    f"/compare/?{urlencode({'label': label})}"
    for label in (
        "four systems over terminals", "PostgreSQL over sizes on two disks", "a night with a stall",
        "before and after the upgrade",
    )
)  # fmt: skip
CHART = ".parts"
# File -> address, and what of the page is shown; "" is all that a screen shows.
PICTURES = {
    "compare": (SIX, ""),
    "compare-bars": (SIX, CHART),
    "compare-curve": (FIREBIRD, CHART),
    "compare-heatmap": (f"{FOUR}&view=heatmap", CHART),
    "compare-table": (f"{SIZES}&view=table", CHART),
    "compare-tradeoff": (f"{FOUR}&view=tradeoff", CHART),
    "compare-time": (f"{STALL}&view=time", CHART),
    "compare-latency": ("/compare/?experiment=first-light&view=latency", CHART),
    "compare-levels": (SIZES, "#levels"),
    "compare-pairs": (f"{FOUR}&compared=dbms", "#matrix"),
    "run-diff": ("", "main"),
}
SCREEN: Any = {"width": 1000, "height": 720}


def main(url: str, token: str) -> None:
    bearer = {"Authorization": f"Bearer {token}"}
    stored = requests.post(f"{url}/api/v1/results/", json=RESULTS, headers=bearer, timeout=120)
    stored.raise_for_status()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SCREEN, color_scheme="light")
        for name, (address, part) in PICTURES.items():
            if address:
                page.goto(url + address)
            else:
                page.goto(url + VERSIONS)
                page.get_by_role("link", name="What differs between two runs").click()
            page.wait_for_load_state("networkidle")
            file = ROOT / "docs" / "images" / f"{name}.png"
            if part:
                page.locator(part).first.screenshot(path=file)
            else:
                page.screenshot(path=file)
            print(f"{file.name}: {file.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
