"""Which server, and the token for it: environment before file; the file is for its owner's eyes only."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from benchagent.ctl.output import UsageError
from benchagent.paths import write_private

CONFIG_VARIABLE = "BENCHCTL_CONFIG"
SERVER_VARIABLE = "BENCHCTL_SERVER"
TOKEN_VARIABLE = "BENCHCTL_TOKEN"  # a name


@dataclass(frozen=True)
class Login:
    server: str
    token: str


def config_path() -> Path:
    if given := os.environ.get(CONFIG_VARIABLE):
        return Path(given)
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "benchsite" / "benchctl.json"


def load() -> Login:
    """Raises UsageError where no server is known, or the file cannot be used."""
    server, token = os.environ.get(SERVER_VARIABLE, ""), os.environ.get(TOKEN_VARIABLE, "")
    if server:
        return Login(server, token)
    path = config_path()
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise UsageError(f"{path} can be read by others: chmod 600 it, or log in again")
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Login(str(kept["server"]), token or str(kept["token"]))
    except FileNotFoundError:
        words = f"no server is known: run `benchctl login --server URL`, or set {SERVER_VARIABLE} and {TOKEN_VARIABLE}"
        raise UsageError(words) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be read ({type(error).__name__}): log in again") from error


def save(login: Login) -> Path:
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, {"server": login.server, "token": login.token})
    return path
