"""A disk without room: a real one of a few megabytes under STATE. Nothing dies, reading goes on, words say why."""

from __future__ import annotations

import base64
import json
import os
import random
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import requests

from benchsite.supervisor import Program, Supervisor
from tests.ops.site import Site, wait_until

pytestmark = pytest.mark.ops
MB = 1_000_000
DISK_MB, RESERVE_MB = 80, 20


def mounted(folder: Path, size_bytes: int) -> None:
    """A file system of its own at `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0711", "benchsite-small", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"needs root that may mount: {done.stderr.strip()}")


def fill(folder: Path, *, leave_mb: float = 0) -> None:
    """A file that takes all room but `leave_mb`."""
    stat = os.statvfs(folder)
    size = stat.f_bavail * stat.f_frsize - int(leave_mb * MB)
    with (folder / "filler").open("ab", buffering=0) as file:
        try:
            while size > 0:
                size -= file.write(bytes(min(size, MB)))
        except OSError:
            assert leave_mb == 0


@pytest.fixture
def small(tmp_path) -> Iterator[Path]:
    mounted(tmp_path / "small", MB)
    yield tmp_path / "small"
    subprocess.run(["umount", str(tmp_path / "small")], check=False)


def test_the_supervisor_outlives_a_full_disk_and_starts_again_what_crashed(small):
    said: list[str] = []
    supervisor = Supervisor(small / "logs", small / "run", dict(os.environ), said.append)
    try:
        supervisor.start(Program("brief", [sys.executable, "-c", "import time; time.sleep(60)"], 1, 2.0))
        first, record = supervisor.children[0].process, small / "run" / "brief.pid"
        fill(small)
        first.kill()
        first.wait()

        def started_again() -> bool:
            supervisor.look_after()
            fill(small)  # what the old record has left
            child = supervisor.children[0]
            return child.runs and child.process is not first

        assert wait_until(started_again, 30)
        assert said == [f"brief ended (-9); starts again in 0.5 s; see {small}/logs/brief.log"]
        assert not record.exists() or record.read_text() == ""
        (small / "filler").unlink()
        supervisor.look_after()
        assert record.read_text().split()[0] == str(supervisor.children[0].process.pid)
    finally:
        supervisor.stop()


def document(size_bytes: int = 100) -> dict[str, Any]:
    """A result with a file of so many bytes that no packing makes smaller."""
    content = random.Random(5).randbytes(size_bytes)
    return {
        "schema_version": 1,
        "id": str(uuid.uuid4()),
        "workload": "tpcb",
        "dbms": {"name": "SQLite", "version": "3.50.1"},
        "hardware": {"name": "Small", "os": "Debian 12", "cpu_model": "Xeon", "ram_bytes": 17179869184},
        "config": [{"name": "synchronous", "value": "FULL"}],
        "repeats": [{"metrics": {"tps": 100}}],
        "artefacts": [{"name": "raw.bin", "base64": base64.b64encode(content).decode()}],
    }


class Client:
    def __init__(self, site: Site) -> None:
        token = site.run("token", "NAME=disk", "SCOPES=read,upload,schedule").stdout.strip()
        self.base = f"http://127.0.0.1:{site.port}"
        self.headers = {"Authorization": f"Bearer {token}"}

    def upload(self, size_bytes: int = 100) -> requests.Response:
        return self.post("/api/v1/results/", document(size_bytes))

    def post(self, path: str, body: Any) -> requests.Response:
        return requests.post(self.base + path, json=body, headers=self.headers, timeout=60)


@pytest.fixture(scope="module")
def site(new_site) -> Iterator[Site]:
    """Its STATE is small, but for the agent's part, which fetches jars."""
    site = new_site(DISK_RESERVE_MB=str(RESERVE_MB))
    mounted(site.state, DISK_MB * MB)
    try:
        (site.home / "agent").mkdir(mode=0o711)
        (site.state / "agent").symlink_to(site.home / "agent")
        site.up()
        yield site
    finally:
        site.stop()
        subprocess.run(["umount", str(site.state)], check=False)


@pytest.fixture(scope="module")
def client(site) -> Client:
    return Client(site)


def room(site: Site) -> None:
    (site.state / "filler").unlink(missing_ok=True)


def test_below_the_reserve_what_is_new_is_refused_and_everything_can_be_read(site, client):
    assert client.upload().status_code == 201
    fill(site.state, leave_mb=RESERVE_MB - 5)
    try:
        plan = {"workload": "tpcb", "engines": [{"dbms": "sqlite", "version": "3.50.1"}]}
        for answer in (client.upload(), client.post("/api/v1/experiments/", plan)):
            assert answer.status_code == 507
            assert f"{RESERVE_MB} MB are kept in reserve" in answer.json()["detail"]
            assert answer.headers["Retry-After"] == "60"
        for path in ("/", "/runs/", "/compare/?workload=tpcb", "/agents/", "/login/", "/publications/"):
            status, page = site.get(path)
            assert status == 200
            assert f"{RESERVE_MB} MB" in page
        assert json.loads(site.get("/api/v1/runs/?workload=tpcb")[1])["count"] == 1
        assert site.ready()[0] == 200
    finally:
        room(site)
    assert client.upload().status_code == 201
    assert "almost full" not in site.get("/")[1]


def test_a_file_that_does_not_fit_leaves_nothing_and_says_so(site, client):
    before = sorted((site.state / "artefacts").rglob("*.gz"))
    fill(site.state, leave_mb=RESERVE_MB + 2)
    try:
        answer = client.upload(12 * MB)  # its body takes 16 MB of the 22 that are free, until it is answered
        assert answer.status_code == 507, answer.text
        assert sorted((site.state / "artefacts").rglob("*.gz")) == before
        assert all(path.stat().st_size > 0 for path in before)
    finally:
        room(site)


def test_a_body_larger_than_the_disk_ends_with_its_connection_and_a_large_page_is_answered(site, client):
    fill(site.state, leave_mb=RESERVE_MB + 5)
    try:
        with pytest.raises(requests.ConnectionError):
            requests.post(f"{client.base}/api/v1/imports/", data=bytes(30 * MB), headers=client.headers, timeout=60)
        fill(site.state)
        schema = requests.get(f"{client.base}/api/schema/?format=json", timeout=60)
        assert len(schema.content) > 256 * 1024
    finally:
        room(site)


def test_on_a_full_disk_everything_crashes_and_comes_back_when_there_is_room(site, client):
    supervisor, names = site.supervisor, ("worker", "beat", "web", "agent")
    # The worker ends by itself when the broker says that it cannot write; what starts on a full disk has no record.
    assert wait_until(lambda: all((site.state / "run" / f"{name}.pid").exists() for name in names), 60)
    children, before = [site.child(name) for name in names], site.said.count("starts again in")
    fill(site.state)
    try:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        assert wait_until(lambda: site.said.count("starts again in") >= before + 4, 60), site.said
        assert wait_until(lambda: answers(site), 60)
        status, page = site.get("/runs/")
        assert status == 200, page[-6000:]
        # What was killed leaves a megabyte or so: its open files.
        assert re.search(r" \d MB are free", page), page[:3000]
        # What the agent says in every poll cannot be written.
        log = (site.state / "agent" / "spool.sqlite3").exists()
        assert log
        assert client.upload().status_code == 507
    finally:
        room(site)
    assert wait_until(lambda: site.ready()[0] == 200, 90, every_s=0.5), site.ready()
    assert client.upload().status_code == 201
    assert site.supervisor == supervisor
    assert site.make.poll() is None
    assert all(path.stat().st_size > 0 for path in (site.state / "artefacts").rglob("*.gz"))
    records = [(site.state / "run" / f"{name}.pid") for name in ("worker", "beat", "web", "agent", "broker")]
    assert wait_until(lambda: all(record.exists() and record.read_text() for record in records), 60)


def answers(site: Site) -> bool:
    try:
        return site.get("/healthz")[0] == 200
    except OSError:
        return False


def test_a_start_on_a_full_disk_ends_in_one_line(new_site):
    site = new_site()
    mounted(site.state, 30 * MB)
    try:
        fill(site.state)
        done = site.run("up")
        ours = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
        assert len(ours) == 1, done.stderr
        assert "full" in ours[0]
    finally:
        site.stop()
        subprocess.run(["umount", str(site.state)], check=False)
