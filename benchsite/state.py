"""Where everything that is written at run time lies: one directory, STATE."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

# Who logs in first: STATE/first-login.txt says with which password.
OPERATOR = "operator"
SOCKET_PATH_LIMIT = 100
PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")


class State:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / "db.sqlite3"
        self.artefacts = path / "artefacts"
        self.logs = path / "logs"
        self.agent = path / "agent"
        # The one-time code with which the local agent registers.
        self.code = self.agent / "code"
        # TMPDIR of everything that runs.
        self.tmp = path / "tmp"
        # Held by the one supervisor, whose process and address stand beside it, and a record of each of its children.
        self.lock_file = path / "up.lock"
        self.pid_file = path / "up.pid"
        self.url_file = path / "url"
        self.processes = path / "run"
        self.first_login = path / "first-login.txt"

    @classmethod
    def from_environment(cls, base_dir: Path) -> State:
        """STATE of the environment (relative to the working directory) or ./var beside manage.py; made if missing.

        Mode 0711: a service user may pass through to the data directory of a DBMS under test; secrets are 0600.
        """
        path = Path(os.environ.get("STATE") or base_dir / "var").absolute()
        path.mkdir(mode=0o711, parents=True, exist_ok=True)
        return cls(path)

    @property
    def broker_socket(self) -> Path:
        """Under STATE where that makes a short, plain path (it becomes part of a URL), else in a folder of its own.

        The other folder is the same for every process, whatever its TMPDIR.
        """
        socket = self.path / "broker" / "broker.sock"
        if len(str(socket)) < SOCKET_PATH_LIMIT and PLAIN_PATH.fullmatch(str(socket)):
            return socket
        name = hashlib.sha256(str(self.path).encode()).hexdigest()[:12]
        return Path("/tmp") / f"benchsite-{os.getuid()}-{name}" / "broker.sock"  # noqa: S108 (checked by its maker)

    def broker_url(self) -> str:
        """The embedded broker's address. A job under test may run as our user and open the socket, but it cannot read
        this file.
        """
        return f"redis+socket://:{self.secret('broker_password')}@{self.broker_socket}"

    def secret(self, name: str) -> str:
        """The secret in STATE/`name`, made on first use; the link makes the first of two starters win."""
        file = self.path / name
        if not file.exists():
            draft = self.path / f".{name}.{os.getpid()}"
            write_private(draft, secrets.token_urlsafe(50))
            try:
                os.link(draft, file)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return file.read_text().strip()


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file that only its owner reads (0600), also where it existed with another mode."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def read(path: Path) -> str:
    """A short file's text, or "unknown"."""
    with suppress(OSError):
        return path.read_text().strip()
    return "unknown"
