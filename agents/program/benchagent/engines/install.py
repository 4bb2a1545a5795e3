"""Install and remove engines below STATE/engines: each is complete or not there, and two installs do not disturb.

What is unpacked lands nowhere outside an engine's folder; everyone may read it, no stranger owns it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO, Any

import psutil

from benchagent.engines import RECORD_NAME, Engine, InstalledEngine, Piece, Unpack, catalogue, read_record
from benchagent.engines.sources import Fetched, InstallError, Progress, batches, fetch, take_piece
from benchagent.machine.sampling import repeated
from benchagent.machine.system import answer_of

Source = Callable[[Sequence[Piece], Path], list[Fetched]]
RESERVE_BYTES = 256 << 20
DRAFT = ".draft-"
PROGRESS_S = 3.0
# Fields of an engine, as the list has them.
RECORDED = ("dbms", "licence", "note", "bin", "libraries", "layout", "environment", "drivers")
# Where a server's parts lie that somebody has built, by DBMS; the first whose server is there is it.
BUILT: Mapping[str, Mapping[str, str]] = {
    "postgresql": {"server": "bin/postgres", "initdb": "bin/initdb"},
    "mariadb": {
        "server": "bin/mariadbd", "basedir": ".", "share": "share", "plugins": "lib/plugin",
        "client_plugins": "lib/plugin", "install_db": "scripts/mariadb-install-db",
    },
    "mysql": {"server": "bin/mysqld", "share": "share"},
}  # fmt: skip


def install(engine: Engine, engines_dir: Path, progress: Progress, source: Path | None = None) -> InstalledEngine:
    """Fetch, check, unpack and record; `source` is a folder with the pieces, instead of the network.

    What is there with a record that is not complete is replaced. Raises `InstallError`; what was there before is then
    there unchanged.
    """
    home = engines_dir / engine.name
    with engine_lock(engines_dir, engine.name, progress):
        if present := read_record(home):
            progress(f"{engine.name} is already installed in {home}")
            return present
        _refuse_in_use(home)
        for stale in engines_dir.glob(f"{DRAFT}{engine.name}-*"):
            shutil.rmtree(stale, ignore_errors=True)
        needed = engine.unpacked_bytes + (0 if source else engine.download_bytes) + RESERVE_BYTES
        free = shutil.disk_usage(engines_dir).free
        if free < needed:
            raise InstallError(f"{engine.name} needs {needed >> 20} MB in {engines_dir}, {free >> 20} MB are free")
        with tempfile.TemporaryDirectory(dir=engines_dir, prefix=f"{DRAFT}{engine.name}-") as draft:
            tree = Path(draft) / "tree"
            tree.mkdir()
            take_or_fetch = (lambda batch, _folder: [take_piece(piece, source) for piece in batch]) if source else fetch
            _build(engine, tree, Path(draft), take_or_fetch, progress)
            # To the disk before the rename, so that a power loss cannot leave a record without its files.
            subprocess.run(["sync", "--file-system", str(tree)], check=True)
            if home.is_dir():
                home.rename(Path(draft) / "old")
            tree.rename(home)
    return _readable(home)


def add_built(folder: Path, version: str, engines_dir: Path) -> InstalledEngine:
    """Copy a server's folder that somebody has built, so that it stays as it is. Raises `InstallError`.

    `version`: what the server says of itself, with more to tell two builds apart, as "18.6-f3eb639a".
    """
    dbms = next((slug for slug, layout in BUILT.items() if os.access(folder / layout["server"], os.X_OK)), "")
    if not dbms:
        raise InstallError(f"{folder} has none of {', '.join(layout['server'] for layout in BUILT.values())}")
    libraries = [part for part in ("lib", "lib64") if (folder / part).is_dir()]
    variables = {"LD_LIBRARY_PATH": os.pathsep.join(str(folder / part) for part in libraries)}
    for program in (part for part in BUILT[dbms].values() if part.startswith("bin/")):
        answer = answer_of([folder / program, "--version"], timeout_s=60, env={**os.environ, **variables})
        versions = [word.partition("-")[0] for word in answer.stdout.split() if word[0].isdigit()]
        words = (answer.stderr or answer.stdout).strip()[:300]
        if answer.returncode or not versions:
            raise InstallError(f"{program} does not run: {words}")
        if not version.startswith(versions[0]):
            raise InstallError(f"begin the version with what {program} says of itself: {words}")
    record = {"dbms": dbms, "version": version, "bin": "bin", "libraries": libraries, "layout": BUILT[dbms]}
    home = engines_dir / f"{dbms}-{version}"
    with engine_lock(engines_dir, home.name, lambda text: None):
        if home.name in catalogue() or home.exists():
            raise InstallError(f"{home.name} is there already: remove it, or give another version")
        with tempfile.TemporaryDirectory(dir=engines_dir, prefix=f"{DRAFT}{home.name}-") as draft:
            tree = Path(draft) / "tree"
            shutil.copytree(folder, tree, symlinks=True)
            make_readable(tree)
            _write_record(tree, {**record, "note": f"copied from {folder.resolve()}"})
            tree.rename(home)
    return _readable(home)


def _readable(home: Path) -> InstalledEngine:
    if (made := read_record(home)) is None:
        raise InstallError(f"{home} is not readable after the installation")
    return made


def remove(name: str, engines_dir: Path) -> bool:
    """Delete an engine; False when it is not there. Raises `InstallError` while one of its programs runs."""
    home = engines_dir / name
    with engine_lock(engines_dir, name, lambda text: None):
        if not home.is_dir():
            return False
        _refuse_in_use(home)
        with tempfile.TemporaryDirectory(dir=engines_dir, prefix=f"{DRAFT}{name}-") as draft:
            home.rename(Path(draft) / "tree")
    return True


def _refuse_in_use(home: Path) -> None:
    """Raises `InstallError` while a process runs a program of this folder."""
    users = [
        f"{process.info['name']} ({process.pid})"
        for process in (psutil.process_iter(["name", "exe"]) if home.is_dir() else ())
        if Path(process.info["exe"] or "/").is_relative_to(home.resolve())
    ]
    if users:
        raise InstallError(f"{home.name} is in use by {', '.join(users)}")


def download(engine: Engine, folder: Path, progress: Progress) -> None:
    """Fetch the pieces into `folder`, for a machine without a network. Those that are there already stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for batch in batches([piece for piece in engine.pieces if not _is_there(piece, folder)]):
        with tempfile.TemporaryDirectory(dir=folder, prefix=DRAFT) as draft:
            for fetched in _fetched(batch, Path(draft), fetch, progress):
                fetched.path.replace(folder / fetched.path.name)


def _is_there(piece: Piece, folder: Path) -> bool:
    try:
        take_piece(piece, folder)
    except InstallError:
        return False
    return True


@contextmanager
def engine_lock(engines_dir: Path, name: str, progress: Progress) -> Iterator[None]:
    """One process per engine; another waits. The lock ends with the process, however that ends."""
    with (engines_dir / f".{name}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            progress(f"another process is busy with {name}, waiting")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(engine: Engine, tree: Path, draft: Path, source: Source, progress: Progress) -> None:
    """Fill `tree`, a batch at a time, so that no two of them take space at once."""
    records: list[dict[str, str]] = []
    versions: dict[str, str] = {}
    for batch in batches(engine.pieces):
        with tempfile.TemporaryDirectory(dir=draft) as folder:
            for piece, fetched in zip(batch, _fetched(batch, Path(folder), source, progress), strict=True):
                for step in piece.unpack:
                    unpack(fetched.path, step, tree)
                versions[piece.name] = fetched.version
                of_debian = {"version": fetched.version} if fetched.version else {}
                records.append({"kind": piece.kind, "name": piece.name, "sha256": fetched.sha256, **of_debian})
    finish(engine, tree)
    record = {
        "engine": engine.name,
        **{field: getattr(engine, field) for field in RECORDED},
        "version": engine.exact_version(versions),
        "relocated": engine.relocate,
        "pieces": records,
    }
    _write_record(tree, record)


def _write_record(tree: Path, record: Mapping[str, Any]) -> None:
    made = {**record, "installed_at": datetime.now(UTC).isoformat(timespec="seconds")}
    (tree / RECORD_NAME).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    (tree / RECORD_NAME).chmod(0o644)


def finish(engine: Engine, tree: Path) -> None:
    """What is left to do when everything is unpacked. Raises `InstallError`."""
    for link, aim in engine.links.items():
        (tree / link).symlink_to(aim)
    relocate(tree, engine.relocate)
    make_readable(tree, engine.executable)
    check_programs(engine, tree)


def _fetched(batch: Sequence[Piece], folder: Path, source: Source, progress: Progress) -> list[Fetched]:
    size_bytes = sum(piece.size_bytes for piece in batch)
    size = f" ({size_bytes / 1e6:.1f} MB)" if size_bytes else ""
    progress(f"{', '.join(piece.name for piece in batch)}{size}")
    started = time.monotonic()

    def tell_arrived() -> None:
        with suppress(OSError):  # a file that was just renamed
            arrived = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            progress(f"  {arrived / 1e6:.1f} of {size_bytes / 1e6:.1f} MB")

    with repeated(tell_arrived, every_s=PROGRESS_S):  # whichever program fetches it
        fetched = source(batch, folder)
    words = f"{fetched[0].path.name}, checksum" if len(fetched) == 1 else f"{len(fetched)} files, checksums"
    progress(f"  {words} right, {time.monotonic() - started:.1f} s")
    return fetched


def check_programs(engine: Engine, tree: Path) -> None:
    """Raises `InstallError` when a program lacks a library, naming it."""
    path = ":".join(str(tree / part) for part in engine.libraries)
    for program in engine.programs:
        answer = answer_of(["ldd", tree / program], timeout_s=60, env={"LD_LIBRARY_PATH": path, "LC_ALL": "C"})
        missing = [line.split()[0] for line in answer.stdout.splitlines() if "not found" in line]
        if missing or answer.returncode:
            words = f"lacks {', '.join(missing)}" if missing else answer.stderr.strip()
            raise InstallError(f"{engine.name}: {Path(program).name} {words}")


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
            # One that leads out of the folder is left out. A package's own root is `target`.
            aim = member.linkname
            inside = Path(os.path.normpath(target / aim.lstrip("/") if aim.startswith("/") else file.parent / aim))
            if inside.is_relative_to(target):
                file.symlink_to(os.path.relpath(inside, file.parent))
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
