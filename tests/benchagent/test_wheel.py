"""The agent as a distribution: its wheel alone, in an empty virtual environment, with nothing but what it declares."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from benchagent.java import JavaToolchain

pytestmark = pytest.mark.engines


def closure(name: str) -> set[str]:
    """Names of the distributions that `name` needs, directly or not, with the extras it asks for."""
    found: set[str] = set()
    waiting = [(name, "")]
    while waiting:
        current, extras = waiting.pop()
        for requirement in distribution(current).requires or []:
            words = re.match(r"([\w.-]+)(?:\[([^]]*)\])?", requirement)
            assert words is not None
            marker = requirement.partition(";")[2]
            if "extra" in marker and not any(f'"{extra}"' in marker for extra in extras.split(",") if extra):
                continue
            try:
                distribution(words[1])
            except PackageNotFoundError:
                continue  # for another platform
            if words[1].lower() not in found or words[2]:
                found.add(words[1].lower())
                waiting.append((words[1], words[2] or ""))
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory, repository: Path) -> Path:
    """The interpreter of a fresh environment into which the wheel went; its needs are linked from ours."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*build, str(repository / "agents" / "program")], check=True)
    (wheel,) = folder.glob("benchagent-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    python = folder / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", str(wheel)]
    subprocess.run(install, check=True)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    for name in closure("benchagent"):
        for file in distribution(name).files or []:
            top = packages / file.parts[0]
            source = Path(str(distribution(name).locate_file(file.parts[0])))
            if file.parts[0] != ".." and not top.exists() and source.exists():
                top.symlink_to(source)
    return python


def run(python: Path, code: str) -> str:
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_it_imports_without_django(python: Path):
    code = (
        "import importlib.util, pkgutil, benchagent\n"
        "assert importlib.util.find_spec('django') is None\n"
        "names = [m.name for m in pkgutil.walk_packages(benchagent.__path__, 'benchagent.')]\n"
        "for name in names: '__main__' in name or __import__(name)\n"
        "print(benchagent.__file__, len(names))"
    )
    place, count = run(python, code).split()
    assert Path(place).is_relative_to(python.parent.parent)
    assert int(count) > 30


def test_it_carries_the_java_sources(python: Path, tmp_path: Path, toolchain: JavaToolchain):
    """All of ours: their hash is that of ours, whose classes are there, and so nothing is left to compile."""
    toolchain.loadgen_class_path()
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "cache").symlink_to(toolchain.folder)
    command = [python.parent / "benchagent", "prepare", "--state", tmp_path / "agent"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    assert "compiling" not in done.stdout


def test_it_lists_the_engines(python: Path, tmp_path: Path):
    command = [python.parent / "benchagent", "engines", "--state", tmp_path / "agent"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert "SQLite" in done.stdout, done.stderr
    assert "derby-10.6.2.1" in done.stdout
