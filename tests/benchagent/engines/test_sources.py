from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.engines import Piece
from benchagent.engines.sources import InstallError, apt_update, batches, fetch, take_piece
from benchagent.java.jars import sha256_of
from benchagent.java.maven import maven_file_name

WHEEL = "thing-1.0-py3-none-any.whl"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch) -> Path:
    """A folder that is the whole search path: apt is what a test puts there."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def apt(programs: Path, package: Path, version: str, sha256: str) -> None:
    """An apt whose index states this sum, and whose archive holds that package."""
    fields = f"Package: thing\\nVersion: {version}\\nSHA256: {sha256}\\n"
    script(programs / "apt-cache", f"printf '{fields}'")
    script(programs / "apt-get", f"/bin/cp {package} .")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    path = tmp_path / "thing_1.0_amd64.deb"
    path.write_bytes(b"a package")
    return path


def test_it_takes_the_sum_of_a_package_from_apts_index(programs: Path, package: Path, folder: Path):
    apt(programs, package, "1.0", sha256_of(package))
    (fetched,) = fetch([Piece("debian", "thing")], folder)
    assert (fetched.path, fetched.version, fetched.sha256) == (folder / package.name, "1.0", sha256_of(package))


def test_it_asks_apt_once_for_packages_that_are_neighbours(programs: Path, tmp_path: Path, folder: Path):
    sums = {name: sha256_of(write(tmp_path / f"{name}_1.0_amd64.deb", name)) for name in ("first", "second")}
    stanzas = [f"Package: {name}\\nVersion: 1.0\\nSHA256: {sum_}\\n\\n" for name, sum_ in sums.items()]
    script(programs / "apt-cache", f"printf '{''.join(stanzas)}'")
    script(programs / "apt-get", f"echo $* >> {tmp_path}/asked\n/bin/cp {tmp_path}/*.deb .")
    jar, first, second = Piece("maven", "org.example:thing:1.0"), Piece("debian", "first"), Piece("debian", "second")
    assert list(batches([jar, jar, first, second, jar])) == [[jar], [jar], [first, second], [jar]]
    assert [fetched.path.name for fetched in fetch([first, second], folder)] == [
        f"{name}_1.0_amd64.deb" for name in sums
    ]
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert asked.endswith("first=1.0 second=1.0")


def test_it_refuses_a_package_that_is_not_what_the_index_states(programs: Path, package: Path, folder: Path):
    apt(programs, package, "1.0", "0" * 64)
    with pytest.raises(InstallError, match=rf"thing_1\.0_amd64\.deb has SHA-256 .*{'0' * 64}"):
        fetch([Piece("debian", "thing")], folder)


def test_it_says_what_to_run_when_apt_knows_no_packages(programs: Path, folder: Path):
    script(programs / "apt-get", "exit 1")
    script(programs / "apt-cache", "exit 100")
    with pytest.raises(InstallError, match="do not offer thing: run `apt-get update` as root"):
        fetch([Piece("debian", "thing")], folder)


def test_it_says_that_a_machine_has_no_apt(programs: Path, folder: Path):
    with pytest.raises(InstallError, match="thing is a Debian package, and this machine has no apt-get"):
        fetch([Piece("debian", "thing")], folder)


def test_it_says_why_apt_failed(programs: Path, package: Path, folder: Path):
    apt(programs, package, "1.0", sha256_of(package))
    script(programs / "apt-get", "echo 'E: no space' >&2; exit 100")
    with pytest.raises(InstallError, match="thing cannot be fetched: E: no space"):
        fetch([Piece("debian", "thing")], folder)


def test_a_package_in_a_folder_has_to_be_a_known_one(programs: Path, package: Path):
    known = {"0.9": "0" * 64, "1.0": sha256_of(package)}
    assert take_piece(Piece("debian", "thing", known=known), package.parent).version == "1.0"
    with pytest.raises(InstallError, match=r"thing_1\.0_amd64\.deb has SHA-256"):
        take_piece(Piece("debian", "thing", known={"0.9": "0" * 64}), package.parent)


def test_a_package_in_a_folder_may_be_one_that_apt_knows(programs: Path, package: Path):
    apt(programs, package, "1.0-2", sha256_of(package))
    assert take_piece(Piece("debian", "thing"), package.parent).version == "1.0-2"


def test_only_root_may_have_the_package_lists_fetched(programs: Path, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(InstallError, match="sudo apt-get update"):
        apt_update()


def test_it_fetches_a_wheel_with_pip(folder: Path, tmp_path: Path, monkeypatch):
    """pip's own setting for a folder of wheels stands for a mirror."""
    source = tmp_path / "wheels"
    source.mkdir()
    metadata = "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n"
    wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    from tests.benchagent.engines.conftest import zip_file

    info = "thing-1.0.dist-info"
    path = zip_file(
        source / WHEEL, {f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": wheel.encode(), f"{info}/RECORD": b""}
    )
    monkeypatch.setenv("PIP_FIND_LINKS", str(source))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    piece = Piece("wheel", "thing==1.0", file=WHEEL, sha256=sha256_of(path))
    assert fetch([piece], folder)[0].path == folder / WHEEL
    with pytest.raises(InstallError, match=r"pip brought thing-1\.0-py3-none-any\.whl for thing==1\.0, expected other"):
        fetch([Piece("wheel", "thing==1.0", file="other.whl")], folder)
    with pytest.raises(InstallError, match=r"thing==2\.0 cannot be fetched"):
        fetch([Piece("wheel", "thing==2.0", file=WHEEL)], folder)


@pytest.mark.parametrize(
    ("coordinate", "name"),
    [
        ("org.example:thing:1.0", "thing-1.0.jar"),
        ("org.example:thing:1.0:zip", "thing-1.0.zip"),
        ("org.example:thing:1.0:zip:linux-amd64", "thing-1.0-linux-amd64.zip"),
    ],
)
def test_it_knows_the_names_of_mavens_files(coordinate: str, name: str):
    assert maven_file_name(coordinate) == name
