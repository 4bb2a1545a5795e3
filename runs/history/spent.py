"""Where the time of a transaction went: what engine, processes and disks counted, before and after a change.

Times are milliseconds of one transaction, so that what grew can be set against what the whole transaction grew by;
everything else is counted for each transaction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from benchagent.catalog import threshold_of

from runs import formatting
from runs.answers.answer import Amount, amount_of, as_share
from runs.models import Run, SeriesBatch
from runs.run.engine_report import COUNTERS
from runs.stats import ALPHA, MIN_REPEATS, ratio
from runs.stats.steps import LEAST_DAYS, steps_of


class Spending(StrEnum):
    """What a transaction spends its time on."""

    CPU = "CPU"
    WAITING_FOR_CPU = "waiting for CPU"
    LOCK = "lock"
    READS = "reads"
    FLUSHES = "flushes"
    DISK = "disk"
    TEMPORARY = "temporary files"
    CLIENT = "client"
    OTHERS = "others on the machine"
    ELSE = ""


# What the load generator waits for where one lock is for all who write: no engine tells of it.
BEGIN = "begin_ms"
RUNNING = "running"
WAIT, READY = "wait:", "cpu_wait_ms"
# A wait event of an engine by how it begins: on what its time is spent. The first that fits counts.
_EVENTS = (
    ("lock", Spending.LOCK), ("idle in transaction", Spending.CLIENT), ("client", Spending.CLIENT),
    ("io: wal", Spending.FLUSHES), ("lwlock: wal", Spending.FLUSHES), ("io: buffile", Spending.TEMPORARY),
    ("io: datafile", Spending.READS), ("timeout: commitdelay", Spending.FLUSHES), ("lwlock: buffer", Spending.READS),
)  # fmt: skip
_COUNTED = {
    "buffer_reads": Spending.READS, "data_reads": Spending.READS, "log_flushes": Spending.FLUSHES,
    "log_writes": Spending.FLUSHES, "log_bytes": Spending.FLUSHES, "lock_waits": Spending.LOCK,
    "lock_wait_ms": Spending.LOCK, "deadlocks": Spending.LOCK, "temp_bytes": Spending.TEMPORARY,
    "others_cpu_cores": Spending.OTHERS, "others_disk_write_mb_per_s": Spending.OTHERS,
    "server_cpu_ms": Spending.CPU, READY: Spending.WAITING_FOR_CPU, "flush_ms": Spending.DISK,
    BEGIN: Spending.LOCK, "driver_cpu_ms_per_tx": Spending.CLIENT, "sync_rate_per_s": Spending.DISK,
}  # fmt: skip
# A part is looked at by itself from this share of the longer time on.
LEAST_PART = 0.1
NO_RATIO = Amount(value=None, low=None, high=None, verdict="")
# Below this share of a core or a MB/s nobody else was at work.
OTHERS_CPU = "others_cpu_cores"
_LEAST_OF_OTHERS = {OTHERS_CPU: 0.25, "others_disk_write_mb_per_s": 5.0}
# How many there were is the rate once more.
_OF_THE_RATE = frozenset({"transactions", "transactions_warm_up", "transactions_tail"})
_OWN_CPU = ("server_cpu_cores", "driver_cpu_cores")


@dataclass(frozen=True)
class Quantity:
    """`is_time`: milliseconds of a transaction, and not a part of another such time."""

    name: str
    label: str
    unit: str
    spending: Spending = Spending.ELSE
    is_time: bool = False

    @property
    def is_wait(self) -> bool:
        return self.name.startswith(WAIT) or self.name == READY


@dataclass(frozen=True)
class Spent:
    """A quantity before and after. `part`: of what the whole transaction grew by, as a share of 1, where it is time."""

    quantity: Quantity
    before: float
    after: float
    change: Amount
    part: float | None

    @property
    def words(self) -> str:
        """0.4 ms → 3.1 ms, 83 % of it"""
        part = f", {min(self.part, 1.0):.0%} of it" if self.part is not None and self.part >= LEAST_PART else ""
        before, after = (formatting.quantity(value, self.quantity.unit) for value in (self.before, self.after))
        return f"{before} → {after}{part}"


Values = dict[Quantity, float]


def of_run(run: Run) -> Values:
    """Everything of one run that may tell where its time went. Reads its measurements and statistics."""
    metrics = {each.metric.name: each for each in run.measurements.all() if each.phase == "run"}
    values: Values = {
        Quantity(
            name, row.metric.label, row.metric.unit, _COUNTED.get(name, Spending.ELSE), is_time=name == BEGIN
        ): row.value
        for name, row in metrics.items() if name not in _OF_THE_RATE
    }  # fmt: skip
    numbers = {name: row.value for name, row in metrics.items()}
    transactions, tps = numbers.get("transactions", 0.0), numbers.get("tps", 0.0)
    if transactions > 0:
        for name, value in run.statistics.get("counters", {}).items():
            label, unit = COUNTERS.get(name, (name, ""))
            counted = Quantity(name, f"{label}, per transaction", unit, _COUNTED.get(name, Spending.ELSE))
            values[counted] = value / transactions
    values |= _others(numbers, run.hardware.cpu_threads if run.hardware else None)
    return values | (_times(run.statistics.get("waits", {}), numbers, tps) if tps > 0 else {})


def _others(numbers: Mapping[str, float], threads: int | None) -> Values:
    """CPU that neither the DBMS nor its load generator took."""
    if "machine_cpu_percent" not in numbers or not threads:
        return {}
    own = sum(numbers.get(name, 0.0) for name in _OWN_CPU)
    others = Quantity(OTHERS_CPU, "CPU of others", "cores", Spending.OTHERS)
    return {others: max(0.0, numbers["machine_cpu_percent"] / 100 * threads - own)}


def _times(waits: Mapping[str, float], numbers: Mapping[str, float], tps: float) -> Values:
    """Milliseconds of a transaction; of the time that its session was running what it had no CPU for."""
    values: Values = {}
    own = 1000 * numbers.get("server_cpu_cores", 0.0) / tps
    if "server_cpu_cores" in numbers:
        values[Quantity("server_cpu_ms", "CPU of the DBMS, per transaction", "ms", Spending.CPU, is_time=True)] = own
    for event, sessions in waits.items():
        spent = 1000 * sessions / tps
        if event.lower() == RUNNING:
            ready = Quantity(READY, "Active, no CPU and no wait told", "ms", Spending.WAITING_FOR_CPU, is_time=True)
            values[ready] = max(0.0, spent - own)
        else:
            values[Quantity(f"{WAIT}{event}", f"Waiting: {event}", "ms", _event(event), is_time=True)] = spent
    return values


def _event(event: str) -> Spending:
    return next((spending for begin, spending in _EVENTS if event.lower().startswith(begin)), Spending.ELSE)


def per_batch(rows: Iterable[SeriesBatch]) -> dict[Quantity, list[float]]:
    """The mean of the runs of each batch that tells it."""
    ids = [row.runs for row in rows]
    found = Run.objects.filter(pk__in=[run for some in ids for run in some]).select_related("hardware")
    runs = {str(run.pk): of_run(run) for run in found.prefetch_related("measurements__metric")}
    means: dict[Quantity, list[float]] = {}
    for batch in ([runs[run] for run in some if run in runs] for some in ids):
        for quantity in dict.fromkeys(quantity for run in batch for quantity in run):
            values = [run.get(quantity, 0.0) for run in batch if quantity in run or _is_nought(quantity, run)]
            means.setdefault(quantity, []).append(fmean(values))
    return means


def _is_nought(quantity: Quantity, others: Iterable[Quantity]) -> bool:
    """Whether nobody waited so, where other waits are told; what else is not told is not known."""
    return quantity.is_wait and any(each.is_wait for each in others)


def compare(before: Mapping[Quantity, Sequence[float]], after: Mapping[Quantity, Sequence[float]]) -> list[Spent]:
    """What surely changed, the largest first: times by what they added to a transaction, then the rest."""
    quantities = dict.fromkeys([*before, *after])
    beside = {each: _beside(each, before.get(each, []), after.get(each, [])) for each in quantities}
    before, after = ({each: sides[at] for each, sides in beside.items() if sides[at]} for at in (0, 1))
    grown, left, found = _grown(before, after), _left(before, after), []
    for quantity in quantities:
        old, new = (side.get(quantity) or _noughts(quantity, side) for side in (before, after))
        spent = _spent(quantity, old, new, grown, ALPHA / len(quantities))
        if spent and not (quantity.name == OTHERS_CPU and _is_left_over(spent, left)):
            found.append(spent)
    return sorted(found, key=_weight, reverse=True)


def _beside(quantity: Quantity, old: Sequence[float], new: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    """The batches before and after that no other step parts from the place: what moved some nights later by itself is
    no circumstance of it.
    """
    values, place = [*old, *new], len(old)
    if min(values) <= 0:
        return old, new
    cuts = steps_of([math.log(value) for value in values], threshold_of(quantity.name, quantity.unit))
    others = [cut for cut in cuts if abs(cut - place) >= LEAST_DAYS]
    begin = max((cut for cut in others if cut < place), default=0)
    end = min((cut for cut in others if cut > place), default=len(values))
    return values[begin:place], values[place:end]


def _noughts(quantity: Quantity, side: Mapping[Quantity, Sequence[float]]) -> Sequence[float]:
    """For each batch of a side that tells of other waits alone; empty where nothing is known."""
    longest = max((len(values) for each, values in side.items() if each.is_wait), default=0)
    return [0.0] * longest if quantity.is_wait else []


def _is_left_over(spent: Spent, left: float) -> bool:
    """On a machine that was busy before others take what a slower system leaves to them; on a quiet one nobody does."""
    return spent.before >= _LEAST_OF_OTHERS[OTHERS_CPU] and 0 < spent.after - spent.before < left


def _left(before: Mapping[Quantity, Sequence[float]], after: Mapping[Quantity, Sequence[float]]) -> float:
    """Cores that DBMS and load generator do not take any more, and what others take may scatter by."""
    taken = [
        fmean(values) if side is before else -fmean(values)
        for side in (before, after) for quantity, values in side.items()
        if quantity.name in _OWN_CPU and values
    ]  # fmt: skip
    return max(0.0, sum(taken)) + _LEAST_OF_OTHERS[OTHERS_CPU]


def _weight(spent: Spent) -> tuple[float, float]:
    size = abs(math.log(max(spent.after, 1e-9) / max(spent.before, 1e-9)))
    return (abs(spent.part) if spent.part is not None else 0.0, size)


def _grown(before: Mapping[Quantity, Sequence[float]], after: Mapping[Quantity, Sequence[float]]) -> float:
    """How many milliseconds the mean latency grew; 0 if it is not told."""
    means = [
        fmean(values) for side in (before, after) for quantity, values in side.items()
        if quantity.name == "latency_mean_ms" and values
    ]  # fmt: skip
    return means[1] - means[0] if len(means) == 2 else 0.0


def _spent(quantity: Quantity, old: Sequence[float], new: Sequence[float], grown: float, level: float) -> Spent | None:
    """None where it is not surely another."""
    if min(len(old), len(new)) < MIN_REPEATS:
        return None
    before, after = fmean(old), fmean(new)
    least = _LEAST_OF_OTHERS.get(quantity.name, 0.0)
    if before == after or abs(after - before) < least:
        return None
    part = (after - before) / grown if quantity.is_time and grown else None
    change = ratio(new, old) if min(*old, *new) > 0 else None
    if change is None:
        # Nought before or after has no ratio: it is believed where all of one side are beyond all of the other.
        is_sure = min(new) > max(old) or max(new) < min(old)
        return Spent(quantity, before, after, NO_RATIO, part) if is_sure else None
    is_large = abs(math.log(change.value)) >= math.log1p(threshold_of(quantity.name, quantity.unit))
    # What is ranked by its part of the time needs no level of a family: a small part comes last.
    sure_below = ALPHA if part is not None and abs(part) >= LEAST_PART else level
    is_sure = is_large and (change.p or 0.0) < sure_below
    return Spent(quantity, before, after, as_share(amount_of(change)), part) if is_sure else None


def spending(found: Sequence[Spent], *, is_slower: bool) -> Spending:
    """On what most of the time went that a transaction takes more, or less: one word for all of it."""
    if is_slower and any(each.quantity.spending == Spending.OTHERS and each.after > each.before for each in found):
        return Spending.OTHERS
    times: dict[Spending, float] = {}
    for each in found:
        if each.part is not None and each.part > 0 and each.quantity.spending:
            times[each.quantity.spending] = times.get(each.quantity.spending, 0.0) + each.part
    if not times:
        return next((each.quantity.spending for each in found if each.quantity.spending), Spending.ELSE)
    largest = max(times, key=lambda kind: times[kind])
    # Who has more to compute also waits longer for it.
    if largest == Spending.WAITING_FOR_CPU and Spending.CPU in times:
        return Spending.CPU
    more_flushes = any(each.quantity.name in {"log_flushes", "log_bytes"} for each in found)
    return Spending.DISK if largest == Spending.FLUSHES and not more_flushes else largest
