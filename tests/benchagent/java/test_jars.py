from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from benchagent.java import JarChecksumError, jars, lock
from benchagent.java.jars import Jar, JarStore, engine_groups, sha256_of, tool_jars

NO_SUM = "0" * 64


@pytest.fixture
def offline(monkeypatch):
    def refuse(coordinate, folder):
        raise AssertionError(f"{coordinate} would be fetched")

    monkeypatch.setattr(jars, "resolve", refuse)


@pytest.fixture
def stocked(toolchain, tmp_path):
    """A store of its own that holds the load generator's jars."""
    for path in toolchain.store.files(tool_jars("loadgen")):
        target = tmp_path / path.relative_to(toolchain.store.folder)
        target.parent.mkdir(parents=True)
        shutil.copy(path, target)
    return JarStore(tmp_path)


def test_it_fetches_nothing_that_is_there(stocked, offline):
    said: list[str] = []
    assert [path.name for path in stocked.files(tool_jars("loadgen"), said.append)] == [
        jar.file_name for jar in tool_jars("loadgen")
    ]
    assert said == []


def test_it_refuses_a_changed_jar(stocked, offline):
    pinned = tool_jars("loadgen")[0]
    path = stocked.files([pinned])[0]
    with path.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(JarChecksumError) as refused:
        stocked.files(tool_jars("loadgen"))
    assert str(path) in str(refused.value)
    assert sha256_of(path) in str(refused.value)
    assert pinned.sha256 in str(refused.value)


def test_it_refuses_what_was_fetched_with_another_sum(monkeypatch, tmp_path):
    def wrong(coordinate, folder):
        path = folder / "wrong.jar"
        path.write_bytes(b"something else")
        return path

    monkeypatch.setattr(jars, "resolve", wrong)
    with pytest.raises(JarChecksumError, match=NO_SUM):
        JarStore(tmp_path).files([Jar("org.example:thing:1.0", NO_SUM)])


def test_a_fetch_that_breaks_off_leaves_nothing(monkeypatch, tmp_path):
    def broken(coordinate, folder):
        (folder / "half.jar").write_bytes(b"PK")
        raise ConnectionError("the network is gone")

    monkeypatch.setattr(jars, "resolve", broken)
    with pytest.raises(ConnectionError):
        JarStore(tmp_path).files([Jar("org.example:thing:1.0", NO_SUM)])
    assert [path for path in tmp_path.rglob("*") if path.is_file() or path.name.startswith(".")] == []


@pytest.mark.parametrize("group", engine_groups(), ids=lambda group: f"{group.dbms}-{group.version}")
def test_every_engine_version_has_a_class_path_of_its_own(toolchain, group):
    paths = toolchain.class_path(group)
    assert [path.name for path in paths] == [jar.file_name for jar in group.jars]
    for other in engine_groups():
        # One driver may serve two DBMSs.
        if other.dbms == group.dbms and other.version != group.version:
            assert not set(paths) & set(toolchain.class_path(other))


def test_every_engine_has_one_default_version():
    defaults = [group.dbms for group in engine_groups() if group.default]
    engines = {group.dbms for group in engine_groups() if not group.driver}
    assert sorted(defaults) == sorted({*engines, "postgresql"})


def test_it_takes_jars_out_of_a_folder(offline, stocked, tmp_path):
    jars = tool_jars("loadgen")
    source, store = tmp_path / "usb", tmp_path / "other"
    source.mkdir()
    store.mkdir()
    for path in stocked.files(jars):
        shutil.copy(path, source)
    made = JarStore(store)
    made.adopt(jars, source)
    assert len(made.files(jars)) == len(jars)


def test_it_takes_no_changed_jar_out_of_a_folder(offline, tmp_path):
    jar = tool_jars("loadgen")[0]
    (tmp_path / jar.file_name).write_bytes(b"something else")
    with pytest.raises(JarChecksumError, match=jar.file_name):
        JarStore(tmp_path / "store").adopt([jar], tmp_path)
    assert not (tmp_path / "store").exists()


def test_every_jar_is_pinned():
    groups = [
        *(group.jars for group in engine_groups()),
        *(tool_jars(name) for name in ("loadgen", "compiler", "junit", "derbynet")),
    ]
    for jar in (jar for group in groups for jar in group):
        assert len(jar.coordinate.split(":")) == 3
        assert len(jar.sha256) == 64


def test_it_pins_only_what_was_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A new entry has no checksum yet."""
    new = {"dbms": "mysql", "version": "9", "default": False, "driver": True, "jars": [{"coordinate": "a:new:9"}]}
    content = {"tools": {"loadgen": [{"coordinate": "a:tool:1", "sha256": NO_SUM}]}, "engines": [new]}
    path = tmp_path / "jars.lock.json"
    path.write_text(json.dumps(content))
    fetched = tmp_path / "fetched.jar"
    fetched.write_bytes(b"a jar")
    monkeypatch.setattr(lock, "resolve", lambda coordinate, folder: fetched)
    lock.main(["mysql-jdbc-9"], path)
    pinned = json.loads(path.read_text())
    assert pinned["engines"][0]["jars"] == [{"coordinate": "a:new:9", "sha256": sha256_of(fetched)}]
    assert pinned["tools"] == content["tools"]
    with pytest.raises(SystemExit, match="the list has no derby-1; it has loadgen, mysql-jdbc-9"):
        lock.main(["derby-1"], path)
