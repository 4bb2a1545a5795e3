"""Benchmarks side by side: their releases as a heat map, and machines against workloads."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
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
from runs.formatting import grouped, mid_sentence, percent, version_order
from runs.history.watching import BASELINE
from runs.machines.facts import names_apart
from runs.models import Benchmark, ChangePoint, Conditions, SeriesBatch
from runs.models.choices import Better
from runs.run.circumstances import OF_MACHINE
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
    how it stands to what it is set against, as a ratio. `besides`: facts of machine and disks that differ between both.
    """

    mean: float
    batches: int
    change: Amount | None = None
    besides: tuple[str, ...] = ()

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


class _Release(NamedTuple):
    """The batches of a release in their order: the mean of each, and what was recorded of them."""

    centres: list[float]
    conditions: set[str]


def release_maps(benchmarks: Sequence[Benchmark], *, than: str = "") -> list[ReleaseMap]:
    """A map a system. Each release is set against the one before it, or against the release `than`."""
    benchmarks = _without_older_releases(benchmarks)
    by_id = _releases_of(benchmarks)
    of_line = grouped((each.line, each) for each in benchmarks)
    others = Benchmark.objects.filter(line__in=of_line, joined_to=None, release_of=None).exclude(branch="")
    beside = list(others.order_by("-newest_at"))
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
    recorded = {each for of_one in by_id.values() for release in of_one.values() for each in release.conditions}
    facts = {key: each.facts for key, each in Conditions.objects.in_bulk(recorded).items()}
    return [_map(name, own, by_id, than, facts) for name, own in sorted(systems.items())]


def _without_older_releases(benchmarks: Sequence[Benchmark]) -> list[Benchmark]:
    """Those beside which they are measured show them."""
    own = {each.pk for each in benchmarks}
    return [each for each in benchmarks if each.release_of_id not in own]


def _releases_of(benchmarks: Sequence[Benchmark]) -> dict[UUID, dict[_Version, _Release]]:
    """The batches of each release, also of those that are measured on beside a newer one, since the last confirmed
    change among them that three or more follow: a mean of two levels is none, and the change to the next release may be
    placed at the last of this one.
    """
    whose = {each.pk: each.pk for each in benchmarks}
    whose |= {each.pk: each.release_of_id or each.pk for each in Benchmark.objects.filter(release_of__in=benchmarks)}
    points = ChangePoint.objects.filter(benchmark__in=whose).select_related("alert")
    begins = {point.at_id for point in points.defer("alert__note", "alert__links") if point.begins_level}
    batches = SeriesBatch.objects.filter(benchmark__in=whose).exclude(centre=None).in_order()
    rows: dict[UUID, dict[_Version, list[tuple[int, float, str]]]] = defaultdict(lambda: defaultdict(list))
    for pk, at, name, centre, conditions in batches.values_list(
        "benchmark", "pk", "version__version", "centre", "conditions"
    ):
        rows[whose[pk]][_Version(version_order(name), name)].append((at, centre or 0.0, conditions))
    found: dict[UUID, dict[_Version, _Release]] = {}
    for pk, releases in rows.items():
        for version, known in releases.items():
            places = (
                place for place, (at, *_) in enumerate(known) if at in begins and len(known) - place >= LEAST_DAYS
            )
            level = known[max(places, default=0) :]
            of_level = _Release([centre for _, centre, _ in level], {conditions for *_, conditions in level})
            found.setdefault(pk, {})[version] = of_level
    return found


def _map(
    system: str,
    own: Sequence[Benchmark],
    by_id: Mapping[UUID, Mapping[_Version, _Release]],
    than: str,
    facts: Mapping[str, Mapping[str, str]],
) -> ReleaseMap:
    versions = sorted({version for benchmark in own for version in by_id.get(benchmark.pk, {})})
    shown = versions[-MOST_RELEASES:]
    if chosen := [version for version in versions if version.name == than and version not in shown]:
        shown = [*chosen, *shown[1:]]
    rows = [(each, _cells(each, by_id.get(each.pk, {}), shown, than, facts)) for each in own]
    return ReleaseMap(system, [version.name for version in shown], rows)


def _cells(
    benchmark: Benchmark,
    releases: Mapping[_Version, _Release],
    shown: Iterable[_Version],
    than: str,
    facts: Mapping[str, Mapping[str, str]],
) -> list[ReleaseCell | None]:
    cells: list[ReleaseCell | None] = []
    chosen = next((release for version, release in releases.items() if version.name == than), None)
    before: _Release | None = None
    for version in shown:
        release = releases.get(version)
        base = chosen if than else before
        if not release:
            cells.append(None)
            continue
        change, metric = None, benchmark.metric
        besides: tuple[str, ...] = ()
        if base and base is not release:
            change = judged_by_repeats(release.centres, base.centres, better=metric.better, threshold=metric.threshold)
            besides = _besides(*([facts[each] for each in side.conditions] for side in (base, release)))
        summary = summarise(release.centres)
        cells.append(ReleaseCell(summary.centre if summary else 0.0, len(release.centres), change, besides))
        before = release
    return cells


def _besides(before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Labels of facts of machine and disks that all batches tell and that are not the same in both."""
    told = [set.intersection(*map(set, side)) for side in (before, after)]
    return tuple(
        mid_sentence(label)
        for name in sorted(set.intersection(*told))
        if (parts := name.partition(":"))[0] in OF_MACHINE and (label := parts[2])
        and {each[name] for each in before} != {each[name] for each in after}
    )  # fmt: skip


@dataclass(frozen=True)
class MachineCell:
    """A benchmark on a machine: the geometric mean of the newest batches of the last level of a release.

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
    """What was measured on several machines: a row a question with its release, a column a machine."""

    machines: list[str]
    rows: list[tuple[Benchmark, str, list[MachineCell | None]]] = field(default_factory=list)
    # Questions of which no two machines have one release, and benchmarks of which a batch is 0, of which nothing is a
    # share.
    alone: int = 0
    at_zero: int = 0

    @cached_property
    def common(self) -> int:
        """Rows that all machines have."""
        return sum(None not in cells for *_, cells in self.rows)

    @cached_property
    def means(self) -> list[float]:
        """For each machine the geometric mean of its shares of the best, over what all have."""
        whole = [[cell.share for cell in cells if cell] for *_, cells in self.rows if None not in cells]
        return [geometric_mean(column) or 0.0 for column in zip(*whole, strict=True)]

    @property
    def mean_words(self) -> list[str]:
        return [percent(mean) for mean in self.means]


def machine_matrix(benchmarks: Sequence[Benchmark]) -> MachineMatrix:
    """`benchmarks` that differ in nothing but their machine make a row, of the newest release that most of them have:
    what another release gained or lost is not the machine's.
    """
    by_name: dict[tuple[str, int], list[dict[str, Benchmark]]] = defaultdict(list)
    with_side = [
        each for each in _without_older_releases(benchmarks) if each.hardware and each.metric.better != Better.NONE
    ]
    levels, columns = _levels_of(with_side), _columns_of(with_side)
    for benchmark in with_side:
        if benchmark.pk in levels:
            rows, lengths = by_name[benchmark.name, benchmark.metric_id], benchmark.procedure
            alike = (
                row for row in rows if not any(beyond_span(each.procedure, lengths, lengths) for each in row.values())
            )
            if (own := next(alike, None)) is None:
                rows.append(own := {})
            # Where a machine has two of one name, as of two configurations, what was measured last counts.
            held = own.setdefault(columns[benchmark.pk], benchmark)
            own[columns[benchmark.pk]] = max(held, benchmark, key=_newest_at)
    questions = [own for rows in by_name.values() for own in rows]
    shared: list[tuple[str, dict[str, Benchmark], dict[str, list[float]]]] = []
    for own in questions:
        counts = Counter(release for each in own.values() for release in levels[each.pk])
        release = max(counts, key=lambda each: (counts[each], each))
        if counts[release] > 1:
            values = {name: levels[each.pk][release] for name, each in own.items() if release in levels[each.pk]}
            shared.append((release.name, own, values))
    machines = sorted({name for _, _, values in shared for name in values})
    matrix = MachineMatrix(machines, alone=len(questions) - len(shared), at_zero=len(with_side) - len(levels))
    for version, own, values in shared:
        cells = _against_the_best(own, values)
        matrix.rows.append((next(iter(own.values())), version, [cells.get(name) for name in machines]))
    return matrix


def _columns_of(benchmarks: Sequence[Benchmark]) -> dict[UUID, str]:
    """What the machine of each is called beside the others: two machines may have one name."""
    newest = {each.machine_id or each.hardware_id: each.hardware for each in sorted(benchmarks, key=_newest_at)}
    apart = names_apart({profile.slug: profile.name for profile in newest.values() if profile})
    return {
        each.pk: apart[profile.slug]
        for each in benchmarks
        if (profile := newest[each.machine_id or each.hardware_id])
    }  # fmt: skip


def _newest_at(benchmark: Benchmark) -> datetime:
    return benchmark.newest_at or benchmark.created_at


def _levels_of(benchmarks: Sequence[Benchmark]) -> dict[UUID, dict[_Version, list[float]]]:
    """The newest batches of the last level of each release. Nothing of a benchmark whose newest release has a batch of
    0, and of no other release that has one.
    """
    levels = {}
    for pk, releases in _releases_of(benchmarks).items():
        newest = {version: release.centres[-BASELINE:] for version, release in releases.items()}
        above = {version: centres for version, centres in newest.items() if min(centres) > 0}
        if max(newest) in above:
            levels[pk] = above
    return levels


def _against_the_best(own: Mapping[str, Benchmark], levels: Mapping[str, list[float]]) -> dict[str, MachineCell]:
    values = {name: [*compress(centres, usual([*map(math.log, centres)]))] for name, centres in levels.items()}
    means = {name: geometric_mean(centres) or 0.0 for name, centres in values.items()}
    first = next(iter(own.values()))
    is_rate = first.metric.better == Better.HIGHER
    best = (max if is_rate else min)(means, key=lambda name: means[name])
    others = [name for name in values if name != best]
    verdicts = judge_family(
        [(values[name], values[best]) for name in others], better=first.metric.better, threshold=first.metric.threshold
    )
    beaten = {name for name, verdict in zip(others, verdicts, strict=True) if verdict.kind in WINNERS}
    return {
        name: MachineCell(
            own[name], mean, mean / means[best] if is_rate else means[best] / mean,
            name not in beaten and len(values[name]) >= MIN_REPEATS,
        )
        for name, mean in means.items()
    }  # fmt: skip
