"""What the server asks of the machine itself, beside runs: engines installed, storages named and measured.

Each errand is a command of this program in a process of its own, one at a time, while the agent goes on asking for
work. Its log and its end travel with the polls, until the server no longer hands it out.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Literal

from benchagent.engines import catalogue, read_record
from benchagent.errors import JobError
from benchagent.java import JavaToolchain
from benchagent.link.client import Client, ClientError
from benchagent.machine import process
from benchagent.machine.storages import DEFAULT_STORAGE, Storages
from benchagent.paths import AgentDirs
from benchagent.protocol import ErrandOrder, ErrandReport
from benchagent.redaction import redact_text

log = logging.getLogger(__name__)
MOST_LOG_BYTES = 20_000
UPDATE = "update"


def may_update() -> bool:
    """Whether this program lies in an environment of its own, as the line of the server installs it."""
    return sys.prefix != sys.base_prefix and Path(__file__).is_relative_to(sys.prefix)


def possible(dirs: AgentDirs, toolchain: JavaToolchain, storages: Storages) -> dict[str, list[str]]:
    """Commands that the server may ask for, with the names that each takes; none listed: any."""
    known = [*catalogue(), *(group.name for group in toolchain.engine_groups() if not group.default)]
    here = [path.name for path in dirs.engines.glob("[!.]*") if path.is_file() or read_record(path)]
    try:
        named = [storage.name for storage in storages.listed()]
    except JobError:
        named = []
    return {
        **({UPDATE: []} if may_update() else {}),
        "engines install": [name for name in known if name not in here],
        "engines remove": sorted(here),
        "storage add": [],
        "storage remove": [name for name in named if name != DEFAULT_STORAGE],
        "storage measure": named,
    }


class Errands:
    """At most one at a time. `report` is None while there is none whose end the server does not know."""

    def __init__(self, dirs: AgentDirs, client: Client) -> None:
        self._dirs, self._client = dirs, client
        self._order: ErrandOrder | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] = tempfile.TemporaryFile(dir=dirs.tmp)  # noqa: SIM115 for as long as the agent
        self._problem = ""

    @property
    def is_updated(self) -> bool:
        """This program was replaced on the disk: it has to begin anew."""
        updated = self._order is not None and self._order["command"] == UPDATE
        return updated and self._process is not None and self._process.poll() == 0

    @property
    def is_busy(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def begin(self, order: ErrandOrder, allowed: Mapping[str, list[str]]) -> None:
        """The server names an errand until it has heard of its end: one that is known goes on."""
        if self._order is not None and self._order["id"] == order["id"]:
            return
        self.stop()
        self._order, self._problem = order, ""
        self._output.seek(0)
        self._output.truncate()
        command, words = order["command"], order["words"]
        if command not in allowed:
            self._problem = f"this agent does not do {command!r}"
            return
        log.info("errand: %s %s", command, " ".join(words))
        program = [sys.executable, "-m", "benchagent", *command.split(), "--state", str(self._dirs.root), "--", *words]
        try:
            if command == UPDATE:
                wheel = self._dirs.tmp / Path(words[0]).name
                wheel.write_bytes(self._client.wheel(wheel.name))
                program[-len(words)] = str(wheel)
            self._process = process.spawn(program, stdout=self._output, stderr=subprocess.STDOUT)
        except (process.ProcessFailed, ClientError, OSError, IndexError) as error:
            self._problem = str(error)

    def report(self) -> ErrandReport | None:
        if self._order is None:
            return None
        self._output.seek(0)
        text = self._output.read().decode("utf-8", "replace") + self._problem
        status = None if self._process is None else self._process.poll()
        ended: Literal["done", "failed"] = "done" if status == 0 else "failed"
        state = "running" if self._process and status is None else ended
        return {"id": self._order["id"], "state": state, "log": redact_text(text)[-MOST_LOG_BYTES:]}

    def forget(self) -> None:
        """The server has heard of its end."""
        self._order = self._process = None

    def stop(self) -> None:
        """What it was at begins anew when the server names it again."""
        if self._process is not None:
            process.stop(self._process)
        self.forget()
