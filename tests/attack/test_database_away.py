"""A database that is locked, or not there: everybody is told so and when to ask again; nobody sees an error page."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.attack.conftest import Site, log_in
from tests.conftest import REPOSITORY
from tests.ops.site import free_port
from tests.runs.builders import document

pytestmark = pytest.mark.attack

RESULTS = "/api/v1/results/"
# A request waits 5 s for SQLite's write lock, a few times where it waits for a thread; `benchctl` asks again.
LET_GO_AFTER_S = 32
# More than there are threads for what writes.
SENDERS = 12


@contextmanager
def locked(site: Site) -> Iterator[sqlite3.Connection]:
    """Somebody holds the write lock."""
    holder = sqlite3.connect(site.state / "db.sqlite3", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield holder
    finally:
        holder.close()


def test_a_held_write_lock_makes_no_error_page_and_loses_nothing(site: Site, tries: Callable[[int], None], tmp_path):
    """An upload and a login are told when to ask again; `benchctl` asks again by itself; pages are read meanwhile."""
    file = tmp_path / "result.json"
    file.write_text(json.dumps(document(id="0d8d9a52-5b44-4a50-9d2f-6f7f3f6f4c01")))
    environment = os.environ | {"BENCHCTL_SERVER": site.url, "BENCHCTL_TOKEN": site.token}
    body = document(id="0d8d9a52-5b44-4a50-9d2f-6f7f3f6f4c02")
    with locked(site) as holder, ThreadPoolExecutor(SENDERS + 2) as pool:
        let_go = threading.Timer(LET_GO_AFTER_S, holder.rollback)
        let_go.start()
        sending = subprocess.Popen(
            [str(Path(sys.executable).with_name("benchctl")), "upload", str(file)],
            env=environment,
            stderr=subprocess.PIPE,
        )
        upload = pool.submit(site.send, "POST", RESULTS, body)
        page = pool.submit(log_in, site, requests.Session())
        others = [pool.submit(site.send, "POST", RESULTS, document(id=str(uuid.uuid4()))) for _ in range(SENDERS)]
        time.sleep(2)
        assert requests.get(f"{site.url}/runs/", timeout=10).status_code == 200
        refused, told = upload.result(), page.result()
        said = sending.communicate(timeout=120)[1].decode()
        let_go.join()
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert "locked" not in refused.text and "write lock" in refused.json()["detail"]
    assert (told.status_code, told.headers["Retry-After"]) == (503, "5")
    assert "<h1>Not available just now</h1>" in told.text and "write lock" in told.text
    assert (sending.returncode, "again in 5 s" in said) == (0, True), said
    assert site.send("POST", RESULTS, body).status_code == 201
    assert {other.result().status_code for other in others} <= {201, 503}
    tries(4 + SENDERS)


ASK_WITHOUT_SERVER = """
import os, django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False, headers={"authorization": "Bearer bs_x"})
paths = ("/", "/runs/", "/api/v1/runs/", "/api/v1/experiments/", "/login/")
answers = [client.get(path) for path in paths[:-1]]
answers.append(client.post("/login/", {"username": "a", "password": "b"}))
answers.append(client.post("/api/agent/v1/poll/", {"protocol": 1}, content_type="application/json"))
for answer in answers:
    kind = answer.headers["Content-Type"].partition(";")[0]
    print(answer.status_code, answer.headers.get("Retry-After"), kind, "does not answer" in answer.content.decode())
"""


def test_a_server_that_is_not_there_makes_no_error_page(tries: Callable[[int], None], tmp_path):
    """PostgreSQL's own refusal of a connection."""
    url = f"postgres://nobody:secret@127.0.0.1:{free_port()}/nothing"
    environment = os.environ | {
        "DATABASE_URL": url, "STATE": str(tmp_path), "DJANGO_SETTINGS_MODULE": "benchsite.settings",
        "ALLOWED_HOSTS": "testserver", "STATICFILES_BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", ASK_WITHOUT_SERVER], cwd=REPOSITORY, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    answers = done.stdout.splitlines()
    assert len(answers) == 6, done.stderr
    assert set(answers) <= {"503 5 text/html True", "503 5 application/json True"}, (answers, done.stderr)
    tries(len(answers))
