"""The threads of a web worker beside each other."""

from __future__ import annotations

import os
import socket
import sys
from types import SimpleNamespace

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
