from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import pytest
from benchagent.cli import main
from benchagent.dbms.postgresql import discovery
from benchagent.engines import Piece, broken_records, engine_of, installed
from benchagent.engines import install as install_module
from benchagent.engines.install import add_built, download, install, remove
from benchagent.engines.sources import Fetched, InstallError
from benchagent.java.jars import sha256_of

from tests.benchagent.engines.conftest import Tiny, zip_file
from tests.benchagent.fake_server import wait_until


def left(engines_dir: Path) -> list[str]:
    return [path.name for path in engines_dir.iterdir() if path.suffix != ".lock"]


def test_it_installs_out_of_a_folder(tiny: Tiny, engines_dir: Path, said: list[str]):
    made = install(tiny.engine, engines_dir, said.append, tiny.source)
    assert (made.name, made.dbms, made.version) == ("tiny-1.0", "postgresql", "1.0")
    assert made.home == engines_dir / "tiny-1.0"
    assert made.bin_dir == made.home / "bin"
    assert made.layout("server") == made.home / "bin" / "served"
    assert made.environment() == {"SERVED_HOME": str(made.home / "share"), "LD_LIBRARY_PATH": str(made.home / "compat")}
    assert (made.home / "compat" / "libnew.so").read_bytes() == b"library"
    assert not (made.home / "docs").exists()
    assert installed(engines_dir) == [made]
    assert installed(engines_dir, "postgresql") == [made]
    assert installed(engines_dir, "mysql") == []
    assert any("server-1.0-linux.zip, checksum right" in line for line in said)


def test_every_user_may_read_what_is_installed(tiny: Tiny, engines_dir: Path, said: list[str]):
    home = install(tiny.engine, engines_dir, said.append, tiny.source).home
    modes = {path.relative_to(home).as_posix(): path.stat().st_mode & 0o777 for path in [home, *home.rglob("*")]}
    assert modes["."] == modes["bin"] == modes["compat"] == 0o755
    assert modes["bin/served"] == 0o755
    assert modes["compat/libold.so.1"] == modes["README"] == modes["installed.json"] == 0o644
    assert {path.lstat().st_uid for path in home.rglob("*")} == {os.getuid()}


def test_the_record_says_what_was_installed(tiny: Tiny, engines_dir: Path, said: list[str]):
    home = install(tiny.engine, engines_dir, said.append, tiny.source).home
    record = json.loads((home / "installed.json").read_text())
    assert record["licence"] == "MIT"
    assert [piece["sha256"] for piece in record["pieces"]] == [piece["sha256"] for piece in tiny.entry["pieces"]]
    assert record["installed_at"].endswith("+00:00")


def test_it_refuses_a_wrong_checksum_and_leaves_nothing(tiny: Tiny, engines_dir: Path, said: list[str]):
    with (tiny.source / "library-2.0.jar").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(InstallError) as refused:
        install(tiny.engine, engines_dir, said.append, tiny.source)
    assert "library-2.0.jar has SHA-256" in str(refused.value)
    assert tiny.entry["pieces"][1]["sha256"] in str(refused.value)
    assert left(engines_dir) == []


def test_it_names_a_piece_that_the_folder_lacks(tiny: Tiny, engines_dir: Path, said: list[str]):
    (tiny.source / "library-2.0.jar").unlink()
    with pytest.raises(InstallError, match=r"usb has no library-2\.0\.jar"):
        install(tiny.engine, engines_dir, said.append, tiny.source)
    assert left(engines_dir) == []


def test_it_names_the_library_that_a_program_lacks(tiny: Tiny, engines_dir: Path, said: list[str]):
    program = Path(shutil.which("sleep") or "").read_bytes().replace(b"\0libc.so.6\0", b"\0libx.so.6\0")
    path = zip_file(tiny.source / "server-1.0-linux.zip", {"bin/served": program})
    tiny.entry["pieces"][0]["sha256"] = sha256_of(path)
    with pytest.raises(InstallError, match=r"tiny-1\.0: served lacks libx\.so\.6"):
        install(engine_of(tiny.entry), engines_dir, said.append, tiny.source)
    assert left(engines_dir) == []


def test_it_asks_for_space_before_it_begins(tiny: Tiny, engines_dir: Path, said: list[str], monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(1 << 40, 1 << 40, 10 << 20))
    with pytest.raises(InstallError, match=r"tiny-1\.0 needs 256 MB in .*, 10 MB are free"):
        install(tiny.engine, engines_dir, said.append, tiny.source)
    assert said == []


KILLED = """
import json, sys, time
from pathlib import Path
from benchagent.engines import install as module
from benchagent.engines import Piece, engine_of

def hang(engine, tree):
    print("unpacked", flush=True)
    time.sleep(600)

module.finish = hang
module.install(engine_of(json.loads(sys.argv[1])), Path(sys.argv[2]), lambda text: None, Path(sys.argv[3]))
"""


def test_a_killed_install_leaves_nothing_that_looks_installed(tiny: Tiny, engines_dir: Path, said: list[str]):
    command = [sys.executable, "-c", KILLED, json.dumps(tiny.entry), str(engines_dir), str(tiny.source)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "unpacked\n"
        process.kill()
    assert len(left(engines_dir)) == 1
    assert installed(engines_dir) == []
    install(tiny.engine, engines_dir, said.append, tiny.source)
    assert left(engines_dir) == ["tiny-1.0"]


def test_two_at_once_install_it_once(tiny: Tiny, engines_dir: Path, monkeypatch):
    finish, finished = install_module.finish, []
    said: list[list[str]] = [[], []]

    def slowly(engine, tree):
        finish(engine, tree)
        finished.append(engine.name)
        wait_until(lambda: any("waiting" in line for lines in said for line in lines), 60)

    monkeypatch.setattr(install_module, "finish", slowly)
    made = []

    def work(number: int) -> None:
        made.append(install(tiny.engine, engines_dir, said[number].append, tiny.source))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert finished == ["tiny-1.0"]
    assert made[0] == made[1]
    late = next(lines for lines in said if "already installed" in lines[-1])
    assert "tiny-1.0" in late[0]


def test_what_an_old_record_lacks_is_told_and_a_second_install_mends_it(
    tiny: Tiny, engines_dir: Path, said: list[str], monkeypatch
):
    monkeypatch.setattr("benchagent.engines.catalogue", lambda: {"tiny-1.0": tiny.engine})
    made = install(tiny.engine, engines_dir, said.append, tiny.source)
    record = dict(made.record)
    for changes, lacking in (
        ({"environment": None}, "environment"),
        ({"environment": {}}, "environment SERVED_HOME"),
        ({"layout": {}}, "layout server"),
        ({"libraries": None, "bin": None}, "bin, libraries"),
    ):
        (made.home / "installed.json").write_text(json.dumps({**record, **changes}))
        assert installed(engines_dir) == []
        (broken,) = broken_records(engines_dir)
        assert (broken.dbms, broken.version) == ("postgresql", "1.0")
        assert "`benchagent engines install tiny-1.0`" in broken.reason
        assert broken.reason.endswith(f" lacks {lacking}")
    assert installed(engines_dir) == []
    assert install(tiny.engine, engines_dir, said.append, tiny.source).record["layout"] == record["layout"]
    assert broken_records(engines_dir) == []
    assert left(engines_dir) == ["tiny-1.0"]


def test_it_removes_an_engine(tiny: Tiny, engines_dir: Path, said: list[str]):
    install(tiny.engine, engines_dir, said.append, tiny.source)
    assert remove("tiny-1.0", engines_dir)
    assert left(engines_dir) == []
    assert not remove("tiny-1.0", engines_dir)


def test_it_removes_no_engine_that_runs(tiny: Tiny, engines_dir: Path, said: list[str]):
    made = install(tiny.engine, engines_dir, said.append, tiny.source)
    with subprocess.Popen([made.bin_dir / "served", "60"]) as server:
        with pytest.raises(InstallError, match=rf"tiny-1\.0 is in use by served \({server.pid}\)"):
            remove("tiny-1.0", engines_dir)
        server.kill()
    assert installed(engines_dir) == [made]


def test_a_folder_without_a_record_is_no_engine(engines_dir: Path):
    (engines_dir / "half" / "bin").mkdir(parents=True)
    (engines_dir / "broken").mkdir()
    (engines_dir / "broken" / "installed.json").write_text('{"dbms": "mysql"')
    (engines_dir / "derby-10.6.2.1").touch()
    assert installed(engines_dir) == []


def test_what_was_downloaded_is_not_fetched_again(tiny: Tiny, said: list[str], monkeypatch):
    monkeypatch.setattr(install_module, "fetch", lambda batch, folder: pytest.fail(f"{batch} would be fetched"))
    download(tiny.engine, tiny.source, said.append)
    assert said == []


def test_it_tells_how_much_has_arrived(tiny: Tiny, tmp_path: Path, said: list[str], monkeypatch):
    def slowly(batch: list[Piece], folder: Path) -> list[Fetched]:
        path = folder / "half.jar"
        path.write_bytes(bytes(2_000_000))
        wait_until(lambda: "  2.0 of 0.0 MB" in said, 60)
        return [Fetched(path, "")]

    monkeypatch.setattr(install_module, "PROGRESS_S", 0.1)
    monkeypatch.setattr(install_module, "fetch", slowly)
    download(tiny.engine, tmp_path / "new", said.append)
    assert "  2.0 of 0.0 MB" in said


@pytest.mark.usefixtures("own_temporary_folder")
def test_two_builds_of_one_version_are_two_engines_that_stay_as_they_are(
    engines_dir: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setenv(discovery.DIRS_VARIABLE, "")
    for name in ("18.6-base", "18.6-head"):
        programs = tmp_path / name / "bin"
        programs.mkdir(parents=True)
        for program in ("postgres", "initdb"):
            (programs / program).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.6'\n")
            (programs / program).chmod(0o700)
        assert (
            main.main(["engines", "add", str(tmp_path / name), "--version", name, "--state", str(engines_dir.parent)])
            == 0
        )
        shutil.rmtree(tmp_path / name)
    found = discovery.installations(engines_dir)
    assert {version: each.bin_dir for version, each in found.items()} == {
        name: engines_dir / f"postgresql-{name}" / "bin" for name in ("18.6-base", "18.6-head")
    }


def test_it_adds_no_folder_that_does_not_run_or_bears_another_name(engines_dir: Path, tmp_path: Path):
    built = tmp_path / "built"
    with pytest.raises(InstallError, match="none of"):
        add_built(built, "18.6-head", engines_dir)
    (built / "bin").mkdir(parents=True)
    for program, line in (("postgres", "echo 'postgres (PostgreSQL) 18.6'"), ("initdb", "echo no libpq >&2; exit 127")):
        (built / "bin" / program).write_text(f"#!/bin/sh\n{line}\n")
        (built / "bin" / program).chmod(0o755)
    with pytest.raises(InstallError, match="no libpq"):
        add_built(built, "18.6-head", engines_dir)
    shutil.copy(built / "bin" / "postgres", built / "bin" / "initdb")
    with pytest.raises(InstallError, match=r"begin the version .* 18\.6"):
        add_built(built, "17.2-head", engines_dir)
    add_built(built, "18.6-head", engines_dir)
    with pytest.raises(InstallError, match="there already"):
        add_built(built, "18.6-head", engines_dir)
    assert left(engines_dir) == ["postgresql-18.6-head"]
