"""Factors that workloads have in common, for the entries of ours and of plug-ins: this module knows no DBMS."""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.catalog.model import FactorDef, FactorKind, Role

QUESTION, CONDITION, PROCEDURE = Role.QUESTION, Role.CONDITION, Role.PROCEDURE


def choice(
    name: str, label: str, role: Role, words: Mapping[str, str], help: str = "", *, optional: bool = True
) -> FactorDef:
    """The first choice is the default."""
    return FactorDef(
        name, label, kind=FactorKind.CHOICE, default=next(iter(words)), words=words, help=help, optional=optional,
        role=role,
    )  # fmt: skip


def storage(name: str, label: str, spoken: str) -> FactorDef:
    return FactorDef(
        name, label, kind=FactorKind.STORAGE, default="", spoken=spoken, optional=True, role=CONDITION
    )  # fmt: skip


def unless_0(
    name: str, label: str, unit: str, most: int, help: str, *, role: Role, zero: str, spoken: str = "",
    decimals: bool = False,
) -> FactorDef:  # fmt: skip
    """A number that was not asked for where it is 0, with the words for that."""
    return FactorDef(
        name,
        label,
        unit,
        0,
        0,
        most,
        help,
        words={"0": zero},
        spoken=spoken,
        optional=True,
        role=role,
        decimals=decimals,
    )


# Where the data lie and under which conditions: the same for every workload.
CONDITIONS = (
    storage("data_storage", "Data on storage", "data on {}"),
    storage("log_storage", "Transaction log on storage", "log on {}"),
    storage("temp_storage", "Temporary files on storage", "temp on {}"),
    choice(
        "data_origin",
        "Data", CONDITION,
        {"fresh": "fresh load", "restored": "restored copy", "continued": "left by the run before"},
        "loaded anew, a copy of what was loaded once, or what the run before has left",
    ),
    choice(
        "cache_state",
        "Caches at the start", CONDITION,
        {"warm": "warm caches", "cold": "cold caches", "preread": "files read before the run"},
        "cold: the DBMS is started anew and the page cache emptied before the warm-up; preread: its files are "
        "read into the page cache once, as far as a memory limit lets them stay",
    ),
    unless_0(
        "memory_limit_mb", "Memory limit", "MB", 16_000_000, "of the DBMS with its page cache, by cgroup; 0: none",
        role=CONDITION, zero="no memory limit",
    ),
    unless_0(
        "cpus", "CPUs", "CPUs", 1_024, "that DBMS, tools and driver may use; 0: all",
        role=CONDITION, zero="all CPUs", spoken="{}",
    ),
)  # fmt: skip

# How the engine commits and tidies up: an adapter translates them, or says that its engine has nothing of the kind.
KNOBS = (
    choice(
        "group_commit",
        "Group commit",
        CONDITION,
        {
            "": "commit group as configured",
            "off": "no commit group",
            **{str(commits): f"commit group {commits}" for commits in (2, 3, 4, 8)},
        },
        "how many commits may wait for one flush of the log; empty: as configured",
    ),
    choice(
        "background_maintenance",
        "Background maintenance",
        CONDITION,
        {"": "maintenance as configured", "on": "maintenance on", "off": "maintenance off"},
        "vacuum, sweep, purge, statistics; empty: as configured",
    ),
)
# The load generator's JVM has compiled what it runs.
SETTLED_AFTER_S = 10
LOADER_THREADS = FactorDef("loader_threads", "Loader threads", "connections", 2, 1, 64, optional=True, role=CONDITION)


def window(terminals: int) -> tuple[FactorDef, ...]:
    """Terminals and time of a workload of transactions."""
    return (
        FactorDef(
            "terminals", "Terminals", "connections", terminals, 1, 1_000, "each one connection, one thread",
            role=CONDITION,
        ),
        FactorDef(
            "warm_up_s", "Warm-up", "s", SETTLED_AFTER_S, 0, 3_600,
            f"{SETTLED_AFTER_S} s or more lets the JIT compiler settle",
            role=PROCEDURE, span=60,
        ),
        FactorDef("duration_s", "Measured window", "s", 30, 1, 86_400, role=PROCEDURE),
        unless_0(
            "settle_s", "Rest before the run", "s", 3_600, "between load and warm-up",
            role=CONDITION, zero="no rest before the run",
        ),
        unless_0(
            "rate_per_s", "Fixed rate", "transactions/s", 10_000_000,
            "latency then counts from when a transaction was due; 0: as fast as it goes",
            role=QUESTION, zero="no fixed rate", decimals=True,
        ),
        choice(
            "arrivals", "Arrivals at the fixed rate", QUESTION,
            {"poisson": "independent callers", "even": "callers at even distances"},
            "independent callers come in a Poisson process, now and then several at once",
        ),
    )  # fmt: skip
