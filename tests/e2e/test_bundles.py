"""An experiment leaves one Benchsite as a file, comes to another, and the agent there runs it again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.conftest import REPOSITORY
from tests.e2e.conftest import Site, log_in, running, wait_for
from tests.e2e.steps import ended

pytestmark = pytest.mark.browser
SWEEP = {"scale_factor": [1], "terminals": [1, 2], "warm_up_s": [0], "duration_s": [1]}


def benchctl(site: Site, *arguments: object) -> str:
    environment = os.environ | {"BENCHCTL_SERVER": site.url, "BENCHCTL_TOKEN": site.token}
    command = [Path(sys.executable).with_name("benchctl"), *map(str, arguments)]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def offered(site: Site) -> str:
    """The version of SQLite that the agent of this site has told of."""

    def ask() -> str:
        told = re.search(
            r'name="engines" value="sqlite:([^"]+)"', requests.get(f"{site.url}/schedule/", timeout=60).text
        )
        return told[1] if told else ""

    return str(wait_for("the agent offers SQLite", ask, timeout_s=60))


def measured(site: Site, slug: str) -> dict[int, Any]:
    """Its runs, ended, by their terminals."""
    runs = [ended(site, run["id"]) for run in site.experiment_runs(slug)]
    assert {run["status"] for run in runs} == {"finished"}, [run["message"] for run in runs]
    return {run["factors"]["terminals"]: run for run in runs}


def test_an_experiment_is_taken_to_another_site_and_run_again_there(site: Site, prepared: Path, tmp_path, page: Any):
    engine = {"dbms": "sqlite", "version": offered(site)}
    plan = {"workload": "tpcb", "engines": [engine], "factors": SWEEP, "repeats": 1, "name": "Two levels"}
    slug = site.send("POST", "/api/v1/experiments/", plan).json()["slug"]
    here = measured(site, slug)
    benchctl(site, "export", slug, tmp_path / "it.zip")
    with running(prepared) as other:
        address = benchctl(other, "import-bundle", tmp_path / "it.zip", "--visibility", "public")
        brought = measured(other, address.rstrip("/").rsplit("/", 1)[-1])
        assert {cell: run["metrics"] for cell, run in brought.items()} == {
            cell: run["metrics"] for cell, run in here.items()
        }
        offered(other)
        log_in(other, page)
        page.goto(address)
        page.get_by_role("link", name="Run again").click()
        page.locator("button[name=action][value=start]").click()
        page.wait_for_url("**/experiments/two-levels-2/")
        again = measured(other, "two-levels-2")
        assert again.keys() == here.keys()
        assert {run["provenance"] for run in again.values()} == {"measured"}
        page.goto(f"{other.url}/compare/?experiment=two-levels&set=experiment%3Dtwo-levels-2")
        assert "Throughput of SQLite: 4 groups, 4 runs" in page.locator(".kicker").inner_text()
