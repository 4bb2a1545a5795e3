from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from benchagent.catalog import DBMSS
from benchagent.dbms.external.server import external_server
from benchagent.engines import LOCK_NAME, Engine, catalogue
from benchagent.java.jars import engine_groups

EVERY = pytest.mark.parametrize("engine", catalogue().values(), ids=lambda engine: engine.name)


@EVERY
def test_every_piece_is_pinned(engine: Engine):
    for piece in engine.pieces:
        sums = list(piece.known.values()) if piece.kind == "debian" else [piece.sha256]
        assert sums
        assert all(re.fullmatch("[0-9a-f]{64}", one) for one in sums), piece.name
        assert piece.size_bytes > 0


@EVERY
def test_every_engine_can_be_used(engine: Engine):
    assert engine.dbms in DBMSS
    assert engine.name.startswith(f"{engine.dbms}-")
    assert engine.layout["server"] in engine.programs
    assert engine.unpacked_bytes > 1_000_000
    drivers = {group.name: group.dbms for group in engine_groups() if group.driver}
    assert {drivers[name] for name in engine.drivers} == {engine.dbms}


@EVERY
def test_every_engine_brings_the_driver_that_its_servers_are_used_with(engine: Engine):
    used = external_server(engine.dbms, engine.version, "own").driver
    groups = [group for group in engine_groups() if group.dbms == engine.dbms and used in ("", group.version)]
    assert engine.drivers == [min(groups, key=lambda group: not group.default).name]


@EVERY
def test_every_engine_says_what_it_is_for(engine: Engine, repository: Path):
    assert engine.why
    assert engine.licence
    assert f"`{engine.name}`" in (repository / "docs" / "operate" / "engines-install.md").read_text()


def test_every_driver_is_in_the_docs(repository: Path):
    text = (repository / "docs" / "operate" / "engines-install.md").read_text()
    assert [group.name for group in engine_groups() if not group.default and f"`{group.name}`" not in text] == []


def test_the_list_names_no_host():
    assert "://" not in files("benchagent.engines").joinpath(LOCK_NAME).read_text()


@pytest.mark.parametrize(
    ("package_version", "version"),
    [("1:10.11.19-0+deb12u1", "10.11.19"), ("15.20-0+deb12u1", "15.20"), ("3.0.11.33637.ds4-2+deb12u1", "3.0.11")],
)
def test_a_package_decides_the_exact_version(package_version: str, version: str):
    engine = catalogue()["mariadb-10.11"]
    assert engine.exact_version({engine.version_from: package_version}) == version
