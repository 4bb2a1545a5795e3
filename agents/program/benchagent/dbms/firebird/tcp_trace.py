"""Whether a tool went over TCP: from strace's lines, or from the connections that its processes were seen with.

A trace is a list of lines of either kind; `seen` gives those of the second, to be collected while the tool runs.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchagent.machine import process

STRACE = "strace"
# Line of a look at a process. The first may come before it has connected, the last when it has gone.
LOOK = "looked at"
LOOKS_ENOUGH = 3
TCP_LINE = re.compile(r"connect\(.*AF_INET6?,.*port=htons\((\d+)\).*?\"([^\"]+)\"|^tcp (\S+):(\d+)$")


def seen(pid: int) -> list[str]:
    """TCP connections of a process and its children now, one line each: ``tcp HOST:PORT`` of the other end.

    Before them a line `LOOK`; empty when nobody may see them.
    """
    targets: list[str] = []
    looked = False
    for member in process.family(pid):
        with contextlib.suppress(psutil.Error):
            connections = member.net_connections(kind="tcp")
            looked = True
            targets += [f"tcp {one.raddr.ip}:{one.raddr.port}" for one in connections if one.raddr]
    return [LOOK, *targets] if looked else []


def observed(trace: Sequence[str]) -> bool:
    """Whether a connection that is not in the trace was not there."""
    return trace.count(LOOK) >= LOOKS_ENOUGH or any(line != LOOK for line in trace)


def tcp_targets(trace: Sequence[str]) -> list[str]:
    """Whom the tool reached by TCP, each once, as host:port."""
    matches = [TCP_LINE.search(line) for line in trace]
    targets = [f"{m[2]}:{m[1]}" if m[1] else f"{m[3]}:{m[4]}" for m in matches if m]
    return list(dict.fromkeys(targets))


def traced(command: Sequence[str | Path], trace: Path) -> list[str | Path] | None:
    """The command under strace, which writes each connect() into `trace`; None where there is no strace."""
    strace = shutil.which(STRACE)
    return [strace, "-f", "-e", "trace=connect", "-o", trace, *command] if strace else None
