"""A private, throw-away Benchsite for benchmarks and fuzzing: as one web process, or in this process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests
from benchagent.dbms.private_server import free_port

ROOT = Path(__file__).resolve().parent.parent
# Pages name static files; nothing is collected here.
PLAIN = {"STATICFILES_BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}


def environment(state: str, database_url: str = "") -> dict[str, str]:
    """Without an address of a database: SQLite below `state`."""
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    database = {"DATABASE_URL": database_url} if database_url else {}
    return {**inherited, "STATE": state, "LOG_LEVEL": "ERROR", "FIRST_RUN": "0", **PLAIN, **database}


def manage(env: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


@contextmanager
def web(env: dict[str, str], *options: str) -> Iterator[tuple[str, int]]:
    """One gunicorn worker with these options; its address, and the process that has started the worker."""
    command = [sys.executable, "-m", "gunicorn", "benchsite.wsgi", "--workers=1", "--log-level=warning"]
    address = f"127.0.0.1:{free_port()}"
    master = subprocess.Popen([*command, f"--bind={address}", *options], cwd=ROOT, env=env)
    base = f"http://{address}"
    try:
        for _ in range(200):
            try:
                requests.get(f"{base}/api/v1/runs/", timeout=10).raise_for_status()
                break
            except requests.RequestException:
                time.sleep(0.1)
        yield base, master.pid
    finally:
        master.terminate()
        master.wait(timeout=30)


def set_up_here(state: str, database_url: str = "") -> None:
    """Django in this process, for its test client, on an empty database."""
    os.environ.pop("DATABASE_URL", None)
    os.environ |= environment(state, database_url) | {
        "ALLOWED_HOSTS": "testserver",
        "DJANGO_SETTINGS_MODULE": "benchsite.settings",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
