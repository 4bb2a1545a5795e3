from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.machine import identity


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of files."""
    files = {
        "id": "abc", "dmi/product_uuid": "u1", "dmi/board_serial": "Not Specified", "net/eth0/address": "02:01",
        "net/eth0/device": "", "net/veth1/address": "02:02",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    monkeypatch.setattr(identity, "ID_FILES", (tmp_path / "none", tmp_path / "id"))
    monkeypatch.setattr(identity, "DMI", tmp_path / "dmi")
    monkeypatch.setattr(identity, "NETWORK", tmp_path / "net")
    monkeypatch.delenv(identity.VARIABLE, raising=False)
    return tmp_path


def test_it_tells_ids_by_their_hashes_only(system):
    assert len(identity.machine_id()) == 32
    assert "abc" not in identity.machine_id()
    assert len(identity.made_of()) == 2


def test_what_is_no_hardware_or_says_nothing_is_no_part(system):
    before = identity.made_of()
    (system / "net/veth1/address").write_text("02:03")
    assert identity.made_of() == before
    (system / "net/eth0/address").write_text("02:09")
    assert len(set(identity.made_of()) & set(before)) == 1


def test_an_id_of_ones_own_comes_first_and_none_is_none(system, monkeypatch):
    before = identity.machine_id()
    monkeypatch.setenv(identity.VARIABLE, "second agent")
    assert identity.machine_id() != before
    monkeypatch.delenv(identity.VARIABLE)
    (system / "id").write_text("uninitialized")
    assert identity.machine_id() == ""
