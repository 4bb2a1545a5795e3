"""Less work for tests that hold an engine to what it does, not to how fast it does it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from benchagent.java import loadgen, toolchain
from benchagent.java.toolchain import JavaRuntime
from benchagent.workloads import inserts_selects, tpcb
from benchagent.workloads.backup import dataset

from tests.benchagent.made_data import copy_data_directories

ACCOUNTS = 1_000
INSERTED_TABLES = inserts_selects.TABLES[:8]
# Of runs that are not about speed: at their own pace their terminals would take all of the machine. 0 is that pace.
RATE_PER_S, FULL_SPEED = 50, 0
SMALL_TABLES, SHARE = 12, 5
QUICK_JVM = (
    # Code that runs for two seconds does not earn back what the optimizing compiler takes, and what runs some hundred
    # times not what the other takes.
    "-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=4",
    # New objects go where those before them were: memory that is touched for the first time is dear.
    "-XX:+UseSerialGC", "-Xmn4m",
)  # fmt: skip


def make_smaller(patch: pytest.MonkeyPatch) -> None:
    """A hundredth of the accounts of a branch, a fifth of the tables for inserts, JVMs that start sooner, and data
    directories that are copies."""
    start_sooner(patch)
    copy_data_directories(patch)
    patch.setattr(tpcb, "ACCOUNTS", ACCOUNTS)
    patch.setattr(inserts_selects, "TABLES", INSERTED_TABLES)


def start_sooner(patch: pytest.MonkeyPatch) -> None:
    usual = loadgen.jvm_options

    def options(java: JavaRuntime, **more: object) -> Sequence[str]:
        # Drivers that format dates read Java's own locale, not all of CLDR. From this version on Java advises against.
        locale = ["-Djava.locale.providers=COMPAT"] if java.major < 21 else []
        return [*usual(java, **more), *QUICK_JVM, *locale]

    patch.setattr(loadgen, "jvm_options", options)


def make_no_archives(patch: pytest.MonkeyPatch) -> None:
    """Of classes that are loaded once or twice: an archive that is there already is used, as by any session."""

    def impossible(*_: object) -> Path:
        raise OSError("not worth it")

    patch.setattr(toolchain.ClassArchive, "_write", impossible)


def make_backups_smaller(patch: pytest.MonkeyPatch) -> None:
    """Fifteen tables instead of 150, and a fifth of the rows."""
    patch.setattr(dataset, "SMALL_TABLES", SMALL_TABLES)
    patch.setattr(dataset, "ARTICLE_MB", SHARE * dataset.ARTICLE_MB)
