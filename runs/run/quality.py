"""Runs that look good and are not: what their own numbers say against them, judged once, when they are stored.

What is judged is a check of the run (`Run.checks`), and a warning where it does not hold. Numbers in, words out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import mean, median
from typing import Any

from benchagent.catalog import DBMSS, FAILED
from benchagent.protocol import DISK_SHARES, Check

from runs.models import Run
from runs.run.series import Series, measured_window, within, without_gaps
from runs.run.steadiness import LEAST_VALUES, STALL_SHARE, stalls, unsteady

# A terminal needs so many transactions on average to be called fair: with fewer chance alone makes terminals differ.
LEAST_EACH = 100
# Below either of them a few terminals did the work of all, and the waiting of the others is in no percentile.
LEAST_SHARE_PERCENT, LEAST_INDEX = 50.0, 0.9
OF_TERMINALS = "computed from the transactions of each terminal"
SLOWEST, INDEX = "slowest_terminal_percent", "jain_index"
# A shorter window ends before the first checkpoint, flush or merge of many engines.
LEAST_WINDOW_S = 30
# What an agent, the kernel and an idle system take of the CPU, and of what is written, stays below this share.
MOST_OTHERS_PERCENT = 10.0
# What others write is nothing to a run below so much, or beside a disk that is idle for most of the time.
LEAST_OTHERS_MB, LEAST_DISK_BUSY = 1.0, 10.0
OWN_CPU = ("driver_cpu_cores", "server_cpu_cores", "tool_cpu_cores")
RATE = "tps"
# The DBMS first: whoever drives it waits for it.
_WHO = {"server_cpu_cores": "the DBMS", "driver_cpu_cores": "the load generator"}
STALLS_LISTED = 8
# What may have happened in a second, by the series that shows it: its words, and from which value on.
_BUSY = {
    "checkpoints": ("checkpoint", 1.0),
    "driver_gc_ms": ("garbage collection for {value:,.0f} ms", 100.0),
    "disk_util_percent": ("disk {value:.0f} % busy", 90.0),
}
# So much more was written: a flush shows as more than the usual second has, and so do others.
_WRITTEN = {
    "disk_write_mb_per_s": "flush: {value:,.0f} MB/s of data written, usually {usual:,.0f}",
    "log_disk_write_mb_per_s": "flush: {value:,.0f} MB/s of log written, usually {usual:,.0f}",
    DISK_SHARES[0]: "the run asked for at most {value:,.0f} MB/s of writes, usually {usual:,.0f}",
    DISK_SHARES[1]: "others asked for at most {value:,.0f} MB/s of writes, usually {usual:,.0f}",
}
FLUSH_FACTOR, LEAST_FLUSH_MB = 3.0, 5.0
# What has less than this share of its usual CPU in a stall, beside an idle disk, was stopped or is held up.
STILL_SHARE = 0.05
# % of the time: a disk that is less busy in a stall holds up nobody.
LEAST_FLUSHING = 50.0
DISK_UTIL, MACHINE_CPU = "disk_util_percent", "machine_cpu_percent"
EVENTS = (RATE, *_BUSY, *_WRITTEN, *OWN_CPU, MACHINE_CPU)


@dataclass(frozen=True)
class RunFacts:
    """What a run is judged by. `metrics`: those of the measured window; of the `series` those of `EVENTS` count.

    `cpu_threads`: of the one machine on which all that belongs to the run was sampled; 0 where that is not known.
    """

    workload: str
    factors: Mapping[str, float | str]
    metrics: Mapping[str, float]
    series: Mapping[str, Series] = field(default_factory=dict)
    demonstration: bool = False
    cpu_threads: int = 0

    @classmethod
    def of(cls, run: Run, series: Iterable[Series]) -> RunFacts:
        """The facts of a stored run, with all its factors and measurements."""
        metrics = run.metrics
        return cls(
            workload=run.workload.slug,
            factors=run.factor_values,
            metrics=metrics,
            series={item.name: item for item in series},
            demonstration=run.demonstration,
            cpu_threads=threads_of(run, metrics),
        )

    def seconds(self, factor: str) -> float | None:
        value = self.factors.get(factor)
        return float(value) if isinstance(value, int | float) else None

    @property
    def window(self) -> tuple[float, float]:
        """Begin and end of what was measured, in seconds as its series count them."""
        return measured_window(self.factors, self.series.get(RATE))


BEFORE = "it was stored before runs were judged (manage.py judge does it)"


def warnings(checks: Iterable[Mapping[str, Any]]) -> list[str]:
    return [check["detail"] for check in checks if not check["ok"]]


def not_judged(run: Run, samples: Iterable[Series]) -> list[str]:
    """What nobody could judge of a run that counts and has a rate, and which data it lacks."""
    facts = RunFacts.of(run, samples)
    if RATE not in facts.metrics or not run.counts:
        return []
    names, rate, missing = {check.get("name") for check in run.checks}, facts.series.get(RATE), []
    if "terminals_fair" not in names and facts.factors.get("terminals") != 1:
        few = f"fewer than {LEAST_EACH} transactions a terminal"
        unstored = few if run.per_terminal else "what each terminal did is not stored"
        why = BEFORE if fairness(run.per_terminal) else unstored
        missing.append(f"fairness: {why}")
    if "steady_state" not in names:
        count = len(without_gaps(within(rate, *facts.window))) if rate else 0
        lasts_s = count * rate.interval_s if rate else 0.0
        is_enough = count >= LEAST_VALUES and lasts_s >= LEAST_WINDOW_S
        few = f"it cannot be told from {lasts_s:g} s, {LEAST_WINDOW_S} s and {LEAST_VALUES} values are the least"
        why = BEFORE if is_enough else few if count else "no throughput over time is stored"
        missing.append(f"steadiness: {why}")
    if not {*FAILED, "error_share_percent"} & facts.metrics.keys():
        missing.append("errors: how many transactions failed is not stated")
    return missing


# Starvation


def fairness(per_terminal: Sequence[float]) -> dict[str, float]:
    """The slowest terminal's share in % of an equal one, and Jain's index: (Σx)² ⁄ (n Σx²), 1 when all are alike.

    By the names of the metrics; empty where there are too few terminals, or too few transactions to tell: chance alone
    makes counts of m on average differ by √m, so that below `LEAST_EACH` only terminals that are further apart, in
    these deviations, than the limits are at `LEAST_EACH` are told, as surely unfair. None is called fair there.
    Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301 (1984).
    """
    total = sum(per_terminal)
    if len(per_terminal) < 2 or not total:
        return {}
    squares = sum(count * count for count in per_terminal)
    share = 100 * min(per_terminal) * len(per_terminal) / total
    index = total * total / (len(per_terminal) * squares)
    chance = max(1.0, LEAST_EACH * len(per_terminal) / total)  # variance, as a multiple of that at LEAST_EACH
    is_behind = 100 - share > (100 - LEAST_SHARE_PERCENT) * sqrt(chance)
    is_apart = 1 / index - 1 > (1 / LEAST_INDEX - 1) * chance
    return {SLOWEST: share, INDEX: index} if chance == 1 or is_behind or is_apart else {}


def unfair_words(metrics: Mapping[str, float], factors: Mapping[str, float | str]) -> str:
    """Why the latencies of a run say nothing of what all terminals met; empty where they do, or it is not known.

    At a fixed rate whatever waits was due, so its waiting is in the percentiles, whoever does it at last.
    """
    share, index = metrics.get(SLOWEST), metrics.get(INDEX)
    if share is None or index is None or factors.get("rate_per_s"):
        return ""
    if share >= LEAST_SHARE_PERCENT and index >= LEAST_INDEX:
        return ""
    return f"unfair: {_shares(share, index)} (least: {LEAST_SHARE_PERCENT:.0f} % and {LEAST_INDEX:g})"


def terminals_fair(facts: RunFacts) -> Check | None:
    if SLOWEST not in facts.metrics or INDEX not in facts.metrics:
        return None
    words = unfair_words(facts.metrics, facts.factors)
    detail = f"{words}. Its latencies are not ranked: the others' waiting is not in them" if words else ""
    good = _shares(facts.metrics[SLOWEST], facts.metrics[INDEX])
    return {"name": "terminals_fair", "ok": not words, "detail": detail or good}


def _shares(share: float, index: float) -> str:
    return f"the slowest terminal made {share:.0f} % of an equal share, Jain's index {index:.2f}"


# Steady state


def steady_state(facts: RunFacts) -> Check | None:
    rate = facts.series.get(RATE)
    if rate is None:
        return None
    begin, end = facts.window
    warm_up, window = without_gaps(within(rate, 0.0, begin)), without_gaps(within(rate, begin, end))
    if not window:
        return None
    if findings := unsteady(warm_up, window, rate.interval_s):
        return {"name": "steady_state", "ok": False, "detail": f"not steady: {'; '.join(findings)}"}
    if len(window) < LEAST_VALUES or len(window) * rate.interval_s < LEAST_WINDOW_S:
        return None  # nothing speaks against it, but so few seconds cannot speak for it either
    return {"name": "steady_state", "ok": True, "detail": "neither warm-up nor drift nor change of level in the window"}


def no_stalls(facts: RunFacts) -> Check | None:
    """Lists stretches of seconds in which next to nothing ended, with what else was seen in them."""
    rate = facts.series.get(RATE)
    if rate is None:
        return None
    begin, end = facts.window
    window = within(rate, begin, end)
    rates = without_gaps(window)
    if not rates:
        return None
    stalled, bound = stalls(window), f"a third of the median, {STALL_SHARE * median(rates):,.0f} TPS"
    if not stalled:
        return {"name": "no_stalls", "ok": True, "detail": f"no {rate.interval_words} below {bound}"}
    first_s = max(begin, rate.t0_s)
    listed = []
    for stall in stalled[:STALLS_LISTED]:
        at_s, lasts_s = first_s + stall.start * rate.interval_s, len(stall) * rate.interval_s
        why = ", ".join(_seen(facts, at_s, lasts_s)) or "no cause in its samples"
        last_s = at_s + lasts_s - 1
        when = f"seconds {at_s:,.0f} to {last_s:,.0f}" if last_s > at_s else f"second {at_s:,.0f}"
        listed.append(f"{when}: {mean(without_gaps(window[stall.start : stall.stop])):,.0f} TPS ({why})")
    more = f"; and {len(stalled) - STALLS_LISTED} more" if len(stalled) > STALLS_LISTED else ""
    seconds = f"{rate.interval_s * sum(map(len, stalled)):,.0f} of {rate.interval_s * len(rates):,.0f} seconds"
    return {"name": "no_stalls", "ok": False, "detail": f"stalls: {seconds} below {bound}: {'; '.join(listed)}{more}"}


def _seen(facts: RunFacts, at_s: float, lasts_s: float) -> list[str]:
    """What the samples of a stall show that others do not."""

    def values_of(name: str) -> Sequence[float]:
        series = facts.series.get(name)
        return without_gaps(within(series, at_s, at_s + lasts_s)) if series else ()

    seen = []
    for name, (words, least) in _BUSY.items():
        value = max(values_of(name), default=None)
        if value is not None and value >= least:
            seen.append(words.format(value=value))
    still = _still(facts, values_of)
    if still and max(values_of(DISK_UTIL), default=100.0) < LEAST_FLUSHING:
        return [*still, *seen]  # whoever wrote meanwhile, nobody waited for a disk that was idle
    for name, words in _WRITTEN.items():
        value = max(values_of(name), default=None)
        if value is not None:
            usual = median(without_gaps(within(facts.series[name], *facts.window)))
            if value >= max(LEAST_FLUSH_MB, FLUSH_FACTOR * usual):
                seen.append(words.format(value=value, usual=usual))
    return seen or still


def _still(facts: RunFacts, values_of: Callable[[str], Sequence[float]]) -> list[str]:
    """What of the run had no CPU for most of a stall: a process that was stopped, or waits for nothing seen here."""
    machine = values_of(MACHINE_CPU)
    others = f" while the machine was {mean(machine):.0f} % busy" if machine else ""
    for name, who in _WHO.items():
        values = values_of(name)
        usual = median(without_gaps(within(facts.series[name], *facts.window)) or [0.0]) if values else 0.0
        if values and median(values) < STILL_SHARE * usual:
            return [f"{who} had no CPU{others}: stopped, or held up by what is not sampled"]
    return []


def threads_of(run: Run, metrics: Mapping[str, float]) -> int:
    """Threads of the one machine on which all of the run was sampled; 0 where that is not known."""
    dbms = DBMSS.get(run.dbms_version.dbms.slug)
    sampled = "server_cpu_cores" in metrics or (dbms is not None and dbms.embedded)
    one_machine = sampled and not run.context.get("connection")
    return (run.hardware.cpu_threads or 0) if one_machine and run.hardware else 0


def own_cores(metrics: Mapping[str, float]) -> float | None:
    """CPU of all that belongs to a run; None where nobody sampled it."""
    own = [metrics[name] for name in OWN_CPU if name in metrics]
    return sum(own) if own else None


def others_percent(metrics: Mapping[str, float], cpu_threads: int) -> float | None:
    """The others' share of the machine's CPU; None if nobody sampled both it and the run."""
    busy, own = metrics.get("machine_cpu_percent"), own_cores(metrics)
    return None if busy is None or own is None or not cpu_threads else max(0.0, busy - 100 * own / cpu_threads)


def machine_alone(facts: RunFacts) -> Check | None:
    """Whether something else kept the machine busy: other programs, or its host that gave the CPU to others."""
    cpu, (is_quiet, writes) = others_percent(facts.metrics, facts.cpu_threads), _others_writes(facts.metrics)
    words, judged_parts = [], [is_quiet]
    if cpu is not None:
        judged_parts.append(cpu < MOST_OTHERS_PERCENT)
        own_percent = min(
            facts.metrics["machine_cpu_percent"], 100 * (own_cores(facts.metrics) or 0) / facts.cpu_threads
        )
        words.append(f"{cpu:.0f} % of the machine's CPU went to others, {own_percent:.0f} % to the run")
    ok, detail = False not in judged_parts, "; ".join([*words, *writes])
    if judged_parts == [None]:
        return None
    return {"name": "machine_alone", "ok": ok, "detail": detail if ok else f"disturbed: {detail}"}


def _others_writes(metrics: Mapping[str, float]) -> tuple[bool | None, list[str]]:
    """Whether others left the disks of the run alone, and words; None where that cannot be told.

    What a process asks for is the most that it may have written: the kernel counts whole pages, up to 1 MiB each, where
    a part is written (so a synced log is charged up to a hundred times its size), and what still waits in memory.
    """
    own, others = (metrics.get(name) for name in DISK_SHARES)
    if own is None or others is None:
        return None, []
    disk = sum(
        value for name, value in metrics.items() if name.endswith("disk_write_mb_per_s") and name not in DISK_SHARES
    )
    least, much = min(others, max(0.0, disk - own)), max(LEAST_OTHERS_MB, MOST_OTHERS_PERCENT / 100 * disk)
    is_idle = metrics.get("disk_util_percent", 0.0) < LEAST_DISK_BUSY
    asked = f"the run for {own:.1f} MB/s"
    if least >= much:
        return is_idle, [f"others wrote at least {least:.1f} MB/s to its disks, the run at most {own:.1f} MB/s"]
    if min(others, disk) < much:
        return True, [f"others asked for at most {others:.1f} MB/s of writes, {asked}"]
    return is_idle or None, [
        f"how much of {disk:.1f} MB/s on its disks others wrote cannot be told: "
        f"they asked for at most {others:.1f} MB/s, {asked}"
    ]


def window_long_enough(facts: RunFacts) -> Check | None:
    """Not of a demonstration, which says itself that it is short."""
    lasts = facts.seconds("duration_s")
    if lasts is None or facts.demonstration:
        return None
    detail = f"short window: checkpoints and flushes come later than {lasts:g} s; measure {LEAST_WINDOW_S} s at least"
    ok = lasts >= LEAST_WINDOW_S
    return {"name": "window_long_enough", "ok": ok, "detail": f"a window of {lasts:g} s" if ok else detail}


def branches_enough(facts: RunFacts) -> Check | None:
    branches, terminals = facts.seconds("scale_factor"), facts.seconds("terminals")
    if facts.workload != "tpcb" or branches is None or terminals is None:
        return None
    ok = branches >= terminals
    each = [
        f"{branches:g} branch{'' if branches == 1 else 'es'}",
        f"{terminals:g} terminal{'' if terminals == 1 else 's'}",
    ]
    counts = " for ".join(each)
    return {
        "name": "branches_enough",
        "ok": ok,
        "detail": counts if ok else f"{counts}: terminals wait for each other's rows",
    }


CHECKS = (terminals_fair, steady_state, no_stalls, machine_alone, window_long_enough, branches_enough)
NAMES = tuple(check.__name__ for check in CHECKS)


def judged(facts: RunFacts) -> list[Check]:
    """The checks of a run that has finished. What cannot be told of it is left out."""
    return [made for check in CHECKS if (made := check(facts))]
