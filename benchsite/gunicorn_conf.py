"""gunicorn's settings, alike for `make up` and the container; bind address and temporary folder are given there."""

from __future__ import annotations

import gc
from typing import Any

from benchsite.supervisor import die_with_parent

wsgi_app = "benchsite.wsgi:application"
worker_class = "benchsite.web.WebWorker"
workers = 2
# For requests that read, and as many for those that write (benchsite/web.py).
threads = 4
# For SQLite's write lock; then who sends is told to come again.
SQLITE_WAIT_S = 5
preload_app = True
timeout = 60
graceful_timeout = 3
# Its default place is a folder in HOME.
control_socket_disable = True


def on_starting(server: Any) -> None:
    """Before it listens. Django is there: the application was loaded before."""
    from django.conf import settings
    from django.urls import reverse

    from benchsite.backup import finish
    from benchsite.schema import end_on_other_tables

    finish(settings.STATE)
    end_on_other_tables()
    # Every page and reader, 0.6 s of processor time: else the first request of each process would load them, and all
    # that come meanwhile wait.
    reverse("home")
    keep_loaded()


def keep_loaded() -> None:
    """What was loaded is never looked through again for circles of garbage (how often that is done: __init__.py)."""
    gc.collect()
    gc.freeze()


def post_fork(server: Any, worker: Any) -> None:
    from django.db import connection, connections

    die_with_parent(server.pid)
    if connection.vendor == "sqlite":
        # What all connections of this process are made by.
        connections.settings["default"]["OPTIONS"]["timeout"] = SQLITE_WAIT_S
