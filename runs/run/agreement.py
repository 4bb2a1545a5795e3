"""Whether the numbers of a run agree with each other. What contradicts itself is stored, marked and counted nowhere.

The bounds are wide: what a tool rounds, counts a little otherwise or does not tell is no contradiction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from itertools import combinations

from benchagent.catalog import FAILED, PERCENTILES
from benchagent.importers.latencies import STEP, is_above, is_rounding, ranks, resolution
from benchagent.protocol import Check

from runs.models import Run
from runs.models.runs import NUMBERS_AGREE
from runs.run.quality import RATE, RunFacts
from runs.run.series import within, without_gaps

# A rate that is so many times what follows from other figures of its run is not that run's.
MOST_TIMES = 1.5
# The same of how many transactions are under way at once: tools leave the time of connecting out of the one figure, and
# not of the other.
MOST_AT_ONCE = 10.0
# The rate of a window lies between those of its seconds, but for what ends of a window and rounding do.
BEYOND_SECONDS = 1.1
LEAST_SECONDS = 5
# At a fixed rate no more transactions end in the window than were due in it and in the warm-up, whose backlog may end
# in it, but for so much, and for so many standard deviations of arrivals by chance.
BEYOND_RATE, DEVIATIONS = 1.1, 4.0
# A series of the throughput must be of so much of its window.
LEAST_COVERED = 0.5
# So far a stated percentile may lie off the histogram's.
OF_HISTOGRAM = 2 * STEP
# A date is that of some zone.
ZONES = timedelta(days=1)
TRANSACTIONS, MEAN, MAXIMUM = "transactions", "latency_mean_ms", "latency_max_ms"
# Who has one transaction at a time, in the order in which tools call them.
_ONE_AT_A_TIME = ("terminals", "threads", "clients", "virtual_users")
# With one of these a client does not wait for its last transaction before the next is due, or has several on the way.
OPEN = ("rate_per_s", "rate", "target", "async_clients", "pipeline", "batch_size")


def numbers_agree(facts: RunFacts, histogram_ms: Mapping[str, float], dates: Iterable[str] = ()) -> Check | None:
    """None where nothing contradicts itself.

    `histogram_ms`: percentiles by metric, as the run's histogram has them. `dates`: what `dates_apart` says.
    """
    of_latencies = [*_percentiles(facts.metrics), *_served(facts.metrics), *_histogram(facts.metrics, histogram_ms)]
    found = [*_rates(facts), *of_latencies, *dates]
    return {"name": NUMBERS_AGREE, "ok": False, "detail": f"contradicts itself: {'; '.join(found)}"} if found else None


def counted(facts: RunFacts) -> Mapping[str, float]:
    """The metrics, with the number of transactions where rate and window tell it and nobody else does."""
    lasts, rate = facts.seconds("duration_s"), facts.metrics.get(RATE)
    if TRANSACTIONS in facts.metrics or not lasts or rate is None or not any(map(facts.metrics.get, FAILED)):
        return facts.metrics
    return {**facts.metrics, TRANSACTIONS: rate * lasts}


def _rates(facts: RunFacts) -> list[str]:
    found: list[str] = []
    rate, lasts = facts.metrics.get(RATE), facts.seconds("duration_s")
    series = facts.series.get(RATE)
    if series and lasts and len(series.values) * series.interval_s < LEAST_COVERED * lasts:
        covered = len(series.values) * series.interval_s
        found.append(f"a throughput over {covered:g} s of a window of {lasts:g} s")
    if rate is None:
        return found
    seconds = without_gaps(within(series, *facts.window)) if series else []
    if len(seconds) >= LEAST_SECONDS:
        low, high = min(seconds), max(seconds)
        if not low / BEYOND_SECONDS <= rate <= high * BEYOND_SECONDS:
            found.append(f"{rate:,.6g} TPS, {low:,.6g} to {high:,.6g} in the seconds of its window")
    if (offered := facts.seconds("rate_per_s")) and lasts:
        due = offered * (lasts + (facts.seconds("warm_up_s") or 0.0))
        if rate * lasts > BEYOND_RATE * due + DEVIATIONS * math.sqrt(due):
            found.append(f"{rate:,.6g} TPS, where {offered:,.6g} a second were due")
    done = facts.metrics.get(TRANSACTIONS)
    if done and lasts and not 1 / MOST_TIMES <= rate * lasts / done <= MOST_TIMES:
        found.append(f"{rate:,.6g} TPS, {done:,.0f} transactions in {lasts:g} s")
    clients = next(filter(None, map(facts.seconds, _ONE_AT_A_TIME)), None)
    mean = facts.metrics.get(MEAN)
    if clients and mean and not any(facts.factors.get(name) for name in OPEN):
        at_once = rate * (mean - resolution(mean) / 2) / 1000
        if at_once > MOST_AT_ONCE * clients:
            found.append(f"{rate:,.6g} TPS of {mean:g} ms each are {at_once:,.0f} at once, of {clients:g} terminals")
    return found


def _falling(metrics: Mapping[str, float]) -> list[tuple[str, str]]:
    """Pairs of which the first may not be above the second, and is."""
    pairs = [(low, high) for ranked in ranks(metrics) for (_, low), (_, high) in combinations(ranked, 2)]
    if MEAN in metrics and MAXIMUM in metrics:
        pairs.append((MEAN, MAXIMUM))
    return [(low, high) for low, high in pairs if metrics[low] > metrics[high]]


def too_coarse(metrics: Mapping[str, float]) -> dict[str, str]:
    """Latencies, by name, that are printed so coarsely that they lie on the wrong side of another: why they are left
    out.

    A p99 of 1 ms beside a maximum of 0.028 ms says less than one millisecond, and no more.
    """
    coarse: dict[str, str] = {}
    for low, high in _falling(metrics):
        if is_rounding(metrics[low], metrics[high]):
            left, other = (low, high) if resolution(metrics[low]) >= resolution(metrics[high]) else (high, low)
            coarse.setdefault(
                left, f"{left} {metrics[left]:g} is printed too coarsely beside {other} {metrics[other]:g}"
            )
    return coarse


def _percentiles(metrics: Mapping[str, float]) -> list[str]:
    falling = [(low, high) for low, high in _falling(metrics) if is_above(metrics[low], metrics[high])]
    return [f"{low} {metrics[low]:g} above {high} {metrics[high]:g}" for low, high in falling[:3]]


def _served(metrics: Mapping[str, float]) -> list[str]:
    """Latencies, which count from when a transaction was due, below the time that it took from its begin."""
    pairs = ((name, name.replace("service_", "latency_", 1)) for name in metrics if name.startswith("service_"))
    return [
        f"{latency} {metrics[latency]:g} below {service} {metrics[service]:g}"
        for service, latency in pairs
        if latency in metrics
        and metrics[latency] * (1 + OF_HISTOGRAM) + resolution(metrics[latency]) < metrics[service]
    ]


def _histogram(metrics: Mapping[str, float], histogram_ms: Mapping[str, float]) -> list[str]:
    """Stated percentiles that are not those of the run's own histogram."""
    found = []
    for name in PERCENTILES:
        if name in metrics and name in histogram_ms:
            stated, own = metrics[name], histogram_ms[name]
            if abs(stated - own) > OF_HISTOGRAM * own + resolution(stated):
                found.append(f"{name} {stated:g}, {own:.4g} by its histogram")
    return found[:3]


def dates_apart(run: Run) -> list[str]:
    """What its dates say against each other."""
    found: list[str] = []
    began = run.started_at
    if run.measured_on and began and abs(run.measured_on - began.date()) > ZONES:
        found.append(f"measured on {run.measured_on}, started on {date.isoformat(began.date())}")
    if began and run.finished_at and began > run.finished_at:
        found.append(f"started at {began:%Y-%m-%d %H:%M:%S}, finished at {run.finished_at:%Y-%m-%d %H:%M:%S}")
    return found
