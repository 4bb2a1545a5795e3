"""Where pieces come from: a Maven repository, Python's package index, Debian's archive, or a folder brought along.

Each source goes through the ordinary client of its registry, so mirrors and proxies that the user has set are honoured.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from benchagent.engines import Piece, catalogue
from benchagent.java.jars import sha256_of
from benchagent.java.maven import FetchError, maven_file_name, resolve
from benchagent.machine.system import answer_of

Progress = Callable[[str], None]


class InstallError(Exception):
    """An engine cannot be installed, for a reason the user can act on."""


@dataclass(frozen=True)
class Fetched:
    """`sha256` was checked; `version` is that of a Debian package, else empty."""

    path: Path
    sha256: str
    version: str = ""


def batches(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """What is fetched together: neighbours that are Debian packages. Each start of apt may read all of its lists."""
    for kind, group in groupby(pieces, key=lambda piece: piece.kind):
        neighbours = list(group)
        yield from [neighbours] if kind == "debian" else ([piece] for piece in neighbours)


def fetch(batch: Sequence[Piece], folder: Path) -> list[Fetched]:
    """One of `batches` into `folder`, from the network. Raises `InstallError`."""
    return _fetch_debian(batch, folder) if batch[0].kind == "debian" else [_fetch(piece, folder) for piece in batch]


def _fetch(piece: Piece, folder: Path) -> Fetched:
    path = folder / piece.file
    if piece.kind == "wheel":
        # An older pip trusts its own list of authorities only, unless it is told to use the system's.
        options = ["--use-feature=truststore", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
        _run([sys.executable, "-m", "pip", "download", *options, piece.name], folder, piece.name)
        if not path.is_file():
            brought = ", ".join(sorted(other.name for other in folder.glob("*.whl"))) or "nothing"
            raise InstallError(
                f"pip brought {brought} for {piece.name}, expected {piece.file}: is this Linux on x86-64?"
            )
    else:
        try:
            path = resolve(piece.name, folder)
        except FetchError as error:
            raise InstallError(str(error)) from error
    return Fetched(path, checked(path, piece.sha256))


def take_piece(piece: Piece, source: Path) -> Fetched:
    """Out of a folder that was filled on another machine. Raises `InstallError`."""
    if piece.kind == "debian":
        return _take_debian(piece, source)
    path = source / file_name(piece)
    if not path.is_file():
        raise InstallError(f"{source} has no {path.name}")
    return Fetched(path, checked(path, piece.sha256))


def file_name(piece: Piece) -> str:
    return piece.file or maven_file_name(piece.name)


def checked(path: Path, *allowed: str) -> str:
    """The file's SHA-256. Raises `InstallError` when it is not one of those allowed."""
    actual = sha256_of(path)
    if actual not in allowed:
        raise InstallError(f"{path.name} has SHA-256 {actual}, expected {' or '.join(allowed) or 'nothing known'}")
    return actual


# Debian


def apt_update() -> None:
    """Fetch apt's package lists anew. Raises `InstallError`."""
    if os.geteuid() != 0:
        raise InstallError("--apt-update needs root: run `sudo apt-get update` yourself")
    _run(["apt-get", "update", "--quiet"], Path("/"), "apt's package lists")
    _index.cache_clear()


def _fetch_debian(pieces: Sequence[Piece], folder: Path) -> list[Fetched]:
    offered = {piece.name: _offered(piece.name) for piece in pieces}
    # Without this, apt as root complains that its own user cannot write here.
    command = ["apt-get", "download", "--quiet", "--option", "APT::Sandbox::User=root"]
    _run([*command, *(f"{name}={fields['Version']}" for name, fields in offered.items())], folder, ", ".join(offered))
    fetched = []
    for name, fields in offered.items():
        (path,) = folder.glob(f"{name}_*.deb")
        fetched.append(Fetched(path, checked(path, fields["SHA256"]), fields["Version"]))
    return fetched


def _take_debian(piece: Piece, source: Path) -> Fetched:
    """The newest that is there and that the list or this machine's apt knows."""
    packages = sorted(source.glob(f"{piece.name}_*.deb"), reverse=True)
    if not packages:
        raise InstallError(f"{source} has no {piece.name}_….deb")
    try:
        offered = _offered(piece.name)
    except InstallError:
        offered = {}
    allowed = {**piece.known, **({offered["Version"]: offered["SHA256"]} if offered else {})}
    actual = checked(packages[0], *allowed.values())
    return Fetched(packages[0], actual, next(version for version, sum_ in allowed.items() if sum_ == actual))


def _offered(package: str) -> Mapping[str, str]:
    """What apt's index states about the version it would fetch. Raises `InstallError`."""
    if not shutil.which("apt-get"):
        raise InstallError(f"{package} is a Debian package, and this machine has no apt-get")
    pieces = [piece for engine in catalogue().values() for piece in engine.pieces]
    packages = tuple(dict.fromkeys([*(piece.name for piece in pieces if piece.kind == "debian"), package]))
    fields = _index(shutil.which("apt-cache") or "apt-cache", packages).get(package, {})
    if "SHA256" in fields and "Version" in fields:
        return fields
    raise InstallError(
        f"apt's package lists do not offer {package}: run `apt-get update` as root (or add --apt-update); "
        "if they still do not, this engine needs Debian 12"
    )


@lru_cache(maxsize=4)
def _index(program: str, packages: tuple[str, ...]) -> Mapping[str, Mapping[str, str]]:
    """Fields by package. All are asked for at once: apt may read all its lists anew, about a second each time."""
    command = [program, "show", "--no-all-versions", *packages]
    answer = answer_of(command, timeout_s=60)
    by_package: dict[str, Mapping[str, str]] = {}
    for stanza in answer.stdout.split("\n\n"):
        lines = [line.partition(": ") for line in stanza.splitlines() if line[:1].isalpha()]
        fields = {name: value for name, _, value in lines}
        by_package.setdefault(fields.get("Package", ""), fields)
    return by_package


def _run(command: list[str], folder: Path, what: str) -> None:
    try:
        done = answer_of(command, timeout_s=None, cwd=folder, env={**os.environ, "LC_ALL": "C"})
    except FileNotFoundError as error:
        raise InstallError(f"{what} cannot be fetched: no program {command[0]}") from error
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise InstallError(f"{what} cannot be fetched: {' / '.join(words[-3:])}")
