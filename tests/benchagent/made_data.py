"""Data directories of servers: what their own programs make is made once, and copied for all servers made alike.

So each way to make one is gone once in a process of tests.
"""

from __future__ import annotations

import re
import secrets
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchagent.dbms.mysql.discovery import INSTALLERS
from benchagent.dbms.postgresql import server as postgresql
from benchagent.machine.process import Children
from benchagent.machine.system import ServiceUser

# PostgreSQL keeps it (hashed) in the data directory.
PASSWORD = secrets.token_urlsafe(24)
DEFAULTS, REDO_APART = "--defaults-file=", "innodb_log_group_home_dir"
PLACES = re.compile(r"^(datadir|tmpdir|innodb_temp_tablespaces_dir)\s*=\s*(.*)$", re.MULTILINE)
# Settings that leave nothing in the files, or nothing that the next start does not make.
OF_RUNNING = re.compile(r"^(loose_\w+|innodb_(buffer_pool_size|doublewrite))\s*=.*\n", re.MULTILINE)
# MySQL's take up to some 200 MB; what comes first is made most often. The folder goes with the process.
MOST_KEPT = 10
_made: dict[tuple[ServiceUser | None, str], Path] = {}
_folder = tempfile.TemporaryDirectory(prefix="benchagent-made-data-")


def copy_data_directories(patch: pytest.MonkeyPatch) -> None:
    usual = Children.run

    def run(children: Children, argv: Sequence[str | Path], **more: Any) -> str:
        data, how = _made_by([str(part) for part in argv])
        key = (children.user, how)
        if data and key in _made:
            _copy(_made[key], data)
            return ""
        said = usual(children, argv, **more)
        if data and len(_made) < MOST_KEPT:
            _made[key] = Path(_folder.name) / str(len(_made))
            # Logs that are zeros still become holes: nothing to read, write and keep in memory for each copy.
            _copy(data, _made[key], "--sparse=always")
        return said

    patch.setattr(Children, "run", run)
    patch.setattr(postgresql, "secrets", SimpleNamespace(token_urlsafe=lambda size: PASSWORD))


def _copy(source: Path, target: Path, *options: str) -> None:
    subprocess.run(["cp", "-aT", *options, source, target], check=True)


def _made_by(argv: Sequence[str]) -> tuple[Path | None, str]:
    """The data directory that is made, and all that decides how; None where another program is run.

    And where a log lies apart: links and settings would lead to that of another server.
    """
    program = Path(argv[1] if argv[0] == "/bin/sh" else argv[0]).name
    if program == "initdb" and "-X" not in argv:
        data = Path(argv[argv.index("-D") + 1])
        return data, "\n".join(argv).replace(str(data.parent), "")
    if program in INSTALLERS or "--initialize-insecure" in argv:
        (defaults,) = (part.removeprefix(DEFAULTS) for part in argv if part.startswith(DEFAULTS))
        options = Path(defaults).read_text()
        if REDO_APART not in options:
            data = Path(dict(PLACES.findall(options))["datadir"].strip('"'))
            command = [part for part in argv if str(data) not in part and defaults not in part]
            return data, "\n".join([*command, OF_RUNNING.sub("", PLACES.sub("", options))])
    return None, ""
