"""The jars we use: pinned coordinates with checksums, resolved by jgo, verified by us. A package that offers engines
has a list of its own, in its top folder.

jgo records checksums but does not check them (a changed jar passes), so `JarStore.files` compares every file with the
committed list after each resolve and before each start.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchagent.catalog import DBMSS
from benchagent.java.maven import maven_file_name, resolve
from benchagent.paths import draft
from benchagent.plugins import OURS

LOCK_NAME = "jars.lock.json"


class JarChecksumError(Exception):
    """A jar is not the one that was pinned."""


@dataclass(frozen=True)
class Jar:
    """`coordinate` is group:artifact:version."""

    coordinate: str
    sha256: str

    @property
    def file_name(self) -> str:
        return maven_file_name(self.coordinate)


@dataclass(frozen=True)
class EngineJars:
    """One version of an engine or of a JDBC driver: it has a class path of its own. `version` is that of the jars.

    `default`: fetched when the agent is set up; others when they are installed or first used.
    """

    dbms: str
    version: str
    default: bool
    jars: tuple[Jar, ...]
    driver: bool = False
    licence: str = ""
    why: str = ""

    @property
    def name(self) -> str:
        """As `engines install` takes it: "derby-10.6.2.1", for a driver "mysql-jdbc-5.1.49"."""
        return f"{self.dbms}-jdbc-{self.version}" if self.driver else f"{self.dbms}-{self.version}"


@cache
def _own_list() -> dict[str, Any]:
    lock: dict[str, Any] = json.loads(files("benchagent.java").joinpath(LOCK_NAME).read_text())
    return lock


@cache
def _lists() -> list[dict[str, Any]]:
    """Ours, then those of the packages that offer engines."""
    packages = dict.fromkeys((entry.module or entry.external).partition(".")[0] for entry in DBMSS.values())
    found = [files(package).joinpath(LOCK_NAME) for package in packages if package != OURS]
    return [_own_list(), *(json.loads(file.read_text()) for file in found if file.is_file())]


def tool_jars(name: str) -> tuple[Jar, ...]:
    """Jars of a tool of ours: `loadgen`, `compiler`, `junit`; `derbynet`, a server for tests."""
    return tuple(Jar(**jar) for jar in _own_list()["tools"][name])


def engine_groups() -> list[EngineJars]:
    return [
        EngineJars(**{**group, "jars": tuple(Jar(**jar) for jar in group["jars"])})
        for listed in _lists()
        for group in listed["engines"]
    ]


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class JarStore:
    """Jars below one folder; nothing is written anywhere else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self, jars: Sequence[Jar], progress: Callable[[str], None] = lambda text: None) -> list[Path]:
        """Paths of the jars, fetched where missing, every one verified.

        Raises `FetchError`, `JarChecksumError`.
        """
        paths = [self._path(jar) for jar in jars]
        for jar, path in zip(jars, paths, strict=True):
            if not path.exists():
                progress(f"fetching {jar.file_name}")
                with draft(path.parent) as folder:
                    fetched = resolve(jar.coordinate, folder)
                    # What is not right is not kept: an answer of a proxy, say, would be taken for the jar from then on.
                    _verify(fetched, jar, f"what came for {jar.file_name}")
                    fetched.replace(path)
            else:
                _verify(path, jar, str(path), "; delete it to fetch it anew")
        return paths

    def missing(self, jars: Sequence[Jar]) -> list[Jar]:
        return [jar for jar in jars if not self._path(jar).exists()]

    def adopt(self, jars: Sequence[Jar], source: Path) -> None:
        """Take those that are missing here out of a folder. Raises `JarChecksumError`."""
        for jar in jars:
            path, offered = self._path(jar), source / jar.file_name
            if path.exists() or not offered.exists():
                continue
            _verify(offered, jar, str(offered))
            with draft(path.parent) as folder:
                Path(shutil.copy(offered, folder)).replace(path)

    def _path(self, jar: Jar) -> Path:
        group, artifact, version = jar.coordinate.split(":")
        return self.folder / group.replace(".", "/") / artifact / version / jar.file_name


def _verify(path: Path, jar: Jar, what: str, remedy: str = "") -> None:
    """Raises `JarChecksumError`."""
    if (actual := sha256_of(path)) != jar.sha256:
        raise JarChecksumError(f"{what} has SHA-256 {actual}, the list has {jar.sha256}{remedy}")
