"""One running Benchsite for all tests of this folder: supervisor, broker, web, worker, beat, agent, and a Chromium."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.conftest import REPOSITORY
from tests.ops.site import copy_prepared, free_port, naming, share_cache


@dataclass
class Site:
    """A running system. `url` has no trailing slash."""

    url: str
    state: Path
    token: str
    user: str
    password: str

    def get(self, path: str, **params: Any) -> Any:
        answer = requests.get(self.url + path, params=params, timeout=60)
        answer.raise_for_status()
        return answer.json()

    def send(self, method: str, path: str, body: Any = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return requests.request(method, self.url + path, json=body, headers=headers, timeout=60)

    def run(self, run_id: str) -> Any:
        return self.get(f"/api/v1/runs/{run_id}/")

    def experiment_runs(self, slug: str) -> list[Any]:
        found: list[Any] = self.get("/api/v1/runs/", experiment=slug, ordering="order_index")["results"]
        return found

    def child_pids(self, name: str) -> list[int]:
        """Processes of this STATE whose command line holds `name`."""
        return [pid for pid, line in naming(self.state).items() if name in line]


def wait_for(what: str, ask: Callable[[], Any], *, timeout_s: float, every_s: float = 0.5) -> Any:
    """Ask until the answer is true; fail naming what was awaited."""
    deadline = time.monotonic() + timeout_s
    answer = ask()
    while not answer:
        if time.monotonic() > deadline:
            pytest.fail(f"not within {timeout_s:g} s: {what}")
        time.sleep(every_s)
        answer = ask()
    return answer


def ready(url: str) -> bool:
    try:
        return requests.get(f"{url}/readyz", timeout=60).status_code == 200
    except requests.RequestException:
        return False


def first_login(state: Path) -> dict[str, str]:
    """STATE/first-login.txt: lines of `name: value`."""
    lines = (state / "first-login.txt").read_text().splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name.strip().lower(): value.strip() for name, value in pairs}


def issue_token(environment: dict[str, str]) -> str:
    command = [sys.executable, "manage.py", "token", "--name", "e2e", "--scopes", "read,upload,schedule"]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="session")
def site(prepared: Path) -> Iterator[Site]:
    with running(prepared) as site:
        yield site


@contextmanager
def running(prepared: Path) -> Iterator[Site]:
    # Not below pytest's own 0700 folder: PostgreSQL's service user must be able to pass through.
    root = Path(tempfile.mkdtemp(prefix="benchsite-e2e-"))
    root.chmod(0o711)
    state, port = root / "state", free_port()
    environment = os.environ | {"STATE": str(state), "PORT": str(port), "FIRST_RUN": "0"}
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        environment.pop(name, None)
    state.mkdir(mode=0o711)
    copy_prepared(prepared, state)
    share_cache(state)
    with (root / "up.log").open("wb") as log:
        supervisor = subprocess.Popen(
            [sys.executable, "manage.py", "up"], cwd=REPOSITORY, env=environment, stdout=log, stderr=log
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"ready; see {root}/up.log", lambda: ready(url), timeout_s=90)
        login = first_login(state)
        yield Site(url, state, issue_token(environment), login["user"], login["password"])
    finally:
        supervisor.send_signal(signal.SIGTERM)
        supervisor.wait(timeout=30)
    assert naming(state) == {}
    shutil.rmtree(root)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    return browser_type_launch_args | {
        "executable_path": shutil.which("chromium-headless-shell") or shutil.which("chromium"),
        "args": [*quiet, "--disable-component-update", "--disable-sync"],
    }


@pytest.fixture(scope="session")
def cookies(site: Site, browser: Any) -> Any:
    """Of the operator, who has logged in once."""
    context = browser.new_context()
    log_in(site, context.new_page())
    yield context.cookies()
    context.close()


@pytest.fixture
def logged_in(cookies: Any, page: Any) -> Any:
    """A browser page of the operator."""
    page.context.add_cookies(cookies)
    return page


def log_in(site: Site, page: Any) -> None:
    page.goto(f"{site.url}/login/")
    page.fill("input[name=username]", site.user)
    page.fill("input[name=password]", site.password)
    page.click("main button[type=submit]")
    page.wait_for_url(f"{site.url}/")
