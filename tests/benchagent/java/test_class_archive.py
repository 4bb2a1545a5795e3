"""The archive of classes makes a JVM start sooner and changes nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchagent.dbms.embedded import jars
from benchagent.java import JavaRuntime, LoadGenerator
from benchagent.java.toolchain import ClassArchive

from tests.benchagent.java.test_compile import LOADGEN, answer, runtimes


@pytest.fixture(scope="module")
def class_path(toolchain) -> list[Path]:
    return toolchain.loadgen_class_path()


@pytest.fixture(scope="module", params=runtimes(), ids=lambda java: f"java-{java.major}")
def java(request) -> JavaRuntime:
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("classes")


@pytest.fixture(scope="module")
def archive(java, class_path, folder) -> Path:
    made = ClassArchive(java, class_path, folder).made()
    assert made is not None
    return made


def loaded(java: JavaRuntime, class_path: list[Path], archive: Path) -> str:
    """What a JVM with this archive says of each class that it loads. The job, which it does not understand, is done."""
    said, status = answer(java, class_path, "no job", "-Xlog:class+load", f"-XX:SharedArchiveFile={archive}")
    assert status == 1
    assert '"event":"error"' in said
    (main,) = [line for line in said.splitlines() if f" {LOADGEN} source:" in line]
    return main


def test_the_load_generators_classes_come_out_of_it(java, class_path, archive):
    assert "shared objects file" in loaded(java, class_path, archive)


def test_a_jvm_that_it_does_not_fit_passes_over_it(java, class_path, archive, tmp_path):
    for content in (b"", b"no archive", archive.read_bytes()[:5000]):
        other = tmp_path / "other.jsa"
        other.write_bytes(content)
        assert "shared objects file" not in loaded(java, class_path, other)
    moved = tmp_path / "moved.jar"
    moved.write_bytes(class_path[0].read_bytes())
    assert "shared objects file" not in loaded(java, [moved, *class_path[1:]], archive)


def scripted(folder: Path, script: str) -> JavaRuntime:
    """A runtime that is a shell script and notes in the file "asked" each time that it is started."""
    for part in ("bin", "lib"):
        (folder / "home" / part).mkdir(parents=True)
    (folder / "home" / "lib" / "classlist").touch()
    java = folder / "home" / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho asked >> {folder}/asked\n{script}\n")
    java.chmod(0o755)
    return JavaRuntime(java, "17.0.1")


def test_it_is_made_once_for_each_class_path_and_anew_for_a_changed_jar(class_path, tmp_path):
    makes = 'for word; do case $word in -XX:SharedArchiveFile=*) echo made > "${word#*=}" ;; esac; done'
    java, archives = scripted(tmp_path, makes), tmp_path / "classes"
    (own := tmp_path / "own.jar").write_bytes(class_path[0].read_bytes())

    def made() -> list[Path | None]:
        return [ClassArchive(java, path, archives).made() for path in (class_path, [own], class_path, [own])]

    before = made()
    os.utime(own, (1, 1))
    after = made()
    assert before[:2] == before[2:] and after[:2] == after[2:] and before[0] == after[0]
    assert {*before, *after} == {*archives.iterdir()}, "no draft is left"
    assert (tmp_path / "asked").read_text() == 3 * "asked\n"


def test_a_runtime_that_makes_none_is_asked_once(class_path, tmp_path):
    java = scripted(tmp_path, "exit 1")
    assert [ClassArchive(java, class_path, tmp_path / "classes").made() for _ in range(2)] == [None, None]
    assert (tmp_path / "asked").read_text() == "asked\n"


def test_there_is_none_where_it_cannot_be_kept_or_made(class_path, tmp_path):
    java = runtimes()[0]
    (tmp_path / "file").touch()
    for where, path, folder in (
        (java, class_path, tmp_path / "file" / "classes"),
        (java, [*class_path, tmp_path], tmp_path),  # a folder is no jar
        (java, [*class_path, tmp_path / "gone.jar"], tmp_path),
        (JavaRuntime(tmp_path / "gone", "17.0.1"), class_path, tmp_path),
    ):
        assert ClassArchive(where, path, folder).made() is None
    gone = ClassArchive(java, [tmp_path / "gone.jar"], tmp_path)
    gone.keep(tmp_path / "file")
    assert gone.options(tmp_path / "notes") == []


def test_a_session_writes_down_what_it_loads_and_the_next_has_its_lambdas_in_the_archive(
    toolchain, class_path, tmp_path, monkeypatch
):
    """Of the load generator's own run to its end, over an engine that needs no server."""
    archives = tmp_path / "classes"
    monkeypatch.setattr(toolchain, "class_archive", lambda path: ClassArchive(toolchain.java(), path, archives))
    job = {"version": 1, "connection": {"url": "jdbc:sqlite::memory:"}, "steps": []}
    (tmp_path / "temp").mkdir()
    (tmp_path / "tmp").symlink_to(tmp_path / "temp")  # as of an engine inside the load generator

    def session() -> str:
        generator = LoadGenerator(toolchain, jars(toolchain, "sqlite"), cwd=tmp_path)
        generator.start(job)
        assert [event for event in generator.events() if event["event"] == "error"] == []
        assert generator.abort(10) == 0
        return generator.command_line

    assert f"-XX:DumpLoadedClassList={tmp_path}/loaded-classes" in session()
    (noted,) = archives.iterdir()
    assert "@lambda-proxy benchsite/loadgen/Main " in noted.read_text()
    assert "-XX:SharedArchiveFile=" in session()
    archive, names = sorted(archives.iterdir(), reverse=True)
    assert (archive.suffix, names.suffix) == (".jsa", ".classes")
    path = [*class_path, *jars(toolchain, "sqlite")]
    said, _ = answer(toolchain.java(), path, "no job", "-Xlog:class+load", f"-XX:SharedArchiveFile={archive}")
    (of_main,) = [line for line in said.splitlines() if f" {LOADGEN}$$Lambda" in line]
    assert "shared objects file" in of_main


def test_nothing_but_names_is_taken_of_what_a_session_wrote_down(class_path, tmp_path):
    (tmp_path / "notes").write_text(
        "# a comment\njava/lang/Object id: 0\njava/util/List\nEvil id: 7 super: 0 source: /tmp/evil.jar\n"
        "@lambda-proxy a/B run ()Ljava/lang/Runnable;\n@other x\n../../etc\n"
    )
    kept = ClassArchive(runtimes()[0], class_path, tmp_path / "classes")
    kept.keep(tmp_path / "notes")
    (noted,) = (tmp_path / "classes").iterdir()
    names = "java/lang/Object\njava/util/List\n@lambda-proxy a/B run ()Ljava/lang/Runnable;\n"
    assert noted.read_text() == names
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    noted.unlink()
    kept.keep(tmp_path / "link")
    assert list((tmp_path / "classes").iterdir()) == [], "what a session put there may be a link to anything"
