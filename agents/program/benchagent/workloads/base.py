"""What a workload has to offer: it performs on a bench, step by step, and checks the integrity of its data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from benchagent.catalog import WORKLOADS, FactorKind, number_in
from benchagent.catalog.space import needed_bytes
from benchagent.dbms.backup import ToolCommand
from benchagent.dbms.base import Instance, JobError
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.probes import Step
from benchagent.protocol import Check

Observe = Callable[[int], None]
COUNTED_BEFORE = (
    "the DBMS was started on data that were not in the page cache; before the run it read what the checks count"
)


class Factors:
    """All factors of a job, defaults filled in, each of the type that the catalogue says.

    `absent`: the value of one that the workload does not have. `dbms` is empty where it is not known yet.
    """

    def __init__(self, values: Mapping[str, int | float | str], dbms: str = "") -> None:
        self._values, self.dbms = dict(values), dbms

    def number(self, name: str, absent: int | None = None) -> int:
        return int(self._values[name] if absent is None else self._values.get(name, absent))

    def decimal(self, name: str, absent: float | None = None) -> float:
        return float(self._values[name] if absent is None else self._values.get(name, absent))

    def text(self, name: str, absent: str | None = None) -> str:
        return str(self._values[name] if absent is None else self._values.get(name, absent))

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def needed_bytes(self, workload: str) -> int:
        """The disk that a workload of the catalogue needs with them."""
        return needed_bytes(workload, self.dbms, self._values)

    def replaced(self, **values: int | float | str) -> Factors:
        return Factors({**self._values, **values}, self.dbms)


@dataclass
class SessionResult:
    """What one session of the load generator has reported. `summary` is None when it held no ``run`` step.

    `rows`: rows of each ``query`` step by name; `queries`: the whole event of each (``elapsed_s``, ``row_count``,
    ``error``); `phases`: the end event of each phase; `progress`: the events of a load, in order; `error`: the event
    that says why it broke off.
    """

    summary: Mapping[str, Any] | None = None
    rows: dict[str, list[list[Any]]] = field(default_factory=dict)
    queries: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    phases: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    progress: list[Mapping[str, Any]] = field(default_factory=list)
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ToolResult:
    elapsed_s: float
    output: str


class Bench(Protocol):
    """What a job offers to its workload. Everything raises `JobError` or `Aborted`; nothing has to be cleaned up."""

    instance: Instance
    factors: Factors
    seed: int
    # How the data come: "fresh", "restored" or "continued". With the last two the data are there already, unless
    # `data_missing`.
    data_missing: bool
    # The repeat of the same cell that has proven what is proven once per cell; None: nobody has yet.
    verified_in_repeat: int | None
    # Where data, backups and files for a while lie in this job.
    data_dir: Path
    backup_dir: Path
    temp_dir: Path

    def session(self, steps: Sequence[Step], *, watch: str = "", url: str = "") -> SessionResult:
        """Run steps of the load generator in one process, which for an embedded engine is one start of it.

        A ``run`` step is measured: seconds go to the server at once, counters are read around its window, and what
        the settings in force are is asked before it. An engine in memory has one session only. `watch`: name of a
        phase without a ``run`` whose CPU, memory and disk are sampled. `url`: another database than the instance's.
        """

    def data_loaded(self) -> None:
        """Say that the data are there: they are kept for later repeats where that was asked for."""

    def before_run(self, control: str = "") -> None:
        """Between load and run: rest, restart with cold caches, whatever the factors ask for.

        `control`: name of a measurement beside that of the run, which gets the same; the circumstances of the run stay.
        """

    def restart(self, *, cold: bool, before: str) -> None:
        """Start the DBMS anew; `cold`: with nothing of its files in the page cache, as far as that can be done.

        `before`: what it is done for, for the log. The circumstances of the run stay as they are.
        """

    def tool(self, command: ToolCommand, *, phase: str, timeout_s: float, observe: Observe | None = None) -> ToolResult:
        """Run a tool to its end, sampled each second. A job that is cancelled kills it.

        `observe`: told the tool's process soon after its begin and then once a second.
        """

    def unmeasured(self) -> AbstractContextManager[None]:
        """Emulated disks are at full speed in the block."""

    def own(self, folder: Path) -> None:
        """Hand a folder over to the user that DBMS and tools run as."""

    def write_back(self, *folders: Path) -> float:
        """Bring to the disks what was written to the file systems of the folders, by anybody; the seconds that took."""

    def metric(self, name: str, value: float, phase: str) -> None: ...

    def check(self, check: Check) -> None:
        """A check that is not ok fails the run, once it has ended."""

    def warn(self, words: str) -> None: ...

    def log(self, line: str) -> None: ...

    def condition(self, name: str, words: str) -> None:
        """Something about the circumstances of the run, in words."""

    def describe(self, part: str, value: Any) -> None:
        """Add to the statistics of the result: tables, indexes, queries, … (see `protocol.EngineReport`)."""


def load_and_run(
    bench: Bench,
    prepare: Sequence[Step],
    run: Sequence[Step] | Callable[[], Sequence[Step]],
    *,
    before: Sequence[Step] = (),
) -> SessionResult:
    """Load, unless the data are there, then run: in two sessions, so that every run starts on a fresh load generator.

    `before`: what is asked of the data that the run starts on. It reads them, and so it comes before the caches are
    made what they shall be. `run`: a function is called when the data are there and, with them, the settings in force
    are known; of an engine in memory before.
    """
    steps = run if callable(run) else lambda: run
    if bench.instance.in_memory:
        require_one_session(bench)
        return bench.session([*prepare, *before, *steps()])
    answers: QueryRows = {}
    if bench.data_missing:
        answers = bench.session([*prepare, *before]).rows
        bench.data_loaded()
    elif before:
        answers = bench.session(before).rows
        if bench.factors.text("cache_state") != "cold":
            bench.condition("caches", COUNTED_BEFORE)
    asked_to_run = steps()
    bench.before_run()
    result = bench.session(asked_to_run)
    return replace(result, rows={**answers, **result.rows})


def is_used(bench: Bench) -> bool:
    """Whether the data are those that another run has left, and not as they were loaded."""
    return not bench.data_missing and bench.factors.text("data_origin") == "continued"


def require_one_session(bench: Bench) -> None:
    """What an engine in memory cannot do between load and run. Raises `JobError`."""
    if bench.factors.text("cache_state") == "cold":
        raise JobError("a database in memory cannot be started anew: there are no cold caches")
    if bench.factors.number("settle_s"):
        bench.warn("no rest before the run: a database in memory is loaded and used in one session")


class Workload(ABC):
    """`data_factors`: those that decide what is loaded; runs that agree in them may share a copy of the data.

    `foreign_sql`: its SQL is written by whoever schedules it, so the data are a `dbms.base.Guest`'s.
    """

    slug: str
    data_factors: Sequence[str] = ()
    foreign_sql = False

    def factors(self, given: Mapping[str, int | float | str], dbms: str = "") -> Factors:
        """All factors of the catalogue, defaults filled in. Raises `JobError` for a value that cannot be.

        What one factor decides for another on this DBMS is settled here, once: a size in MB becomes a number of rows.
        """
        values: dict[str, int | float | str] = {}
        for factor in WORKLOADS[self.slug].factors:
            value = given.get(factor.name, factor.default)
            if factor.kind == FactorKind.NUMBER and isinstance(value, str):
                value = number_in(value)  # from a command line
            if refusal := factor.refusal(value):
                raise JobError(f"{refusal.rstrip('.')}, not {value!r:.80}")
            values[factor.name] = value if isinstance(value, int | float) else str(value)
        return Factors(values, dbms)

    @abstractmethod
    def perform(self, bench: Bench) -> None:
        """Create, load, run, check."""

    def tables(self, factors: Factors) -> Sequence[str]:
        """Tables whose statistics are taken after the run."""
        return ()

    def reading(self, factors: Factors) -> frozenset[str]:
        """Names of the transactions that change nothing: their commits have no disk to wait for."""
        return frozenset()

    def foreign_text(self, factors: Factors) -> str:
        """The SQL that is not ours, to be looked through for settings of its sessions."""
        return ""

    def dataset(self, factors: Factors, seed: int) -> dict[str, Any]:
        """What is loaded: generator, its version, seed, rows per table."""
        version = WORKLOADS[self.slug].version
        return {"generator": self.slug, "generator_version": version, "seed": seed, **self.loaded(factors)}

    @abstractmethod
    def loaded(self, factors: Factors) -> dict[str, Any]:
        """`rows` by table, and what else says how the data are made."""

    @abstractmethod
    def disk_bytes(self, factors: Factors) -> int:
        """Space needed at most, roughly: checked before the start."""
