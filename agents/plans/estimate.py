"""How long runs take: from earlier runs of the same engine and size where there are any, else from a stated rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchagent.catalog import WORKLOADS
from benchagent.catalog.factors import SETTLED_AFTER_S
from benchagent.catalog.space import DIVISORS, data_bytes, needed_bytes
from django.contrib.auth.models import AnonymousUser

from agents.machines import Engine
from agents.models import Agent
from agents.plans.matrix import FactorValue
from agents.plans.plan import Plan, lacks_of, number_of
from runs.formatting import size_words
from runs.models import Run
from runs.models.visible import Reader

# Guesses for an engine that has not run here yet: rows loaded a second, speeds of backups, all around load and window.
LOAD_ROWS_PER_S = 50_000
BACKUP_MB_PER_S = 60
RESTORE_MB_PER_S = 50
OVERHEAD_S = 4.0
EARLIER_RUNS = 5
MENTIONED_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Estimate:
    workload: str
    runs: int
    seconds: float
    guessed: tuple[str, ...]
    # The space of the largest cell, as an agent asks for it; what machines lack, a line each.
    space_bytes: float = 0
    data_bytes: float = 0
    lacking: tuple[str, ...] = ()
    at_most: bool = False
    warm_up_s: float = SETTLED_AFTER_S

    @property
    def warnings(self) -> list[str]:
        """What machines lack, and a warm-up that is too short, a line each."""
        short = (
            f"A warm-up of {self.warm_up_s:g} s is short: under {SETTLED_AFTER_S} s the load generator's code is still "
            "being compiled in the measured window."
        )
        return [*self.lacking, *([short] if self.warm_up_s < SETTLED_AFTER_S else [])]

    @property
    def words(self) -> str:
        most = "at most " if self.at_most else ""
        sizes = [size_words(size_bytes / 1e6) for size_bytes in (self.space_bytes, self.data_bytes)]
        room = f", about {sizes[0]} of space, of which the data take {sizes[1]}"
        space = room if self.space_bytes >= MENTIONED_BYTES else ""
        return f"{most}{self.runs} {'run' if self.runs == 1 else 'runs'}, {about(self.seconds)}{space}"

    @property
    def basis(self) -> str:
        if not self.guessed:
            return "From earlier runs of the same engines at this scale."
        speeds = f"Load time guessed at {LOAD_ROWS_PER_S:,} rows/s"
        if self.workload == "backup":
            speeds += f", backups at {BACKUP_MB_PER_S} MB/s, one restore at {RESTORE_MB_PER_S} MB/s"
        where = "workload at this size" if WORKLOADS[self.workload].size_factor else "workload"
        return f"{speeds} for {', '.join(self.guessed)}: no earlier run of this {where}."


def estimate(plan: Plan, *, user: Reader | None = None) -> Estimate:
    """From what `user` (None: a stranger) may see listed: how long somebody's private runs took is theirs to know."""
    guessed: list[str] = []
    by_machine: dict[Agent | None, float] = defaultdict(float)
    around: dict[tuple[Engine, object], float | None] = {}
    space_bytes: dict[tuple[Agent | None, str], int] = defaultdict(int)
    largest_bytes = 0.0
    size = WORKLOADS[plan.workload].size_factor
    cells = plan.cells()
    for cell in cells:
        key = cell.engine, cell.factors.get(size.name) if size else None
        first = key not in around
        if first:
            earlier = _earlier(plan.workload, cell.engine, cell.factors, user or AnonymousUser())
            around[key] = _around_s(earlier)
        known_s = around[key]
        if known_s is None:
            guessed.append(cell.engine.label)
            loads = plan.repeats if cell.factors.get("data_origin", "fresh") == "fresh" else int(first)
            by_machine[cell.agent] += _guessed_s(plan.workload, cell.factors, loads=loads, backups=plan.repeats)
        around_s = OVERHEAD_S if known_s is None else known_s
        by_machine[cell.agent] += plan.repeats * (around_s + window_s(cell.factors))
        if not cell.engine.connection:  # there the server's space counts, of which nothing is known here
            where = cell.agent, str(cell.factors.get("data_storage", "")) or "default"
            needed = needed_bytes(plan.workload, cell.engine.dbms, cell.factors)
            space_bytes[where] = max(space_bytes[where], needed)
            largest_bytes = max(largest_bytes, data_bytes(plan.workload, cell.engine.dbms, cell.factors))
    return Estimate(
        plan.workload, plan.run_count, max(by_machine.values(), default=0.0), tuple(dict.fromkeys(guessed)),
        max(space_bytes.values(), default=0), largest_bytes, tuple(_lacking(plan, space_bytes)), plan.stop is not None,
        min((number_of(cell.factors, "warm_up_s") for cell in cells if "warm_up_s" in cell.factors),
            default=SETTLED_AFTER_S),
    )  # fmt: skip


def _lacking(plan: Plan, space_bytes: Mapping[tuple[Agent | None, str], int]) -> Iterator[str]:
    """What each machine that may run it lacks, a line each."""
    for agent in plan.candidates:
        lacks = lacks_of(plan, agent)
        for (where, storage), needed in space_bytes.items():
            if where in (None, agent):
                lacks += _space_lacking(agent, storage, needed)
        if agent.is_paused or not agent.is_online:
            lacks.append(f"presence: it is {agent.pause_words or 'offline'}")
        if lacks:
            yield f"{agent.name} lacks {', '.join(lacks)}."


def _space_lacking(agent: Agent, storage: str, needed: int) -> list[str]:
    """By what it last told of the storage."""
    free = {place["name"]: place["free_bytes"] for place in agent.places if not place["problem"]}
    if (there := free.get(storage)) is None or there >= needed:
        return []
    return [f"space on storage {storage} ({size_words(there / 1e6)} of {size_words(needed / 1e6)})"]


def space_lacking(agent: Agent, run: Run) -> str:
    """The space that the machine has not for a scheduled run, which fails for it at once; empty where it has."""
    spec = run.job.spec
    needed = 0 if spec.get("connection") else needed_bytes(spec["workload"], spec["dbms"], spec["factors"])
    return ", ".join(_space_lacking(agent, str(spec["factors"].get("data_storage", "")) or "default", needed))


def before_window_s(run: Run) -> float:
    """Expected time from the start of a scheduled run to its warm-up, and from its window to its end, together.

    As runs of the same engine and size took; else as those of other sizes did, with the load of this size guessed.
    """
    spec, user = run.job.spec, run.owner or AnonymousUser()
    workload, engine, factors = spec["workload"], Engine(spec["dbms"], spec["dbms_version"]), spec["factors"]
    known_s = _around_s(_earlier(workload, engine, factors, user))
    if known_s is not None:
        return known_s
    others = _earlier(workload, engine, {}, user)
    of_others_s = _around_s(others)
    if of_others_s is None:
        return OVERHEAD_S + _guessed_s(workload, factors)
    loads_s = median(_guessed_s(workload, other.job.spec["factors"]) for other in others)
    return max(OVERHEAD_S, of_others_s - loads_s) + _guessed_s(workload, factors)


def window_s(factors: Mapping[str, FactorValue]) -> float:
    return float(sum(number_of(factors, name) for name in ("warm_up_s", "duration_s", "settle_s")))


def _guessed_s(workload: str, factors: Mapping[str, FactorValue], *, loads: int = 1, backups: int = 1) -> float:
    """Loads, backups where there are any, and one restore of them: that is done once per cell."""
    size = WORKLOADS[workload].size_factor if workload in WORKLOADS else None
    units = max(1, number_of(factors, size.name)) / DIVISORS.get(str(factors.get("warehouse_rows")), 1) if size else 0
    rows = units * size.rows_each if size else 0
    backed_up_mb = number_of(factors, "dataset_mb")
    return loads * rows / LOAD_ROWS_PER_S + backups * backed_up_mb / BACKUP_MB_PER_S + backed_up_mb / RESTORE_MB_PER_S


def _earlier(workload: str, engine: Engine, factors: Mapping[str, FactorValue], user: Reader) -> list[Run]:
    """The latest finished runs of this engine at the scale of these factors; at any where they name none."""
    earlier = (
        Run.objects.with_values()
        .listed_for(user)
        .filter(
            job__isnull=False,
            workload__kind=workload,
            dbms_version__dbms__slug=engine.dbms,
            dbms_version__version=engine.version,
            started_at__isnull=False,
            finished_at__isnull=False,
        )
    )
    size = WORKLOADS[workload].size_factor if workload in WORKLOADS else None
    if size and size.name in factors:
        earlier = earlier.filter(factors__name=size.name, factors__number=number_of(factors, size.name))
    return list(earlier.select_related("job").order_by("-created_at")[:EARLIER_RUNS])


def _around_s(earlier: Sequence[Run]) -> float | None:
    """Median time around the window."""
    around = [
        (run.finished_at - run.started_at).total_seconds() - window_s(run.job.spec["factors"])
        for run in earlier
        if run.started_at and run.finished_at
    ]
    return max(0.0, median(around)) if around else None


def about(seconds: float) -> str:
    """`about 50 seconds`, `about 5 minutes`, `about 2 hours 30 minutes`, `about 3 days`."""
    if seconds < 90:
        return f"about {max(5, 5 * round(seconds / 5))} seconds"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"about {minutes} minutes"
    hours, rest = divmod(5 * round(minutes / 5), 60)
    if hours < 48:
        return f"about {hours} {'hour' if hours == 1 else 'hours'}" + (f" {rest} minutes" if rest else "")
    return f"about {round(hours / 24)} days"
