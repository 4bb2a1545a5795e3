"""A library that swallows syncs, as libeatmydata does, for tests: made by the C compiler where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = "int fsync(int file) { return 0; }\nint fdatasync(int file) { return 0; }\n"


def eater(folder: Path) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    source, library = folder / "eater.c", folder / "libeater.so"
    source.write_text(SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return library
