"""A server that only takes what an agent sends, in a process of its own: its CPU is not the agent's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchagent.fake_server import FakeServer

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def receiver() -> Iterator[str]:
    """Its address."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.receiving"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with child:  # closes its input, which ends it
        assert child.stdout is not None
        yield child.stdout.readline().strip()


def main() -> None:
    """Until its input ends."""
    server = FakeServer()
    print(server.url, flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
