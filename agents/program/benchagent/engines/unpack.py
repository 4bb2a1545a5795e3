"""Unpack archives into an engine's folder: nothing lands outside it, everyone may read it, no stranger owns it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO

from benchagent.engines.catalogue import Unpack
from benchagent.engines.sources import InstallError

ZIPS = (".jar", ".zip", ".whl")


def unpack(path: Path, step: Unpack, home: Path) -> None:
    """Raises `InstallError` for an archive that is broken or holds a name that leads out of the folder."""
    target = home / step.to
    target.mkdir(parents=True, exist_ok=True)
    try:
        if path.suffix in ZIPS and not step.archive:
            _unpack_zip(path, step, target)
        else:
            with _tar_stream(path, step) as stream, tarfile.open(fileobj=stream, mode="r|*") as tar:
                _unpack_tar(tar, step, target)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise InstallError(f"{path.name} cannot be unpacked: {error}") from error


def make_readable(home: Path, executable: Sequence[str] = ()) -> None:
    """Everyone may read; the programs named by patterns may be run."""
    for path in [home, *home.rglob("*")]:
        if path.is_symlink():
            continue
        runs = path.is_dir() or any(fnmatch(str(path.relative_to(home)), pattern) for pattern in executable)
        mode = stat.S_IMODE(path.stat().st_mode)
        path.chmod((mode | 0o644 | (0o111 if runs or mode & 0o100 else 0)) & 0o755)


def relocate(home: Path, constants: Mapping[str, str]) -> None:
    """Replace path constants in the programs and libraries, whole strings, by something shorter.

    Raises `InstallError` when one is found nowhere: the package is then built in another way than expected.
    """
    pending = set(constants)
    for path in home.rglob("*") if constants else ():
        if path.is_symlink() or not path.is_file() or not (old := path.read_bytes()).startswith(b"\x7fELF"):
            continue
        new = old
        for constant, value in constants.items():
            text, put = constant.encode(), value.encode() + b"\0"
            # What lies behind stays: a linker lets shorter constants share the end of longer ones.
            replaced = new.replace(b"\0" + text + b"\0", b"\0" + put + text[len(put) :] + b"\0")
            pending -= {constant} if replaced != new else set()
            new = replaced
        if new != old:
            path.write_bytes(new)
    if pending:
        raise InstallError(f"no program holds the path {', '.join(sorted(pending))}: another build than expected")


def _inner_path(name: str, step: Unpack) -> PurePosixPath | None:
    """Where a member goes below the target; None when it is not wanted."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts:
        raise InstallError(f"the archive holds the name {name!r}, which leads out of its folder")
    path = "/".join(parts)
    wanted = not step.only or any(fnmatch(path, pattern) for pattern in step.only)
    if not wanted or any(fnmatch(path, pattern) for pattern in step.skip) or len(parts) <= step.strip:
        return None
    return PurePosixPath(*parts[step.strip :])


def _unpack_zip(path: Path, step: Unpack, target: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            inner = _inner_path(info.filename, step)
            if inner is None or info.is_dir():
                continue
            file = target / inner
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(archive.open(info), file, info.external_attr >> 16)


@contextmanager
def _tar_stream(path: Path, step: Unpack) -> Iterator[IO[bytes]]:
    """The tar file: inside a zip, inside a Debian package, or as it is."""
    if step.archive:
        with zipfile.ZipFile(path) as outer, outer.open(step.archive) as stream:
            yield stream
    elif path.suffix == ".deb":
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            yield process.stdout
            while process.stdout.read(1 << 20):  # what tar has left unread: dpkg-deb would fail at a closed pipe
                pass
        if process.returncode:
            raise InstallError(f"dpkg-deb cannot read {path.name}")
    else:
        with path.open("rb") as stream:
            yield stream


def _unpack_tar(tar: tarfile.TarFile, step: Unpack, target: Path) -> None:
    for member in tar:
        inner = _inner_path(member.name, step)
        if inner is None or not (member.isfile() or member.issym() or member.islnk()):
            continue
        file = target / inner
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if member.issym():
            _link(file, member.linkname, target)
        elif member.islnk():
            origin = _inner_path(member.linkname, step)
            if origin is None or not (target / origin).is_file():
                raise InstallError(f"the archive's {member.name} is a link to {member.linkname}, which was left out")
            os.link(target / origin, file)
        elif source := tar.extractfile(member):
            _write(source, file, member.mode)


def _write(source: IO[bytes], file: Path, mode: int) -> None:
    with source, file.open("wb") as sink:
        shutil.copyfileobj(source, sink, 1 << 20)
    file.chmod(0o755 if mode & 0o100 else 0o644)


def _link(file: Path, aim: str, target: Path) -> None:
    """A symbolic link inside the folder; one that leads out of it is left out. A package's own root is `target`."""
    to = target / aim.lstrip("/") if aim.startswith("/") else file.parent / aim
    inside = Path(os.path.normpath(to))
    if inside.is_relative_to(target):
        file.symlink_to(os.path.relpath(inside, file.parent))
