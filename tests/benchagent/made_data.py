"""Data directories of servers: what their own programs make is made once, and copied for all servers made alike.

So each way to make one is gone once in all legs of one `make test`, else once in a process of tests.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchagent.dbms.mysql.discovery import INSTALLERS
from benchagent.dbms.postgresql import server as postgresql
from benchagent.machine.process import Children

# Goes with the run.
_folder = tempfile.TemporaryDirectory(prefix="benchagent-made-data-")
MADE = Path(os.environ.get("BENCHSITE_TEST_RUN") or _folder.name) / "made-data"
# PostgreSQL keeps it (hashed) in the data directory: the legs of a run have one.
PASSWORD = hashlib.sha256(str(MADE).encode()).hexdigest()[:32]
DEFAULTS, REDO_APART = "--defaults-file=", "innodb_log_group_home_dir"
PLACES = re.compile(r"^(datadir|tmpdir|innodb_temp_tablespaces_dir)\s*=\s*(.*)$", re.MULTILINE)
# Settings that leave nothing in the files, or nothing that the next start does not make.
OF_RUNNING = re.compile(
    r"^(loose_\w+|sync_binlog|innodb_(buffer_pool_size|doublewrite|flush_log_at_trx_commit))\s*=.*\n", re.MULTILINE
)
# MySQL's take up to some 200 MB; what comes first is made most often.
MOST_KEPT = 20


def copy_data_directories(patch: pytest.MonkeyPatch) -> None:
    usual = Children.run

    def run(children: Children, argv: Sequence[str | Path], **more: Any) -> str:
        data, how = _made_by([str(part) for part in argv])
        made = MADE / hashlib.sha256(repr((children.user, how)).encode()).hexdigest()[:32]
        if data and made.exists():
            _copy(made, data)
            return ""
        said = usual(children, argv, **more)
        if data:
            _keep(data, made)
        return said

    patch.setattr(Children, "run", run)
    patch.setattr(postgresql, "secrets", SimpleNamespace(token_urlsafe=lambda size: PASSWORD))


def _keep(data: Path, made: Path) -> None:
    """Under its name when it is whole, as another leg may look for it; what another has made meanwhile is the same."""
    MADE.mkdir(exist_ok=True)
    if len(list(MADE.iterdir())) < MOST_KEPT:
        draft = Path(tempfile.mkdtemp(dir=MADE.parent))
        # Logs that are zeros still become holes: nothing to read, write and keep in memory for each copy.
        _copy(data, draft / "data", "--sparse=always")
        with suppress(OSError):
            (draft / "data").rename(made)
        shutil.rmtree(draft)


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
