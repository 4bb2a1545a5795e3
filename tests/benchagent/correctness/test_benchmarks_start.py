"""The benchmarks of the measuring are started by themselves: what they import has to be importable in their order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["bench_confinement", "bench_driver", "bench_sampling", "bench_sysbench"])
def test_it_starts_and_says_what_it_can_be_asked(name: str, repository: Path):
    command = [sys.executable, "-m", f"benchmarks.{name}", "--help"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--warm-up" in done.stdout
