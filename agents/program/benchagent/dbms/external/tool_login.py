"""What a tool of the engine needs to reach a server of others from the agent's own machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from benchagent.dbms.base import JobError
from benchagent.dbms.external.connections import ServerConnection

CONNECT_TIMEOUT_S = 30
ONE_HOST = re.compile(
    r"jdbc:\w+:(?://(?P<host>\[[^\]]+\]|[^:/?,()\[\]]*)(?::(?P<port>\d+))?(?=[/?]|\Z)/?)?"
    r"(?P<database>[^:/?,()]*)(?:\?(?P<options>.*))?\Z"
)


@dataclass(frozen=True)
class Address:
    """Parts of a JDBC URL, empty where it does not state them. `options`: their names in lower case."""

    host: str
    port: str
    database: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class ToolLogin:
    """`version`: what the server says of itself. `folder`: for logins, of the agent alone; gone with the job."""

    connection: ServerConnection
    version: str
    engines_dir: Path
    folder: Path

    def address(self) -> Address:
        """Raises `JobError` for an URL that a driver understands and a tool does not. It is not shown."""
        match = ONE_HOST.match(self.connection.url)
        if not match:
            words = "a backup needs a URL with one host, as jdbc:…://host:port/database"
            raise JobError(f"connection {self.connection.name}: {words}")
        options = {name.lower(): value for name, value in parse_qsl(match["options"] or "", keep_blank_values=True)}
        return Address((match["host"] or "").strip("[]"), match["port"] or "", unquote(match["database"]), options)

    def secret_file(self, name: str, lines: Mapping[str, str] | str) -> Path:
        """A file that nobody else can read: a text, or a line `name=value` each."""
        text = lines if isinstance(lines, str) else "".join(f"{key}={value}\n" for key, value in lines.items())
        self.folder.mkdir(mode=0o700, exist_ok=True)
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
        return path

    def forget(self) -> None:
        """Remove what `secret_file` has written."""
        shutil.rmtree(self.folder, ignore_errors=True)
