"""One upload does not stop the others: bombs, files that take long, a worker killed while it reads."""

from __future__ import annotations

import gzip
import io
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
import requests

from benchmarks.bench_imports import pgbench_log, repeated
from tests.e2e.conftest import Site, wait_for

pytestmark = pytest.mark.attack
Tries = Callable[[int], None]
MB = 1024**2


def send(site: Site, *files: tuple[str, bytes]) -> requests.Response:
    headers = {"Authorization": f"Bearer {site.token}"}
    parts = [("file", file) for file in files]
    return requests.post(f"{site.url}/api/v1/imports/", files=parts, headers=headers, timeout=120)


def told(site: Site, sent: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = site.send("GET", f"/api/v1/imports/{sent['id']}/").json()
    return answer


def packed_zeros(megabytes: int) -> bytes:
    content = io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=1) as file:
        for _ in range(megabytes):
            file.write(bytes(MB))
    return content.getvalue()


def test_it_refuses_bombs_at_once(site: Site, tries: Tries) -> None:
    bomb = packed_zeros(100)
    shapes = {
        "one": [("a.gz", bomb)],
        "behind a member": [("a.gz", gzip.compress(b"tps") + bomb)],
        "in an archive": [("a.gz", gzip.compress(bomb))],
        "behind a log": [("a.gz", gzip.compress(pgbench_log(3000)) + bomb)],
        "together": [(f"{number}.gz", packed_zeros(60)) for number in range(3)],
    }
    for shape, files in shapes.items():
        answer = send(site, *files)
        assert answer.status_code == 400, shape
        assert answer.elapsed.total_seconds() < 5, shape
        tries(1)


def test_others_are_answered_while_large_files_are_read(site: Site, tries: Tries) -> None:
    sent = send(site, *((f"{number}.gz", gzip.compress(repeated(20, number))) for number in range(2)))
    assert (sent.status_code, sent.json()["state"]) == (202, "reading")
    refused, asked = 0, 0
    while told(site, sent.json())["state"] == "reading":
        asked += 1
        refused += site.send("POST", "/api/v1/hardware/", {"name": f"Box {asked}"}).status_code >= 500
        time.sleep(0.2)
    tries(asked)
    assert not refused


def test_a_worker_killed_while_it_reads_loses_and_doubles_nothing(site: Site, tries: Tries) -> None:
    sent = send(site, ("log.1", pgbench_log(500_000))).json()
    assert sent["state"] == "reading"
    (reader,) = wait_for("a reader", lambda: site.child_pids("read_import"), timeout_s=30, every_s=0.1)
    for worker in site.child_pids("celery -A benchsite worker"):
        os.kill(worker, signal.SIGKILL)
    tries(1)
    wait_for("no reader without its worker", lambda: reader not in site.child_pids("read_import"), timeout_s=10)
    wait_for("read by another worker", lambda: told(site, sent)["state"] != "reading", timeout_s=120)
    read = told(site, sent)
    assert (read["state"], len(read["files"]), len(read["items"])) == ("draft", 1, 1)


def test_a_draft_thrown_away_while_it_is_read_leaves_no_file(site: Site, tries: Tries) -> None:
    sent = send(site, ("log.2", pgbench_log(300_000))).json()
    wait_for("a reader", lambda: site.child_pids("read_import"), timeout_s=30, every_s=0.1)
    page = requests.Session()
    token = page.get(f"{site.url}/login/", timeout=60).cookies["csrftoken"]
    login = {"username": site.user, "password": site.password, "csrfmiddlewaretoken": token}
    page.post(f"{site.url}/login/", login, timeout=60)
    form = {"csrfmiddlewaretoken": page.cookies["csrftoken"]}
    page.post(f"{site.url}/imports/{sent['id']}/forget/", form, timeout=60)
    tries(1)
    assert site.send("GET", f"/api/v1/imports/{sent['id']}/").status_code == 404
    wait_for("no reader", lambda: not site.child_pids("read_import"), timeout_s=10)
    assert not (site.state / "artefacts" / "imports" / "waiting" / sent["id"]).exists()
