"""How long runs take: from earlier runs of the same engine and size where there are any, else from a stated rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from benchagent.catalog import WORKLOADS
from django.contrib.auth.models import AnonymousUser

from agents.machines import Engine
from agents.plans.plan import FactorValue, Plan
from runs.models import Run
from runs.models.visible import Reader

# Guesses for an engine that has not run here yet: rows loaded a second, speeds of backups, all around load and window.
LOAD_ROWS_PER_S = 50_000
BACKUP_MB_PER_S = 60
RESTORE_MB_PER_S = 50
OVERHEAD_S = 4.0
# What the factor `warehouse_rows` makes of a unit.
PARTS = {"tenth": 10, "hundredth": 100}
EARLIER_RUNS = 5


@dataclass(frozen=True)
class Estimate:
    workload: str
    runs: int
    seconds: float
    guessed: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"{self.runs} {'run' if self.runs == 1 else 'runs'}, {about(self.seconds)}"

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
    seconds, guessed = 0.0, []
    around: dict[tuple[Engine, object], float | None] = {}
    size = WORKLOADS[plan.workload].size_factor
    for cell in plan.cells():
        key = cell.engine, cell.factors.get(size.name) if size else None
        first = key not in around
        if first:
            around[key] = _around_s(plan.workload, cell.engine, cell.factors, user or AnonymousUser())
        known_s = around[key]
        if known_s is None:
            guessed.append(cell.engine.label)
            loads = plan.repeats if cell.factors.get("data_origin", "fresh") == "fresh" else int(first)
            seconds += _guessed_s(plan.workload, cell.factors, loads=loads, backups=plan.repeats)
        around_s = OVERHEAD_S if known_s is None else known_s
        seconds += plan.repeats * (around_s + window_s(cell.factors))
    return Estimate(plan.workload, plan.run_count, seconds, tuple(dict.fromkeys(guessed)))


def before_window_s(run: Run) -> float:
    """Expected time from the start of a scheduled run to its warm-up, and from its window to its end, together."""
    spec = run.job.spec
    engine = Engine(spec["dbms"], spec["dbms_version"])
    known_s = _around_s(spec["workload"], engine, spec["factors"], run.owner or AnonymousUser())
    return OVERHEAD_S + _guessed_s(spec["workload"], spec["factors"]) if known_s is None else known_s


def window_s(factors: Mapping[str, FactorValue]) -> float:
    return float(sum(number_of(factors, name) for name in ("warm_up_s", "duration_s", "settle_s")))


def number_of(factors: Mapping[str, FactorValue], name: str) -> float:
    value = factors.get(name, 0)
    return 0 if isinstance(value, str) else value


def _guessed_s(workload: str, factors: Mapping[str, FactorValue], *, loads: int = 1, backups: int = 1) -> float:
    """Loads, backups where there are any, and one restore of them: that is done once per cell."""
    size = WORKLOADS[workload].size_factor if workload in WORKLOADS else None
    units = max(1, number_of(factors, size.name)) / PARTS.get(str(factors.get("warehouse_rows")), 1) if size else 0
    rows = units * size.rows_each if size else 0
    backed_up_mb = number_of(factors, "dataset_mb")
    return loads * rows / LOAD_ROWS_PER_S + backups * backed_up_mb / BACKUP_MB_PER_S + backed_up_mb / RESTORE_MB_PER_S


def _around_s(workload: str, engine: Engine, factors: Mapping[str, FactorValue], user: Reader) -> float | None:
    """Median time around the window in the latest finished runs of this engine at this scale."""
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
    latest = earlier.select_related("job").order_by("-created_at")[:EARLIER_RUNS]
    around = [
        (run.finished_at - run.started_at).total_seconds() - window_s(run.job.spec["factors"])
        for run in latest
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
