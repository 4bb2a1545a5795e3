"""Where the agent keeps what: everything lies below one folder (`--state`)."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Generic, Protocol, TypeVar

from benchagent.errors import JobError

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


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Item = TypeVar("Item", bound=_Named)


class NamedFile(ABC, Generic[Item]):
    """A private file of what the operator has named here, read each time: the command line may have changed it.

    `kind`: what an item is called, with its article. `key`: what all are called in the file. `error`: of a broken file,
    of an item that is missing or cannot be added. `is_secret`: nobody else may read it, and errors show none of it.
    """

    kind: str
    key: str
    error: type[JobError]
    is_secret = False

    def __init__(self, file: Path) -> None:
        self.file = file

    @abstractmethod
    def item(self, entry: Mapping[str, Any]) -> Item:
        """An item as `entry` has written it, checked. Raises `error`, `TypeError`, `KeyError`."""

    def entry(self, item: Item) -> dict[str, Any]:
        return asdict(item)  # type: ignore[call-overload, no-any-return]

    def listed(self) -> list[Item]:
        try:
            if self.is_secret and (mode := stat.S_IMODE(self.file.stat().st_mode)) & 0o077:
                raise self.error(f"{self.file} has mode {mode:04o}: it holds passwords and has to have 0600")
            content = json.loads(self.file.read_text(encoding="utf-8"))
            return [self.item(entry) for entry in content[self.key]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            words, cause = (type(error).__name__, None) if self.is_secret else (error, error)
            raise self.error(f"{self.file} cannot be read ({words}): correct or remove it") from cause

    def get(self, name: str) -> Item:
        for item in self.listed():
            if item.name == name:
                return item
        raise self.error(f"this machine has no {self.kind.split()[1]} {name!r}")

    def add(self, item: Item) -> None:
        listed = self.listed()
        if any(other.name == item.name for other in listed):
            raise self.error(f"there is {self.kind} {item.name!r} already")
        self.save([*listed, item])

    def remove(self, name: str) -> None:
        self.get(name)
        self.save([item for item in self.listed() if item.name != name])

    def save(self, items: Sequence[Item]) -> None:
        """Checks them all first."""
        checked = [self.item(self.entry(item)) for item in items]
        write_private(self.file, {self.key: [self.entry(item) for item in checked]})


@contextmanager
def draft(folder: Path) -> Iterator[Path]:
    """A folder beside what is made in it, so that a process beside us never sees half of it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".draft-") as made:
        yield Path(made)


def without_links(path: str, flags: int) -> int:
    """Opener for `open` of files that a job's processes may have replaced: the agent may be root, and they are not.

    Through a symbolic link, on the way too, nothing is read and nothing changed. Raises `OSError`.
    """
    handle = os.open(path, flags & ~os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    real = Path(f"/proc/self/fd/{handle}").readlink() if sys.platform == "linux" else Path(path).resolve()
    if real != Path(path).absolute() or not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path} is reached through a link, or no file")
    if flags & os.O_TRUNC:
        os.ftruncate(handle, 0)
    return handle


def text_of(path: Path, errors: str = "strict") -> str:
    """The text of a file that a job's processes may have replaced. Raises `OSError`."""
    with open(path, encoding="utf-8", errors=errors, opener=without_links) as file:
        return file.read()


def straight(folder: Path) -> Path:
    """The folder, for the agent to change what is in it. Raises `OSError` where a link leads there."""
    if folder.resolve() != folder.absolute():
        raise OSError(f"{folder} is reached through a link")
    return folder


def end_of(file: IO[bytes], limit: int) -> str:
    """The last bytes of an open file as text."""
    file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
    return file.read().decode(errors="replace")
