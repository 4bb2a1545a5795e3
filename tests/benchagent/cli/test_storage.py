"""`benchagent storage` as an operator types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.cli import main
from benchagent.paths import AgentDirs

from tests.benchagent.storages import needs_emulation


@pytest.fixture
def folder(dirs: AgentDirs) -> Path:
    made = dirs.root.parent / "other"
    made.mkdir(mode=0o755)
    return made


@pytest.fixture
def storage(dirs: AgentDirs, capsys, own_temporary_folder):
    def run(*arguments: object) -> tuple[int, str, str]:
        status = main.main(["storage", *map(str, arguments), "--state", str(dirs.root)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_it_adds_lists_and_removes(storage, folder: Path):
    assert storage("add", "fast", folder)[0] == 0
    status, out, _ = storage()
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == ["default", "fast"]
    assert f"fast  {folder}  " in out
    assert " GB free" in out
    assert storage("remove", "fast")[1] == "storage fast removed\n"
    assert storage("list")[1].count("\n") == 1


def test_it_says_what_is_wrong(storage, folder: Path):
    assert storage("add", "fast", folder / "nowhere") == (1, "", f"benchagent: {folder}/nowhere is not a folder\n")
    assert storage("remove", "fast") == (1, "", "benchagent: this machine has no storage 'fast'; it has default\n")


@pytest.mark.parametrize("text", ["0", "-3", "many", "1.5"])
def test_it_refuses_what_is_no_size(storage, folder: Path, capsys, text: str):
    with pytest.raises(SystemExit):
        storage("emulate", "slow", "--file", folder / "x", f"--size-mb={text}")
    assert f"--size-mb: {text!r}" in capsys.readouterr().err


@needs_emulation
def test_it_makes_an_emulated_disk_and_deletes_it(storage, folder: Path):
    file = folder / "disk.img"
    rates = ("--read-mb-per-s", 60, "--write-mb-per-s", 50, "--read-iops", 120, "--write-iops", 110)
    status, out, _ = storage("emulate", "slow", "--size-mb", 40, "--file", file, *rates)
    assert (status, out) == (
        0,
        "storage slow made (emulated: read 60 MB/s, 120 IOPS; write 50 MB/s, 110 IOPS); "
        "it is there while the agent runs\n",
    )
    assert file.stat().st_size == 40_000_000
    assert f"{file}  not available: the emulated disk is not set up" in storage("list")[1]
    status, _, err = storage("emulate", "again", "--size-mb", 40, "--file", file)
    assert (status, err) == (1, f"benchagent: {file} exists already; say a file that is to be made\n")
    assert storage("remove", "slow")[0] == 0
    assert not file.exists()
