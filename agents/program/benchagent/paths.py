"""Where the agent keeps what: everything lies below one folder (`--state`)."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}\Z")


class AgentDirs:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.identity = root / "identity.json"
        self.spool = root / "spool.sqlite3"
        self.lock = root / "agent.lock"
        self.jobs = root / "jobs"
        self.cache = root / "cache"
        self.engines = root / "engines"
        self.tmp = root / "tmp"

    def create(self) -> AgentDirs:
        """Make the folders. Existing ones keep their mode: the agent never changes a folder it did not make."""
        for folder in (self.root, self.jobs, self.cache, self.engines, self.tmp):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        return self


def agent_dirs(state: str | Path) -> AgentDirs:
    return AgentDirs(Path(state).resolve())


def name_problem(name: str, kind: str) -> str:
    """Why a person cannot call something on this machine so; empty when it can be."""
    if NAME.match(name):
        return ""
    return f"{name!r} is no name for {kind}: up to 40 letters, digits, and . _ - after the first"


def write_private(path: Path, content: dict[str, Any]) -> None:
    """Write JSON readable by the owner only; the file is either the old or the new one, never half."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def end_of(path: Path, limit: int) -> str:
    """The last bytes of a file as text."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - limit))
        return file.read().decode(errors="replace")
