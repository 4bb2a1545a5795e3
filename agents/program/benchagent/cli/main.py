"""The command `benchagent`."""

from __future__ import annotations

import argparse
import fcntl
import json
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import truststore

from benchagent import __version__
from benchagent.arguments import ArgumentParser
from benchagent.cli import connections, doctor, engines, observe, storage, update
from benchagent.cli.commands import command, complain, print_line
from benchagent.java import JavaToolchain
from benchagent.job.worker import Stop, Worker
from benchagent.link.client import InsecureUrl
from benchagent.machine.devices import hardware_facts
from benchagent.paths import AgentDirs, agent_dirs

STATE_VARIABLE = "BENCHAGENT_STATE"
EXIT_STOPPED, EXIT_USAGE, EXIT_REFUSED, EXIT_LOCKED = 0, 2, 3, 4
LOCK_WAIT_S = 10.0
STOP_PATIENCE_S = 3.5


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    truststore.inject_into_ssl()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(message)s")
    state = getattr(options, "state", None) or os.environ.get(STATE_VARIABLE)
    if not state:
        complain(f"say with --state DIR (or {STATE_VARIABLE}) where the agent keeps its files")
        return EXIT_USAGE
    dirs = agent_dirs(state).create()
    os.environ["TMPDIR"] = tempfile.tempdir = str(dirs.tmp)
    status: int = options.command(options, dirs)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(prog="benchagent", description="Runs database benchmarks for a Benchsite server.")
    parser.add_argument("--version", action="version", version=__version__)
    common = ArgumentParser(add_help=False)
    # No default here: that of an inner command would replace what was given before it.
    words = f"folder below which everything is written (default: ${STATE_VARIABLE})"
    common.add_argument("--state", default=argparse.SUPPRESS, metavar="DIR", help=words)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", parents=[common], help="work for a server until stopped")
    run.add_argument("--server", required=True, metavar="URL", help="https://… (http only to this machine)")
    words = "http also to another machine, within a network that nobody listens to, as that of containers on one host"
    run.add_argument("--plain-http", action="store_true", help=words)
    words = "file with the authority that signed the server's certificate, where the system does not know it"
    run.add_argument("--ca", type=Path, metavar="FILE", help=words)
    run.add_argument("--name", default=socket.gethostname(), help="shown on the agents page (default: the host name)")
    run.add_argument("--code-file", type=Path, metavar="FILE", help="one-time code that approves this agent")
    words = (
        "what SIGTERM does to a running job: it is given up (the default), or finished first; a second one gives it up"
    )
    run.add_argument("--on-stop", choices=("give-up", "finish"), default="give-up", help=words)
    run.set_defaults(command=_run)

    for part in (engines, doctor, storage, connections, observe, update):
        part.add_parser(commands, common)
    prepare = commands.add_parser("prepare", parents=[common], help="fetch jars and compile the load generator now")
    prepare.set_defaults(command=command(_prepare))
    facts = commands.add_parser("facts", parents=[common], help="print the hardware profile as JSON")
    facts.set_defaults(command=command(_facts))
    return parser


# Commands


def _run(options: argparse.Namespace, dirs: AgentDirs) -> int:
    with _only_one(dirs.lock) as alone:
        if not alone:
            complain(f"another agent is running with {dirs.root}")
            return EXIT_LOCKED
        given = {name: getattr(options, name) for name in ("server", "name", "code_file", "plain_http", "ca")}
        try:
            worker = Worker(dirs, JavaToolchain(dirs.cache), **given)
            status = _until_signal(worker, finish_first=options.on_stop == "finish")
            if worker.is_updated:
                os.execv(sys.executable, [sys.executable, "-m", "benchagent", *sys.argv[1:]])  # noqa: S606 no shell is meant
            return status
        except InsecureUrl as error:
            complain(str(error))
            return EXIT_USAGE


def _prepare(_options: argparse.Namespace, dirs: AgentDirs) -> None:
    toolchain = JavaToolchain(dirs.cache)
    installed = {marker.name for marker in dirs.engines.iterdir()}
    groups = [group for group in toolchain.engine_groups() if group.default or group.name in installed]
    toolchain.prepare(groups, print_line)


def _facts(_options: argparse.Namespace, dirs: AgentDirs) -> None:
    print(json.dumps(hardware_facts(dirs.root), indent=1, ensure_ascii=False))


# Around


@contextmanager
def _only_one(lock: Path) -> Iterator[bool]:
    """One agent per state folder; an earlier one that is just ending is waited for."""
    with lock.open("a") as file:
        deadline = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() > deadline:
                    yield False
                    return
                time.sleep(0.2)
            else:
                yield True
                return


def _until_signal(worker: Worker, *, finish_first: bool = False) -> int:
    """Run the worker in a thread of its own, so that a signal handler never meets its locks."""
    stop_asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: stop_asked.append(number))
    running = ThreadPoolExecutor(1, "worker").submit(worker.run)
    deadline = float("inf")
    while not running.done():
        wait([running], 0.1)
        if stop_asked and finish_first:
            finish_first = False
            stop_asked.pop(0)
            worker.finish()
        elif stop_asked and deadline == float("inf"):
            deadline = time.monotonic() + STOP_PATIENCE_S
            worker.stop()
        if time.monotonic() > deadline:
            # Deep in a download: the children die with this process, the next start reports the job as lost.
            logging.warning("not ended in %.0f s, leaving at once", STOP_PATIENCE_S)
            os._exit(EXIT_STOPPED)
    try:
        running.result()
    except Stop as refusal:
        complain(str(refusal))
        return EXIT_REFUSED
    return EXIT_STOPPED
