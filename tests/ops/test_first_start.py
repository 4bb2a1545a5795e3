"""The first start of a company's machine: only the system's store knows its authority, and its mirror is closed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchagent.java import JavaToolchain
from benchagent.java.jars import engine_groups, tool_jars

from tests.benchagent.company import Authority, Mirror
from tests.ops.conftest import NewSite
from tests.ops.site import Site, wait_until

pytestmark = pytest.mark.ops
WITHIN_S = 120.0


@pytest.fixture
def mirror(repository: Path, tmp_path: Path) -> Iterator[Mirror]:
    cache = Path(os.environ.get("BENCHSITE_TEST_CACHE") or repository / "var" / "test-cache")
    store = JavaToolchain(cache).store
    groups = [group.jars for group in engine_groups() if group.default]
    store.files([jar for jars in (tool_jars("loadgen"), tool_jars("compiler"), *groups) for jar in jars])
    made = Mirror(cache / "jars", Authority(tmp_path))
    yield made
    made.stop()


def runs(site: Site, experiment: str) -> list[dict[str, Any]]:
    status, body = site.get(f"/api/v1/runs/?experiment={experiment}&page_size=50")
    return json.loads(body)["results"] if status == 200 else []


def test_it_says_why_nothing_runs_goes_on_by_itself_and_begins_anew_after_a_failure(
    new_site: NewSite, mirror: Mirror, tmp_path: Path
):
    store = str(tmp_path / "authority.pem")
    site = new_site(FIRST_RUN="1", SSL_CERT_FILE=store, MIRROR_PASSWORD=mirror.password)
    mirror.settings(site.home)
    mirror.closed = True
    assert "fills up with the first runs" in site.up()
    why = f"repository ours ({mirror.url}) answers 503"
    assert wait_until(lambda: why in site.get("/")[1], WITHIN_S), site.get("/")[1]
    planned = wait_until(lambda: runs(site, "first-light"), WITHIN_S)
    assert {run["status"] for run in planned} == {"queued"}

    mirror.closed = False
    assert wait_until(lambda: [run for run in runs(site, "first-light") if run["status"] != "queued"], WITHIN_S)
    site.stop()
    assert mirror.password not in "".join(log.read_text() for log in (site.state / "logs").iterdir())

    with sqlite3.connect(site.state / "db.sqlite3") as database:
        database.execute("UPDATE runs_run SET state = 'failed', message = 'no space' WHERE demonstration")
    assert "the first experiment failed at the last start, it starts again" in site.up()
    assert len(wait_until(lambda: runs(site, "first-light-2"), WITHIN_S)) == 12
    site.stop()
