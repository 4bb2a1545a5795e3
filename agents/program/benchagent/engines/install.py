"""Install and remove engines below STATE/engines: each is complete or not there, and two installs do not disturb."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil

from benchagent.engines.catalogue import Engine, Piece
from benchagent.engines.installed import RECORD_NAME, InstalledEngine, read_record
from benchagent.engines.sources import Fetched, InstallError, Progress, fetch, take
from benchagent.engines.unpack import make_readable, relocate, unpack

Source = Callable[[Piece, Path], Fetched]
RESERVE_BYTES = 256 << 20
DRAFT = ".draft-"
PROGRESS_S = 3.0
# Of an engine, as the list has them.
RECORDED = ("dbms", "licence", "note", "bin", "libraries", "layout", "environment", "drivers")


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
            take_or_fetch = (lambda piece, _folder: take(piece, source)) if source else fetch
            _build(engine, tree, Path(draft), take_or_fetch, progress)
            # To the disk before the rename, so that a power loss cannot leave a record without its files.
            subprocess.run(["sync", "--file-system", str(tree)], check=True)
            if home.is_dir():
                home.rename(Path(draft) / "old")
            tree.rename(home)
    made = read_record(home)
    if made is None:
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
    if home.is_dir() and (users := processes_of(home)):
        raise InstallError(f"{home.name} is in use by {', '.join(users)}")


def download(engine: Engine, folder: Path, progress: Progress) -> None:
    """Fetch the pieces into `folder`, for a machine without a network. Those that are there already stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for piece in engine.pieces:
        try:
            take(piece, folder)
        except InstallError:
            with tempfile.TemporaryDirectory(dir=folder, prefix=DRAFT) as draft:
                path = _fetched(piece, Path(draft), fetch, progress).path
                path.replace(folder / path.name)


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


def processes_of(home: Path) -> list[str]:
    """Processes that run a program of this folder, as "mysqld (4711)"."""
    return [
        f"{process.info['name']} ({process.pid})"
        for process in psutil.process_iter(["name", "exe"])
        if Path(process.info["exe"] or "/").is_relative_to(home.resolve())
    ]


def _build(engine: Engine, tree: Path, draft: Path, source: Source, progress: Progress) -> None:
    """Fill `tree`, a piece at a time, so that no two downloads take space at once."""
    records: list[dict[str, str]] = []
    versions: dict[str, str] = {}
    for piece in engine.pieces:
        with tempfile.TemporaryDirectory(dir=draft) as folder:
            fetched = _fetched(piece, Path(folder), source, progress)
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
        "installed_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    (tree / RECORD_NAME).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (tree / RECORD_NAME).chmod(0o644)


def finish(engine: Engine, tree: Path) -> None:
    """What is left to do when everything is unpacked. Raises `InstallError`."""
    for link, aim in engine.links.items():
        (tree / link).symlink_to(aim)
    relocate(tree, engine.relocate)
    make_readable(tree, engine.executable)
    check_programs(engine, tree)


def _fetched(piece: Piece, folder: Path, source: Source, progress: Progress) -> Fetched:
    size = f" ({piece.size_bytes / 1e6:.1f} MB)" if piece.size_bytes else ""
    progress(f"{piece.name}{size}")
    started = time.monotonic()
    with _watched(folder, piece, progress):
        fetched = source(piece, folder)
    progress(f"  {fetched.path.name}, checksum right, {time.monotonic() - started:.1f} s")
    return fetched


@contextmanager
def _watched(folder: Path, piece: Piece, progress: Progress) -> Iterator[None]:
    """Tell every few seconds how much has arrived, whichever program fetches it."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(PROGRESS_S):
            with suppress(OSError):  # a file that was just renamed
                arrived = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
                progress(f"  {arrived / 1e6:.1f} of {piece.size_bytes / 1e6:.1f} MB")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def check_programs(engine: Engine, tree: Path) -> None:
    """Raises `InstallError` when a program lacks a library, naming it."""
    path = ":".join(str(tree / part) for part in engine.libraries)
    for program in engine.programs:
        command, variables = ["ldd", str(tree / program)], {"LD_LIBRARY_PATH": path, "LC_ALL": "C"}
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=variables)
        missing = [line.split()[0] for line in answer.stdout.splitlines() if "not found" in line]
        if missing or answer.returncode:
            words = f"lacks {', '.join(missing)}" if missing else answer.stderr.strip()
            raise InstallError(f"{engine.name}: {Path(program).name} {words}")
