"""How a machine gets its agent from this server: the wheel, and the script that installs and starts it."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

PROGRAM, LOADGEN = (settings.BASE_DIR / "agents" / name for name in ("program", "loadgen"))
BUILT_WITHIN_S = 180


@dataclass(frozen=True)
class Wheel:
    path: Path
    sha256: str

    @property
    def name(self) -> str:
        return self.path.name


def wheel() -> Wheel:
    """The wheel of the agent as it is in this installation, with the load generator. It is built when first asked for.

    Raises subprocess.SubprocessError where it cannot be built.
    """
    folder = settings.STATE.path / "agent-wheel" / _version()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            for older in folder.parent.iterdir():
                if older.is_dir():
                    shutil.rmtree(older)
            _build(folder)
    (path,) = folder.glob("benchagent-*.whl")
    return Wheel(path, hashlib.sha256(path.read_bytes()).hexdigest())


def authority() -> str:
    """The certificate of the authority that other machines do not know, in one line of base64; empty without one."""
    path = Path(settings.AUTHORITY_FILE)
    return base64.b64encode(path.read_bytes()).decode() if settings.AUTHORITY_FILE and path.is_file() else ""


def _version() -> str:
    """Another where any file differs."""
    files = [path for folder in (PROGRAM, LOADGEN) for path in folder.rglob("*") if path.is_file()]
    facts = sorted(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files if path.suffix != ".pyc")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _build(folder: Path) -> None:
    """A build writes into the folder that it builds, so that is a copy."""
    work = folder.with_suffix(".part")
    shutil.copytree(PROGRAM, work / "program", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(LOADGEN, work / "loadgen")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    command = [*pip, "--wheel-dir", str(work / "wheel"), str(work / "program")]
    subprocess.run(command, check=True, timeout=BUILT_WITHIN_S)
    (work / "wheel").rename(folder)
    shutil.rmtree(work)
