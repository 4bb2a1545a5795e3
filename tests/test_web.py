"""The threads of a web worker beside each other."""

from __future__ import annotations

import os
import socket
import sys
from types import SimpleNamespace

from django.db import connections
from django.urls import clear_url_caches, get_resolver

from benchsite import gunicorn_conf
from benchsite.web import WebWorker


def test_a_thread_that_computes_gives_way_sooner_than_python_has_it(monkeypatch):
    told: list[float] = []
    monkeypatch.setattr(sys, "setswitchinterval", told.append)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        worker = WebWorker.__new__(WebWorker)
        worker.map, worker.alive, worker.ppid, worker.wsgi = {}, False, os.getppid(), print
        worker.sockets, worker.cfg = [SimpleNamespace(sock=listener)], SimpleNamespace(threads=1, graceful_timeout=0)
        worker.run()
    assert told == [0.0005]


def test_every_page_is_loaded_before_the_first_request(monkeypatch):
    """In the process that the others are forked from: each would take half a second for it, while requests wait."""
    monkeypatch.setattr("benchsite.backup.finish", print)
    monkeypatch.setattr("benchsite.schema.end_on_other_tables", print)
    clear_url_caches()
    gunicorn_conf.on_starting(None)
    assert get_resolver()._populated


def test_its_connections_wait_5_s_for_the_write_lock_of_sqlite(monkeypatch):
    """Those of other processes wait longer: nobody sits before them."""
    options = connections.settings["default"]["OPTIONS"]
    assert options["timeout"] == 20
    monkeypatch.setitem(options, "timeout", 20)
    monkeypatch.setattr(gunicorn_conf, "die_with_parent", print)
    gunicorn_conf.post_fork(SimpleNamespace(pid=1), None)
    assert connections.create_connection("default").get_connection_params()["timeout"] == 5
