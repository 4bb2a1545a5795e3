"""Servers that come with the jars of an engine, as processes of the tests."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchagent.dbms.private_server import free_port
from benchagent.java import JavaToolchain

from tests.benchagent.small import QUICK_JVM

START_S = 60


@contextmanager
def running(
    toolchain: JavaToolchain, class_path: Sequence[Path], main: Sequence[str], folder: Path, *more: str
) -> Iterator[int]:
    """A server in `folder`, until it is left. `main` ends before the port, which is given back."""
    port = free_port()
    java = [str(toolchain.java().path), *QUICK_JVM, "-cp", os.pathsep.join(map(str, class_path))]
    command = [*java, *main, str(port), *more]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_S
        while not _answers(port):
            assert time.monotonic() < deadline
            assert server.poll() is None
            time.sleep(0.05)
        yield port
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
