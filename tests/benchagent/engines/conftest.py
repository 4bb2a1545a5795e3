"""A tiny engine out of pieces in a folder: a zip, and a tar file inside a jar."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from benchagent.engines import Engine, engine_of
from benchagent.java.jars import sha256_of


def tar_bytes(members: dict[str, tuple[bytes, int]], links: dict[str, str] | None = None) -> bytes:
    """A gzipped tar file of name: (content, mode), and of symbolic links, all of a stranger's user."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, (content, mode) in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.uid, info.uname = len(content), mode, 4711, "stranger"
            tar.addfile(info, io.BytesIO(content))
        for name, aim in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, aim
            tar.addfile(info)
    return buffer.getvalue()


def zip_file(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@dataclass(frozen=True)
class Tiny:
    """The engine, the folder with its pieces, and the list's entry to change."""

    engine: Engine
    source: Path
    entry: dict[str, Any]


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    source = tmp_path / "usb"
    source.mkdir()
    sleep = Path(shutil.which("sleep") or "").read_bytes()
    server = zip_file(source / "server-1.0-linux.zip", {"bin/served": sleep, "docs/long.txt": b"x", "README": b"r"})
    library = tar_bytes({"top/lib/libold.so.1": (b"library", 0o600)}, {"top/lib/libold.so": "libold.so.1"})
    jar = zip_file(source / "library-2.0.jar", {"library.tar.gz": library})
    entry: dict[str, Any] = {
        "name": "tiny-1.0",
        "dbms": "postgresql",
        "version": "1.0",
        "licence": "MIT",
        "why": "a test",
        "bin": "bin",
        "libraries": ["compat"],
        "layout": {"server": "bin/served"},
        "environment": {"SERVED_HOME": "share"},
        "links": {"compat/libnew.so": "libold.so.1"},
        "executable": ["bin/*"],
        "programs": ["bin/served"],
        "unpacked_bytes": 1000,
        "pieces": [
            {
                "kind": "maven",
                "name": "org.example:server:1.0:zip:linux",
                "sha256": sha256_of(server),
                "unpack": [{"skip": ["docs/*"]}],
            },
            {
                "kind": "maven",
                "name": "org.example:library:2.0",
                "sha256": sha256_of(jar),
                "unpack": [{"archive": "library.tar.gz", "only": ["*/lib/*"], "strip": 2, "to": "compat"}],
            },
        ],
    }
    return Tiny(engine_of(entry), source, entry)


@pytest.fixture
def engines_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "engines"
    folder.mkdir()
    return folder


@pytest.fixture
def said() -> list[str]:
    return []
