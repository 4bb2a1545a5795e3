from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest
from benchagent.engines import Unpack
from benchagent.engines.install import relocate, unpack
from benchagent.engines.sources import InstallError

from tests.benchagent.engines.conftest import tar_bytes, zip_file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def files(home: Path) -> list[str]:
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("name", ["../outside", "/outside", "bin/../../outside"])
def test_no_name_leads_out_of_the_folder(home: Path, name: str):
    tar = home.parent / "evil.tar.gz"
    tar.write_bytes(tar_bytes({name: (b"x", 0o644)}))
    for path in (tar, zip_file(home.parent / "evil.zip", {name: b"x"})):
        with pytest.raises(InstallError, match="leads out of its folder"):
            unpack(path, Unpack(), home)
    assert files(home.parent) == ["evil.tar.gz", "evil.zip"]


def test_no_link_leads_out_of_the_folder(home: Path):
    tar = home.parent / "links.tar.gz"
    links = {"lib/out": "../../../etc/passwd", "lib/in": "../share/in", "lib/root": "/share/in"}
    tar.write_bytes(tar_bytes({"share/in": (b"in", 0o644)}, links))
    unpack(tar, Unpack(), home)
    assert files(home) == ["lib/in", "lib/root", "share/in"]
    assert (home / "lib" / "root").read_bytes() == (home / "lib" / "in").read_bytes() == b"in"


def test_it_unpacks_a_debian_package(home: Path):
    package = home.parent / "package"
    (package / "DEBIAN").mkdir(parents=True)
    control = "Package: thing\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n"
    (package / "DEBIAN" / "control").write_text(control)
    (package / "usr" / "bin").mkdir(parents=True)
    (package / "usr" / "bin" / "tool").write_text("#!/bin/sh\n")
    (package / "usr" / "bin" / "tool").chmod(0o755)
    (package / "usr" / "share" / "doc").mkdir(parents=True)
    (package / "usr" / "share" / "doc" / "text").write_text("long")
    deb = home.parent / "thing_1_all.deb"
    subprocess.run(["dpkg-deb", "--build", package, deb], check=True, capture_output=True)
    unpack(deb, Unpack(skip=("*/share/doc/*",)), home)
    assert files(home) == ["usr/bin/tool"]
    assert (home / "usr" / "bin" / "tool").stat().st_mode & 0o111


def test_it_says_which_archive_is_broken(home: Path):
    path = home.parent / "broken.deb"
    path.write_bytes(b"no package")
    with pytest.raises(InstallError, match=r"broken\.deb"):
        unpack(path, Unpack(), home)
    path = zip_file(home.parent / "other.jar", {"a": b"a"})
    with pytest.raises(InstallError, match=r"other\.jar cannot be unpacked"):
        unpack(path, Unpack(archive="missing.tar.gz"), home)


def test_half_an_archive_is_broken(home: Path):
    whole = tar_bytes({"a": (bytes(range(256)) * 400, 0o644)})
    with zipfile.ZipFile(home.parent / "half.jar", "w") as archive:
        archive.writestr("in.tar.gz", whole[: len(whole) // 2])
    with pytest.raises(InstallError, match=r"half\.jar cannot be unpacked"):
        unpack(home.parent / "half.jar", Unpack(archive="in.tar.gz"), home)


def test_it_takes_the_systems_paths_out_of_programs(home: Path):
    """The end of a longer constant may be a constant of its own, so it has to stay."""
    (home / "program").write_bytes(b"\x7fELF...\0/usr/lib/thing/plugins\0/usr/lib/thing/plugins/more\0")
    (home / "text").write_bytes(b"\0/usr/lib/thing/plugins\0")
    relocate(home, {"/usr/lib/thing/plugins": ""})
    content = (home / "program").read_bytes()
    assert content == b"\x7fELF...\0\0usr/lib/thing/plugins\0/usr/lib/thing/plugins/more\0"
    assert (home / "text").read_bytes() == b"\0/usr/lib/thing/plugins\0"


def test_it_refuses_programs_without_the_expected_path(home: Path):
    (home / "program").write_bytes(b"\x7fELF...\0/opt/thing\0")
    with pytest.raises(InstallError, match="no program holds the path /usr/lib/thing"):
        relocate(home, {"/usr/lib/thing": ""})
