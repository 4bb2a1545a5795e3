"""Files dropped in the browser and sent by `benchctl`: what a preview shows is what is stored."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from benchagent.ctl.parts import MOST_BYTES, PART_BYTES
from playwright.sync_api import expect

from tests.e2e.conftest import Site, wait_for
from tests.e2e.steps import chart_bars

pytestmark = pytest.mark.browser
SECRET = "Tr0ub4dor&3"


def report_of(tps: float, transactions: int) -> str:
    return f"""+ PGPASSWORD={SECRET} pgbench -c 4 -j 2 -T 60 -M prepared bench
pgbench (16.4)
starting vacuum...end.
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: prepared
number of clients: 4
number of threads: 2
maximum number of tries: 1
duration: 60 s
number of transactions actually processed: {transactions}
number of failed transactions: 0 (0.000%)
latency average = {4000 / tps:.3f} ms
initial connection time = 8.213 ms
tps = {tps:.6f} (without initial connection time)
"""


@pytest.fixture
def reports(tmp_path: Path) -> list[str]:
    """Three repeats, and a file of no tool."""
    for number, tps in enumerate((800.0, 820.0, 810.0), 1):
        (tmp_path / f"repeat{number}.log").write_text(report_of(tps, round(tps * 60)))
    (tmp_path / "shopping.txt").write_text("milk, 2\nbread, 1 and a half\n")
    return sorted(str(path) for path in tmp_path.iterdir())


def benchctl(*arguments: str, config: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = shutil.which("benchctl", path=str(Path(sys.executable).parent))
    assert command is not None, "benchctl is installed beside the agent"
    variables = os.environ | {"BENCHCTL_CONFIG": str(config)} | environment
    return subprocess.run(
        [command, *arguments], capture_output=True, text=True, check=False, env=variables, timeout=120
    )


def test_it_stores_what_the_preview_shows(site: Site, logged_in, reports):
    page = logged_in
    page.goto(f"{site.url}/imports/")
    page.set_input_files("#id_file", reports)
    page.get_by_role("button", name="Read the files").click()
    page.wait_for_url("**/imports/*-*/")

    assert page.locator("[data-import-status=complete]").count() == 3
    assert page.locator("[data-import-status=not_understood]").count() == 1
    assert SECRET not in page.content()

    page.get_by_role("button", name="Store", exact=True).click()
    assert "on which machine" in page.locator("[role=alert]").inner_text()
    page.get_by_label("or a new machine").fill("File lab")
    page.get_by_role("button", name="Store", exact=True).click()
    page.get_by_role("link", name="Compare 3 runs").click()

    bar = chart_bars(page)[0]
    assert (bar["median"], sorted(bar["dots"])) == (810.0, [800.0, 810.0, 820.0])
    assert "PostgreSQL 16.4" in page.locator("main").inner_text()


def test_a_file_larger_than_a_request_goes_on_where_connection_and_page_ended(site: Site, logged_in, tmp_path):
    page, large = logged_in, tmp_path / "pgbench_log.1"
    large.write_bytes(b"0 1 1500 0 1760000000 000100\n" * 1_300_000)
    tried: list[int] = []

    def send(route):
        """The third part is cut off, and what comes after the fourth."""
        if route.request.method == "PATCH":
            tried.append(int(route.request.headers["upload-offset"]))
        route.abort("connectionreset") if len(tried) in (3, 5) else route.continue_()

    page.route("**/api/v1/parts/*/", send)

    def choose():
        page.goto(f"{site.url}/imports/")
        page.set_input_files("#id_file", str(large))
        page.get_by_role("button", name="Read the files").click()

    choose()
    wait_for("the second cut", lambda: page.evaluate("1") and len(tried) == 5, timeout_s=60, every_s=0.05)
    choose()
    page.wait_for_url("**/imports/*-*/")
    assert [offset // PART_BYTES for offset in tried] == [0, 1, 2, 2, 3, 3, 4]
    taken = site.send("GET", f"/api/v1/imports/{page.url.rstrip('/').rpartition('/')[2]}/").json()
    assert taken["progress"]["size_bytes"] == large.stat().st_size > MOST_BYTES
    page.get_by_role("button", name="Throw away").click()


def test_what_is_said_of_columns_once_is_remembered(site: Site, logged_in, tmp_path):
    """Guessed, confirmed, read; of the next table with these headings nothing is asked."""
    page, heading = logged_in, "system,db_version,rows_m,rate (req/s),extra\n"
    tables = {"first.csv": "h2,2.2,10,659.8,a\nderby,10.16,10,601.2,b\n", "second.csv": "h2,2.2,10,671.1,a\n"}
    for name, rows in tables.items():
        (tmp_path / name).write_text(heading + rows)

    def read(name):
        page.goto(f"{site.url}/imports/")
        page.set_input_files("#id_file", str(tmp_path / name))
        page.get_by_role("button", name="Read the files").click()
        page.wait_for_url("**/imports/*-*/")

    read("first.csv")
    asked = page.locator(".mapper tbody tr")
    roles = asked.locator("select[name$='-role']").evaluate_all("fields => fields.map(field => field.value)")
    assert roles == ["dbms", "dbms_version", "factor", "metric", "factor"]
    assert asked.nth(3).locator("input[name$='-unit']").input_value() == "requests/s"
    # Only what a column is asked of it is there to be said.
    assert not asked.nth(0).locator("input[name$='-name']").is_visible()
    assert asked.nth(4).locator("input[name$='-name']").is_visible()
    asked.nth(4).locator("select[name$='-role']").select_option("ignore")
    assert not asked.nth(4).locator("input[name$='-name']").is_visible()
    page.get_by_role("button", name="Read by these columns").click()
    expect(page.locator("[data-import-status=complete]")).to_have_count(2)

    read("second.csv")
    assert page.locator("[data-import-status=complete]").count() == 1
    assert "671.1" in page.get_by_role("region", name="Entries").inner_text()
    assert not page.get_by_role("button", name="Read by these columns").is_visible()
    page.get_by_text("Columns: as you said of a table with these headings").click()
    assert asked.nth(4).locator("select[name$='-role']").input_value() == "ignore"


def test_it_takes_dropped_files(site: Site, logged_in, reports):
    page = logged_in
    page.goto(f"{site.url}/imports/")
    data = page.evaluate_handle(
        """([name, text]) => {
            const carried = new DataTransfer();
            carried.items.add(new File([text], name));
            return carried;
        }""",
        ["dropped.log", Path(reports[0]).read_text()],
    )
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": data})
    page.wait_for_url("**/imports/*-*/")

    assert page.locator("[data-import-status=complete]").count() == 1


def test_it_inspects_without_server_or_account(reports, tmp_path):
    done = benchctl("inspect", *reports, "--json", config=tmp_path / "none", HTTP_PROXY="http://127.0.0.1:9")

    found = {Path(entry["file"]).name: entry for entry in json.loads(done.stdout)}
    first = found["repeat1.log"]
    assert (first["tool"], first["tool_version"], first["status"]) == ("pgbench", "16.4", "complete")
    assert {"name": "tps", "unit": "TPS", "value": 800.0} in [
        {key: metric[key] for key in ("name", "unit", "value")} for metric in first["metrics"]
    ]
    assert first["parameters"]["terminals"] == 4
    assert found["shopping.txt"]["status"] == "not_understood"
    assert SECRET not in done.stdout + done.stderr


def test_it_uploads_from_the_shell(site: Site, reports, tmp_path):
    config = tmp_path / "ctl"
    login = benchctl("login", "--server", site.url, "--token", "CTL_TOKEN", config=config, CTL_TOKEN=site.token)
    assert login.returncode == 0, login.stderr
    sent = benchctl("upload", *reports[:3], "--hardware", "Shell lab", "--json", config=config)
    assert sent.returncode == 0, sent.stderr
    again = benchctl("upload", *reports[:3], "--hardware", "Shell lab", "--json", config=config)

    runs = site.get("/api/v1/runs/", q="Shell lab")["results"]
    assert sorted(run["metrics"]["tps"] for run in runs) == [800.0, 810.0, 820.0]
    assert again.returncode == 0
    assert len(site.get("/api/v1/runs/", q="Shell lab")["results"]) == 3
    listed = benchctl("runs", "--json", "workload=tpcb", config=config)
    assert {run["id"] for run in runs} <= {run["id"] for run in json.loads(listed.stdout)}


def test_it_answers_a_wrong_file_field_with_its_name(site: Site):
    headers = {"Authorization": f"Bearer {site.token}"}
    answer = requests.post(f"{site.url}/api/v1/imports/", headers=headers, files={"other": b"x"}, timeout=60)

    assert answer.status_code == 400
    assert "file" in answer.json()
