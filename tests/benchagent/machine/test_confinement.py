from __future__ import annotations

import errno
import os
import socket
import subprocess
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from benchagent.machine import landlock, launch
from benchagent.machine.confinement import DEVICES, INSTALLED, KERNEL
from benchagent.machine.landlock import Ruleset

pytestmark = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock that suffices")


class Cell:
    """A job's folder beside a secret, and a shell that may reach nothing but the first."""

    def __init__(self, folder: Path) -> None:
        self.job, self.secret = folder / "job", folder / "connections.json"
        self.job.mkdir()
        self.secret.write_text("a password")
        self.rules = Ruleset(readable=[*INSTALLED, *KERNEL], writable=[self.job, *DEVICES])

    def says(self, script: str) -> str:
        command = ["/bin/sh", "-c", script]
        confine = partial(launch.confine, self.rules.number)
        done = subprocess.run(command, cwd=self.job, preexec_fn=confine, capture_output=True, text=True, check=False)
        return f"{done.stdout}{done.stderr}".strip()


@pytest.fixture
def cell(tmp_path: Path):
    made = Cell(tmp_path)
    yield made
    made.rules.close()


@pytest.mark.parametrize(
    "attempt",
    [
        "cat ../connections.json",
        "ln -s ../connections.json link && cat link",
        "ln ../connections.json link && cat link",
        "cd .. && cat connections.json",
        "sh -c 'sh -c \"cat ../connections.json\"'",
        "echo x > ../connections.json",
        "echo x > ../new",
        "rm ../connections.json",
        "mv ../connections.json .",
        "ls ..",
        f"tr '\\0' ' ' < /proc/{os.getpid()}/environ",
        f"cat /proc/{os.getpid()}/root{{secret}}",
        f"kill -0 {os.getpid()}",
        "cat /root/.bashrc",
        "touch /tmp/here",
        "touch /usr/here",
    ],
)
def test_what_is_beside_a_job_is_out_of_its_reach(cell: Cell, attempt: str):
    said = cell.says(attempt.replace("{secret}", str(cell.secret)))
    assert any(words in said for words in ("ermission denied", "not permitted", "cannot create", "cross-device")), said
    assert "a password" not in said
    assert cell.secret.read_text() == "a password"


def test_a_job_does_in_its_own_folders_what_it_likes(cell: Cell):
    moves = "mkdir a b && echo kept > a/x && mv a/x b/y && ln -s y b/z && ln b/y b/w && rm b/w && cat b/z && rm -r a"
    assert cell.says(moves) == "kept"
    assert cell.says("mkfifo pipe && echo gone > /dev/null && head -c 1 /dev/urandom | wc -c") == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to lose")
def test_root_loses_its_capabilities(cell: Cell):
    assert set(cell.says("grep ^CapEff /proc/self/status").partition(":")[2].strip()) == {"0"}


def refused(rules: Ruleset, try_it: Callable[[], object]) -> int:
    """The number of the error, 0 for none, in a process of its own."""
    pid = os.fork()
    if pid == 0:
        try:
            launch.confine(rules.number)
            try_it()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 255)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.skipif(landlock.version() < landlock.NETWORK_SINCE, reason="this kernel's Landlock knows no ports")
def test_a_job_reaches_by_tcp_its_own_servers_and_nobody_else():
    with socket.create_server(("127.0.0.1", 0)) as own, socket.create_server(("127.0.0.1", 0)) as other:
        ours, theirs = own.getsockname(), other.getsockname()
        with closing(Ruleset(readable=[], writable=[], ports=[ours[1]])) as rules:
            assert refused(rules, lambda: socket.create_connection(ours, 5)) == 0
            assert refused(rules, lambda: socket.create_connection(theirs, 5)) == errno.EACCES
            assert refused(rules, lambda: socket.create_server(("127.0.0.1", 0))) == errno.EACCES
            own.close()
            assert refused(rules, lambda: socket.create_server(ours)) == 0
