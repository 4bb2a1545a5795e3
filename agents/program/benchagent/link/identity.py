"""Who this agent is: made once by registering, kept in one file that only its owner can read."""

from __future__ import annotations

import json
import logging
import stat
from dataclasses import asdict, dataclass
from pathlib import Path

from benchagent.paths import write_private

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Identity:
    agent_id: str
    token: str
    server: str


class IdentityError(Exception):
    """The identity file is there but cannot be used."""


def load(path: Path) -> Identity | None:
    """None when the agent has not registered yet. Raises `IdentityError`."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Identity(content["agent_id"], content["token"], content["server"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IdentityError(f"{path} cannot be read ({error}); remove it to register anew") from error


def agent_id(path: Path) -> str:
    """Empty while the agent has not registered. Raises `IdentityError`."""
    identity = load(path)
    return identity.agent_id if identity else ""


def save(path: Path, identity: Identity) -> None:
    write_private(path, asdict(identity))


def one_time_code(path: Path | None) -> str | None:
    """The code with which the server approves this agent at once; None without a file."""
    if path is None or not path.is_file():
        return None
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        log.warning("%s can be read by others: it should have mode 0600", path)
    return path.read_text(encoding="utf-8").strip() or None
