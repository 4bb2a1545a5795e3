"""`python -m benchagent.java.junit --cache DIR`: the load generator's own unit tests, out of a checkout.

Prints the test tree; the last line is `java: N passed, N failed, N skipped`. Needs a Java runtime only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from benchagent.java.jars import tool_jars
from benchagent.java.loadgen import jvm_options
from benchagent.java.toolchain import SHORT_LIVED, JavaToolchain, compile_sources, source_dir

# Real engines for the tests that need one: one in memory, one with explicit BEGIN and COMMIT.
ENGINES = ("h2", "sqlite")
HEAP_MB = 512
CONSOLE = ["org.junit.platform.console.ConsoleLauncher", "execute", "--include-engine=junit-jupiter"]
PLAIN = ["--disable-banner", "--disable-ansi-colors", "--details=tree", "--details-theme=ascii"]


def class_path(toolchain: JavaToolchain) -> list[Path]:
    """The load generator, JUnit, the engines."""
    engines = [group for group in toolchain.engine_groups() if group.dbms in ENGINES and group.default]
    jars = [jar for group in engines for jar in toolchain.class_path(group)]
    return [*toolchain.loadgen_class_path(), *toolchain.store.files(tool_jars("junit")), *jars]


def run(toolchain: JavaToolchain, sources: Sequence[Path], scratch: Path) -> tuple[int, int, int]:
    """Compile and run in `scratch`; how many passed, failed and were skipped."""
    java, jars = toolchain.java(), class_path(toolchain)
    classes, reports, temporary = scratch / "classes", scratch / "reports", scratch / "tmp"
    for folder in (classes, temporary):
        folder.mkdir()
    compile_sources(java, toolchain.store, sources, jars, classes)
    path = os.pathsep.join(map(str, [classes, *jars]))
    options = [*jvm_options(java, heap_mb=HEAP_MB, temporary=temporary), *SHORT_LIVED, "-XX:+UseSerialGC"]
    scan = [f"--scan-class-path={classes}", f"--reports-dir={reports}", "--fail-if-no-tests"]
    done = subprocess.run([str(java.path), *options, "-cp", path, *CONSOLE, *PLAIN, *scan], cwd=scratch, check=False)
    passed, failed, skipped = counts(reports)
    if done.returncode != 0 and failed == 0:
        failed = 1
    return passed, failed, skipped


def counts(reports: Path) -> tuple[int, int, int]:
    suites = [ElementTree.parse(report).getroot() for report in reports.glob("*.xml")]  # noqa: S314
    total, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures", "errors", "skipped")
    )
    return total - failures - errors - skipped, failures + errors, skipped


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchagent.java.junit", description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="folder for jars and classes")
    toolchain = JavaToolchain(parser.parse_args().cache.resolve())
    print(f"Java {toolchain.java().version}", flush=True)
    tests = sorted((source_dir().parents[1] / "test" / "java").rglob("*.java"))
    with tempfile.TemporaryDirectory(prefix="benchagent-junit-") as scratch:
        passed, failed, skipped = run(toolchain, tests, Path(scratch))
    print(f"java: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
