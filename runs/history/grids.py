"""Benchmarks side by side: their releases as a heat map, and machines against workloads."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import compress
from typing import NamedTuple
from uuid import UUID

from runs.answers.answer import Amount
from runs.answers.history import judged_by_repeats
from runs.compare.guard import beyond_span
from runs.formatting import grouped, percent
from runs.history.watching import BASELINE, threshold
from runs.models import Benchmark, ChangePoint, SeriesBatch
from runs.models.choices import Better
from runs.stats import MIN_REPEATS, WINNERS, Kind, geometric_mean, summarise
from runs.stats.levels import judge_family
from runs.stats.steps import LEAST_DAYS
from runs.stats.watch import usual

# Releases of a system that its map shows, the newest; benchmarks that are set side by side.
MOST_RELEASES, MOST_BENCHMARKS = 12, 300
# A change is shaded the darker the larger it is: from its threshold on, and from these shares on.
_DARKER = (0.1, 0.3)


@dataclass(frozen=True)
class ReleaseCell:
    """A release of a benchmark: the geometric mean of the batches of its last level, or the median where one is 0, and
    how it stands to what it is set against, as a ratio.
    """

    mean: float
    batches: int
    change: Amount | None = None

    @property
    def change_words(self) -> str:
        """The change; of a release that is surely better or worse at 0, or than 0, the verdict."""
        if self.change is None or (self.change.value is None and self.shade == 0):
            return ""
        return self.change.verdict if self.change.value is None else percent(self.change.value - 1, signed=True)

    @property
    def shade(self) -> int:
        """From −3, much worse, to 3, much better; 0 where nothing is sure."""
        if self.change is None or self.change.verdict not in (Kind.BETTER, Kind.WORSE):
            return 0
        # To 0 and from it is as far as it goes.
        far = math.inf if self.change.value is None else abs(math.log(self.change.value))
        steps = 1 + sum(far >= math.log1p(share) for share in _DARKER)
        return steps if self.change.verdict == Kind.BETTER else -steps


@dataclass(frozen=True)
class ReleaseMap:
    """The map of one system: a row a benchmark, a column a release in their order; None where a benchmark has none."""

    system: str
    releases: list[str]
    rows: list[tuple[Benchmark, list[ReleaseCell | None]]]


class _Version(NamedTuple):
    order: str
    name: str


def release_maps(benchmarks: Sequence[Benchmark], *, than: str = "") -> list[ReleaseMap]:
    """A map a system. Each release is set against the one before it, or against the release `than`."""
    by_id = _releases_of(benchmarks)
    of_line = grouped((each.line, each) for each in benchmarks)
    beside = list(Benchmark.objects.filter(line__in=of_line, joined_to=None).exclude(branch="").order_by("-newest_at"))
    of_branches = _releases_of(beside)
    # What the main branch never was, as 17.9 is while 18 goes on, is of the branch that was it.
    for branch in beside:
        lengths = branch.procedure
        alike = (own for own in of_line[branch.line] if not beyond_span(own.procedure, lengths, lengths))
        if own := next(alike, None):
            by_id[own.pk] = of_branches.get(branch.pk, {}) | by_id.get(own.pk, {})
    systems: dict[str, list[Benchmark]] = {}
    for benchmark in benchmarks:
        systems.setdefault(benchmark.dbms.name, []).append(benchmark)
    return [_map(name, own, by_id, than) for name, own in sorted(systems.items())]


def _releases_of(benchmarks: Sequence[Benchmark]) -> dict[UUID, dict[_Version, list[float]]]:
    """The batches of each release, since the last confirmed change among them that three or more follow: a mean of two
    levels is none, and the change to the next release may be placed at the last of this one.
    """
    points = ChangePoint.objects.filter(benchmark__in=benchmarks).select_related("alert")
    begins = {point.at_id for point in points.defer("alert__note", "alert__links") if point.begins_level}
    batches = SeriesBatch.objects.filter(benchmark__in=benchmarks).exclude(centre=None).in_order()
    rows: dict[UUID, dict[_Version, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for pk, at, order, name, centre in batches.values_list(
        "benchmark", "pk", "version_order", "version__version", "centre"
    ):
        rows[pk][_Version(order, name)].append((at, centre or 0.0))
    found: dict[UUID, dict[_Version, list[float]]] = {}
    for pk, releases in rows.items():
        for version, known in releases.items():
            places = (place for place, (at, _) in enumerate(known) if at in begins and len(known) - place >= LEAST_DAYS)
            found.setdefault(pk, {})[version] = [centre for _, centre in known[max(places, default=0) :]]
    return found


def _map(
    system: str, own: Sequence[Benchmark], by_id: Mapping[UUID, Mapping[_Version, list[float]]], than: str
) -> ReleaseMap:
    versions = sorted({version for benchmark in own for version in by_id.get(benchmark.pk, {})})
    shown = versions[-MOST_RELEASES:]
    if chosen := [version for version in versions if version.name == than and version not in shown]:
        shown = [*chosen, *shown[1:]]
    rows = [(each, _cells(each, by_id.get(each.pk, {}), shown, than)) for each in own]
    return ReleaseMap(system, [version.name for version in shown], rows)


def _cells(
    benchmark: Benchmark, centres: Mapping[_Version, list[float]], shown: Iterable[_Version], than: str
) -> list[ReleaseCell | None]:
    cells: list[ReleaseCell | None] = []
    chosen = next((values for version, values in centres.items() if version.name == than), None)
    before: list[float] | None = None
    for version in shown:
        values = centres.get(version)
        base = chosen if than else before
        if not values:
            cells.append(None)
            continue
        change, metric = None, benchmark.metric
        if base and base is not values:
            change = judged_by_repeats(values, base, better=metric.better, threshold=threshold(metric))
        summary = summarise(values)
        cells.append(ReleaseCell(summary.centre if summary else 0.0, len(values), change))
        before = values
    return cells


@dataclass(frozen=True)
class MachineCell:
    """A benchmark on a machine: the geometric mean of the newest batches of its level.

    `share`: of the best. `is_best`: none beats it, and it has the batches that it takes to tell.
    """

    benchmark: Benchmark
    mean: float
    share: float
    is_best: bool

    @property
    def share_words(self) -> str:
        return percent(self.share)


@dataclass
class MachineMatrix:
    """What was measured on several machines: a row a question, a column a machine."""

    machines: list[str]
    rows: list[tuple[Benchmark, list[MachineCell | None]]] = field(default_factory=list)
    # Benchmarks that one machine alone has, and those of which a batch is 0: no share of the best is.
    alone: int = 0
    at_zero: int = 0

    @cached_property
    def common(self) -> int:
        """Rows that all machines have."""
        return sum(None not in cells for _, cells in self.rows)

    @cached_property
    def means(self) -> list[float]:
        """For each machine the geometric mean of its shares of the best, over what all have."""
        whole = [[cell.share for cell in cells if cell] for _, cells in self.rows if None not in cells]
        return [geometric_mean(column) or 0.0 for column in zip(*whole, strict=True)]

    @property
    def mean_words(self) -> list[str]:
        return [percent(mean) for mean in self.means]


def machine_matrix(benchmarks: Sequence[Benchmark]) -> MachineMatrix:
    """`benchmarks` that differ in nothing but their machine make a row."""
    by_name: dict[tuple[str, int], list[dict[str, Benchmark]]] = defaultdict(list)
    with_side = [each for each in benchmarks if each.hardware and each.metric.better != Better.NONE]
    values = _of_level([each for each in with_side if _with_centre(each)])
    for benchmark in with_side:
        if min(values.get(benchmark.pk, []), default=0.0) > 0 and benchmark.hardware:
            rows, lengths = by_name[benchmark.name, benchmark.metric_id], benchmark.procedure
            alike = (
                row for row in rows if not any(beyond_span(each.procedure, lengths, lengths) for each in row.values())
            )
            if (own := next(alike, None)) is None:
                rows.append(own := {})
            # Where two have one name, as after a new mainboard, what was measured last counts.
            held = own.setdefault(benchmark.hardware.name, benchmark)
            own[benchmark.hardware.name] = max(held, benchmark, key=lambda each: each.recent[-1]["at"])
    questions = [own for rows in by_name.values() for own in rows]
    shared = [own for own in questions if len(own) > 1]
    machines = sorted({name for own in shared for name in own})
    matrix = MachineMatrix(
        machines, alone=len(questions) - len(shared), at_zero=sum(0 in each for each in values.values())
    )
    for own in shared:
        cells = _against_the_best(own, values)
        matrix.rows.append((next(iter(own.values())), [cells.get(name) for name in machines]))
    return matrix


def _of_level(benchmarks: Sequence[Benchmark]) -> dict[UUID, list[float]]:
    """The newest batches of each, since the last confirmed change among them: a mean of two levels is none."""
    begins: dict[UUID, list[datetime]] = defaultdict(list)
    points = ChangePoint.objects.filter(benchmark__in=benchmarks).select_related("alert", "at")
    for point in points.defer("at__runs", "at__values", "alert__note", "alert__links"):
        if point.begins_level:
            begins[point.benchmark_id].append(point.at.measured_at)
    values = {}
    for each in benchmarks:
        newest = _with_centre(each)
        begin = max((at for at in begins[each.pk] if at <= newest[-1][0]), default=None)
        values[each.pk] = [centre for at, centre in newest if begin is None or at >= begin]
    return values


def _with_centre(benchmark: Benchmark) -> list[tuple[datetime, float]]:
    recent = benchmark.recent[-BASELINE:]
    return [(datetime.fromisoformat(each["at"]), each["centre"]) for each in recent if each["centre"] is not None]


def _against_the_best(own: Mapping[str, Benchmark], of_level: Mapping[UUID, list[float]]) -> dict[str, MachineCell]:
    levels = {name: of_level[benchmark.pk] for name, benchmark in own.items()}
    values = {name: [*compress(centres, usual([*map(math.log, centres)]))] for name, centres in levels.items()}
    means = {name: geometric_mean(centres) or 0.0 for name, centres in values.items()}
    first = next(iter(own.values()))
    is_rate = first.metric.better == Better.HIGHER
    best = (max if is_rate else min)(means, key=lambda name: means[name])
    others = [name for name in own if name != best]
    verdicts = judge_family(
        [(values[name], values[best]) for name in others], better=first.metric.better, threshold=threshold(first.metric)
    )
    beaten = {name for name, verdict in zip(others, verdicts, strict=True) if verdict.kind in WINNERS}
    return {
        name: MachineCell(
            benchmark, means[name], means[name] / means[best] if is_rate else means[best] / means[name],
            name not in beaten and len(values[name]) >= MIN_REPEATS,
        )
        for name, benchmark in own.items()
    }  # fmt: skip
