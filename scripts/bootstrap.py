"""Make .venv, install the locked requirements, then become the command that was asked for.

    python3 scripts/bootstrap.py [--dev] [--parent PID] COMMAND ARGUMENT...

COMMAND is a Python file (manage.py). Needs the standard library alone; speaks on stderr; writes to .venv, and for the
time of the installation to STATE/tmp. A second call with unchanged locks does nothing.
With --parent it ends (SIGTERM) when that process, make, ends in whatever way; what it becomes inherits this.
"""

# ruff: noqa: E402
# No `from __future__ import annotations`: a Python 3.6 has to understand this file up to the line that refuses it.
import os
import sys

OLDEST = (3, 11)
if sys.version_info < OLDEST:
    import shutil

    for minor in range(20, 10, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer:
            os.execv(newer, [newer, *sys.argv])
    running = f"{sys.executable} is {sys.version_info[0]}.{sys.version_info[1]}"
    sys.exit(f"Benchsite needs Python 3.11 or newer, {running}; name another one: make up PYTHON=/path/to/python3")

import argparse
import ctypes
import fcntl
import hashlib
import importlib.util
import json
import platform
import queue
import re
import signal
import ssl
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "benchsite.json"
LOG = VENV / "install.log"
AGENT = ROOT / "agents" / "program"
PR_SET_PDEATHSIG = 1
SHOW_EVERY_S = 2.0
UNTRUSTED = "pip does not trust who signed the certificate of the package index"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dev", action="store_true", help="also what tests and checks need")
    parser.add_argument("--parent", type=int, help="end when this process ends")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.parent:
        end_with(options.parent, signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with one_at_a_time():
            temporary = state_tmp()
            with bundle(temporary) as source:
                install(dev=options.dev, temporary=temporary, source=source)
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command goes on")
    if options.command:
        os.chdir(ROOT)
        os.execv(PYTHON, [str(PYTHON), *options.command])


def print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def end_with(parent: int, death_signal: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != parent:
        os._exit(1)


def state_tmp() -> Path:
    """STATE/tmp, made if missing: a STATE that cannot be written is said here, in one line."""
    folder = Path(os.environ.get("STATE") or ROOT / "var").absolute() / "tmp"
    try:
        folder.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        sys.exit(f"cannot write to STATE={folder.parent}: {error.strerror}")
    return folder


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two bootstraps of one checkout wait for each other; the lock is on the folder itself, so no file is left."""
    handle = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def bundle_facts() -> dict[str, str]:
    """What a bundle fits."""
    wanted = fingerprints()
    here = {"system": platform.system(), "processor": platform.machine(), "Python": wanted["python"]}
    return {**here, "locked packages": wanted["server"]}


@contextmanager
def bundle(temporary: Path) -> Iterator[list[str]]:
    """pip's options to install from the file BUNDLE alone, none without one; its jars go to where the agent looks."""
    file = os.environ.get("BUNDLE")
    if not file:
        yield []
        return
    with tempfile.TemporaryDirectory(dir=temporary) as wheels:
        try:
            unpack(Path(file), {"wheels": Path(wheels), "jars": temporary.parent / "agent" / "cache" / "jars"})
        except (OSError, KeyError, ValueError, tarfile.TarError) as error:
            sys.exit(f"BUNDLE={file} cannot be used: {error}")
        yield ["--no-index", "--find-links", wheels]


def unpack(file: Path, folders: dict[str, Path]) -> None:
    """Checksums are looked at by who uses the files: pip by the lock, the agent by its list."""
    with tarfile.open(file) as tar:
        about = tar.extractfile("bundle.json")
        facts = json.load(about) if about else {}
        wrong = [name for name, here in bundle_facts().items() if facts.get(name) != here]
        if wrong:
            raise ValueError(f"it was made for another {' and '.join(wrong)} than this machine or checkout has")
        for member in tar:
            kind, _, name = member.name.partition("/")
            content = tar.extractfile(member) if kind in folders and ".." not in name.split("/") else None
            target = folders.get(kind, file) / name
            if content and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                draft = target.with_name(f".{target.name}.draft")
                draft.write_bytes(content.read())
                draft.replace(target)


def install(*, dev: bool, temporary: Path, source: list[str]) -> None:
    wanted = fingerprints()
    present = read_stamp()
    if not dev and present:
        wanted["dev"] = present["dev"] if present.get("server") == wanted["server"] else ""
    elif not dev:
        wanted["dev"] = ""
    if present == wanted and PYTHON.exists():
        return
    started = time.monotonic()
    make_venv(present, wanted, temporary)
    STAMP.unlink(missing_ok=True)
    lock = ROOT / ("requirements-dev.txt" if wanted["dev"] else "requirements.txt")
    install_pip(lock, temporary, source)
    pip(
        f"installing {lock.name}",
        [*source, "--require-hashes", "-r", str(lock)],
        temporary,
        total=len(re.findall(r"^[A-Za-z0-9][^ ]*==", lock.read_text(), re.M)),
    )
    pip("installing the agent", [*source, "--no-deps", "--no-build-isolation", "-e", str(AGENT)], temporary, total=1)
    STAMP.write_text(json.dumps(wanted))
    print_line(f"installed in {time.monotonic() - started:.0f} s")


def fingerprints() -> dict[str, str]:
    """What an installation depends on."""
    server = (ROOT / "requirements.txt").read_bytes() + (AGENT / "pyproject.toml").read_bytes()
    dev = (ROOT / "requirements-dev.txt").read_bytes()
    return {
        "root": str(ROOT),
        "python": "{}.{}".format(*sys.version_info),
        "server": hashlib.sha256(server).hexdigest(),
        "dev": hashlib.sha256(dev).hexdigest(),
    }


def read_stamp() -> dict[str, str]:
    try:
        stamp: dict[str, str] = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp


def make_venv(present: dict[str, str], wanted: dict[str, str], temporary: Path) -> None:
    """Make it, or make it anew when it belongs to another folder or Python, or is only half there."""
    moved = bool(present) and any(present.get(key) != wanted[key] for key in ("root", "python"))
    has_pip = [str(PYTHON), "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('pip') is None)"]
    if not moved and PYTHON.exists() and subprocess.run(has_pip, check=False).returncode == 0:
        return
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        sys.exit(f"{sys.executable} has no venv or ensurepip; on Debian and Ubuntu: apt install python3-venv")
    # `--clear` would empty the folder behind a link, which may be another checkout's.
    if VENV.is_symlink():
        VENV.unlink()
    print_line(f"making {VENV} with Python {wanted['python']}")
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    with child(command, temporary) as process:
        lines = [line for line in process.stdout or () if line.strip()]
    if process.returncode:
        last = lines[-1].strip() if lines else "no reason given"
        sys.exit(f"cannot make {VENV}: {last}; on Debian and Ubuntu: apt install python3-venv")


@contextmanager
def child(command: list[str], temporary: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process with its output as text; it and its own children end with us, or when the body is interrupted."""
    parent = os.getpid()
    # pip asks rustc for its version, and rustup's stand-in for that would write its settings to HOME.
    rustup = {"RUSTUP_HOME": str(temporary / "rustup")}
    process = subprocess.Popen(
        command,
        env=rustup | os.environ | {"TMPDIR": str(temporary), "PIP_USER": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: end_with(parent, signal.SIGKILL),  # noqa: PLW1509 (no other thread yet)
    )
    try:
        yield process
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        process.wait()


def install_pip(lock: Path, temporary: Path, source: list[str]) -> None:
    """The lock's own first: the one that Python has brought may take twice as long for all the others."""
    if own := re.search(r"^pip==.*\n(?: .*\n)*", lock.read_text(), re.M):
        with tempfile.NamedTemporaryFile("w", dir=temporary, suffix=".txt") as alone:
            alone.write(own[0])
            alone.flush()
            pip("installing pip", [*source, "--require-hashes", "-r", alone.name], temporary, total=1)


def pip(title: str, arguments: list[str], temporary: Path, *, total: int) -> None:
    """The user's index, mirror, proxy and certificates hold; nothing is written to HOME. Shows where it is.

    A module is compiled when it is first imported, which most never are; here only where Python then writes nothing.
    """
    options = ["--no-input", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar", "off"]
    compiled = [] if sys.dont_write_bytecode else ["--no-compile"]
    command = [str(PYTHON), "-m", "pip", "install", *options, *compiled, *arguments]
    with child(command, temporary) as process, LOG.open("a") as log:
        error = follow(title, total, lines_of(process), log.write)
    if not process.returncode:
        return
    store = system_store()
    if error == UNTRUSTED and store and store not in arguments:
        print_line(f"  {error}; trying again with the system's authorities, {store}")
        pip(title, [*arguments, "--cert", store], temporary, total=total)
        return
    sys.exit(f"{title} failed: {error or 'no reason given'}; whole output in {LOG}")


def system_store() -> str:
    """File of the authorities that the system trusts or SSL_CERT_FILE names: older pips know only their own."""
    usual = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem")
    return next((path for path in (ssl.get_default_verify_paths().cafile, *usual) if path and Path(path).exists()), "")


def lines_of(process: "subprocess.Popen[str]") -> "queue.Queue[str | None]":
    """The output line by line, then None; read by a thread, so that the reader can count seconds meanwhile."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def follow(title: str, total: int, lines: "queue.Queue[str | None]", log: Callable[[str], object]) -> str:
    """Say every two seconds how far pip is; returns its last error line."""
    started = shown = time.monotonic()
    collected, doing, error = 0, "", ""
    print_line(title)
    while True:
        try:
            line = lines.get(timeout=0.5)
        except queue.Empty:
            line = ""
        if line is None:
            return error
        log(line)
        if line.startswith(("Collecting", "Processing", "Requirement already satisfied", "Obtaining", "Ignoring")):
            collected += 1
            doing = f"{collected} of {total} packages found"
        elif line.startswith("Installing collected"):
            doing = f"unpacking {collected} packages"
        elif "CERTIFICATE_VERIFY_FAILED" in line:
            error = UNTRUSTED
        elif line.startswith("ERROR") and error != UNTRUSTED:
            error = line.removeprefix("ERROR:").strip()
        if time.monotonic() - shown >= SHOW_EVERY_S:
            shown = time.monotonic()
            print_line(f"  {doing or 'starting pip'}, {shown - started:.0f} s")


if __name__ == "__main__":
    main()
