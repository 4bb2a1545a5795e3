"""Trials of engines; each keeps everything below one temporary folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from benchagent.java import JavaToolchain

from tests.benchagent.dbms.trial import Trial
from tests.benchagent.small import make_smaller

MakeTrial = Callable[..., Trial]


@pytest.fixture
def make_trial(toolchain: JavaToolchain) -> Iterator[MakeTrial]:
    """`make_trial("derby", "10.6.2.1", {...}, log_apart=True)`: a provisioned instance, gone with the test."""
    with trials(toolchain) as make:
        yield make


@contextmanager
def trials(toolchain: JavaToolchain) -> Iterator[MakeTrial]:
    """What makes trials that are gone at the end."""
    root = Path(tempfile.mkdtemp(prefix="benchagent-trial-"))
    root.chmod(0o755)
    made: list[Trial] = []

    def make(slug: str, version: str, settings: dict[str, str], **more: Any) -> Trial:
        trial = Trial(root / str(len(made)), toolchain, slug, version, settings, **more)
        made.append(trial)
        return trial

    with pytest.MonkeyPatch.context() as patch:
        make_smaller(patch)
        yield make
    for trial in made:
        trial.close()
    shutil.rmtree(root)
