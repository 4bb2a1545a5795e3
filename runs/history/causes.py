"""Why: what else changed at a place, and where the time went, before and after, the largest first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile
from operator import itemgetter
from typing import Any
from uuid import UUID

from runs.history.spent import Spending, Spent, compare, per_batch, spending
from runs.models import ChangePoint, Conditions, Run, SeriesBatch
from runs.models.choices import OF_LEVEL, ChangeKind, ChangeState
from runs.run.circumstances import OF_MACHINE, OF_SYSTEM, PARTS_CAUSES, Circumstance, changes
from runs.run.facets import SHORT_COMMIT

# Batches on each side whose counters are set against each other.
EACH_SIDE = 10
MOST_SHOWN = 8
# So many times the bytes a row are another data set, of tables that are this part of all.
BLOATED, LARGER = 1.5, 0.1
# How what is given begins where each batch may have one of its own.
OWN_OF_A_BATCH = (f"{Circumstance.COMMIT} ", "build ", "label ")
# From so many benchmarks, and so large a share, of one place on, the machine as a whole has moved.
LEAST_OF_A_MACHINE, SHARE_OF_A_MACHINE = 3, 0.8
_ORDER: dict[str, int] = {kind: at for at, kind in enumerate(Circumstance)}


@dataclass(frozen=True)
class Why:
    """`changed`: (kind, in words) of what was recorded differently, and of how many of all `moved` benchmarks.
    `where`: of one benchmark, the largest first.

    `is_machine`: nearly all that its one machine runs has moved, and nothing of the systems tested changed, or several
    systems moved at once. `kind`: the likeliest cause, of what was recorded or else of what the time went on, which
    `held` benchmarks share. `is_place`: that is the commit alone, and each batch has one of its own: where it began,
    not why. `ends`: a run of the batch before the largest change and one of its first, between which may be measured.
    """

    changed: list[tuple[str, str, int]]
    moved: int
    where: list[Spent]
    is_machine: bool
    kind: str
    held: int
    is_place: bool
    ends: Sequence[UUID]


def why(points: Sequence[ChangePoint], watched: int) -> Why:
    """Why the changes of an alert came about, of `watched` benchmarks that its machines had."""
    standing = [point for point in points if point.state != ChangeState.REFUTED] or list(points)
    machines = {point.benchmark.machine_id for point in standing}
    changed: dict[tuple[str, str], set[UUID]] = defaultdict(set)
    for point in standing:
        for each in changed_at(point):
            changed[each].add(point.benchmark_id)
    ordered = sorted(changed, key=lambda each: _ORDER.get(each[0], len(_ORDER)))
    # What changed there alone tells more than a commit, or a note of the run, which every night has anew.
    restless = tuple(label for point in standing for label in _restless(point))
    seldom = [
        (kind, words)
        for kind, words in ordered
        if kind != Circumstance.COMMIT and not (kind == Circumstance.INFO and words.startswith(restless))
    ]
    has_a_commit_each = all(map(_has_a_commit_each, standing))
    suspects = seldom if seldom and has_a_commit_each else ordered
    moved = len({point.benchmark_id for point in standing})
    of_system = OF_SYSTEM & {kind for kind, _ in suspects}
    systems = {point.benchmark.dbms_id for point in standing}
    # What moved in two metrics is one.
    apart = {(point.benchmark_id, point.benchmark.is_beside) for point in standing}
    main = sum(not is_beside for _, is_beside in apart)
    nearly_all = max(main, moved - main) >= LEAST_OF_A_MACHINE and moved >= SHARE_OF_A_MACHINE * watched
    is_machine = nearly_all and len(machines) == 1 and (not of_system or len(systems) > 1)
    largest = max(standing, key=lambda point: point.size, default=None)
    where = where_it_went(largest) if largest else []
    is_slower = largest is not None and largest.side != "better"
    others = [each for each in ordered if each not in suspects]
    # That others were at work is a cause; a commit that each batch has anew is none beside it.
    is_by_others = has_a_commit_each and not seldom and spending(where, is_slower=is_slower) == Spending.OTHERS
    kind = Circumstance.MACHINE if is_by_others else _kind(suspects, where, is_machine, is_slower=is_slower)
    is_place = has_a_commit_each and kind == Circumstance.COMMIT
    ends = _ends(largest) if largest else []
    told = [(kind, words, len(changed[kind, words])) for kind, words in (*suspects, *others)]
    recorded = [] if is_machine or is_by_others else [ids for each, ids in changed.items() if each[0] == kind]
    held = len(set[UUID]().union(*recorded)) or moved
    return Why(told, moved, where[:MOST_SHOWN], is_machine, kind, held, is_place, ends)


def _ends(point: ChangePoint) -> list[UUID]:
    """A run of the batch before the change and one of its first, where both are still there."""
    before, after = around(point, 1)
    found = [row.run_id for row in (*before, *after) if row.run_id]
    return found if len(found) == 2 else []


def _has_a_commit_each(point: ChangePoint) -> bool:
    """Whether every batch before the change that states its commit had one of its own."""
    before, _ = around(point)
    commits = [row.commit for row in before if row.commit]
    return len(commits) > 1 and len({*commits}) == len(commits)


def _restless(point: ChangePoint) -> list[str]:
    """How the words of what runs noted begin that changed among the batches before the change, too: before it in time,
    as an older version that was measured later stands before it in the series.
    """
    before, _ = around(point)
    earlier = [row.conditions_id for row in before if row.measured_at < point.at.measured_at]
    told: dict[str, set[str]] = defaultdict(set)
    for conditions in Conditions.objects.filter(digest__in=earlier):
        for name, text in conditions.facts.items():
            told[name].add(text)
    return [f"{name.removeprefix('info:')} " for name, texts in told.items() if len(texts) > 1]


def _kind(changed: Sequence[tuple[str, str]], where: Sequence[Spent], is_machine: bool, *, is_slower: bool) -> str:
    of_system = next((kind for kind, _ in changed if kind in OF_SYSTEM), "")
    spent_on = spending(where, is_slower=is_slower)
    if is_machine or (not of_system and spent_on == Spending.OTHERS):
        return Circumstance.MACHINE
    return of_system or next((kind for kind, _ in changed), "") or spent_on.value


def changed_at(point: ChangePoint) -> list[tuple[str, str]]:
    """Facts, version and commit of the batch that differ from the one before it; of a drift, of its last from its
    first. Of any other batch that a step may have begun with its facts as well.
    """
    before, after = around(point, 1)
    if not (before and after):
        return []
    old, new = before[-1], after[0]
    pairs = [(old, new), *(pair for pair in _may_begin(point) if pair[1] != new)]
    facts = Conditions.objects.in_bulk({row.conditions_id for pair in pairs for row in pair})
    of_each = (changes(*(facts[row.conditions_id].facts for row in pair)) for pair in pairs)
    changed = [*dict.fromkeys(chain.from_iterable(of_each))]
    if old.commit != new.commit and new.commit:
        changed.append((Circumstance.COMMIT, f"Commit {' → '.join(_told_apart(old.commit, new.commit))}"))
    return [*changed, *_changes_by_engine(old.run, new.run)]


def _may_begin(point: ChangePoint) -> Iterator[tuple[SeriesBatch, SeriesBatch]]:
    """Each batch that a step may have begun with, and the one before it in its series."""
    if point.earliest and point.latest and point.earliest < point.latest:
        for before, own in pairwise(point.benchmark.series.in_order()):
            if point.earliest <= own.measured_at <= point.latest:
                yield before, own


def given_anew(rows: Sequence[SeriesBatch], places: Sequence[int]) -> list[str]:
    """What the batches at these places, the likeliest first, were given that the one before them was not, as other
    machines may be given it, too. Of each place a line of each, or the commit, build or label where nothing else is
    new. Nothing where at the likeliest the machine itself has changed.
    """
    found = [_given(*pair) for pair in _neighbours(rows, places)]
    return [given for given in dict.fromkeys(found) if given] if found and found[0] else []


def recorded_anew(rows: Sequence[SeriesBatch], places: Sequence[int]) -> list[set[tuple[str, str]]]:
    """What was recorded anew of the system and its machine at each of these places, but for commit, build and label."""
    return [set(_recorded(*pair)) for pair in _neighbours(rows, places)]


def _neighbours(rows: Sequence[SeriesBatch], places: Sequence[int]) -> list[tuple[SeriesBatch, SeriesBatch]]:
    """For each of these places the batch before it and its own, with what was recorded of them."""
    wanted = {rows[at].pk for place in places if place for at in (place - 1, place)}
    known = SeriesBatch.objects.select_related("conditions", "version__dbms").in_bulk(wanted)
    return [(known[rows[place - 1].pk], known[rows[place].pk]) for place in places if place]


def _recorded(old: SeriesBatch, new: SeriesBatch) -> list[tuple[str, str]]:
    changed = changes(old.conditions.facts, new.conditions.facts)
    version = [(Circumstance.VERSION.value, new.version.name)] if new.version_id != old.version_id else []
    others = [(kind, words) for kind, words in changed if kind in PARTS_CAUSES]
    return [*version, *sorted(others, key=itemgetter(1))]


def _given(old: SeriesBatch, new: SeriesBatch) -> str:
    recorded = _recorded(old, new)
    if any(kind in OF_MACHINE for kind, _ in recorded):
        return ""
    given = [words for _, words in recorded]
    named = [
        (Circumstance.COMMIT.value, old.commit, new.commit),
        ("build", old.build, new.build),
        ("label", old.label, new.label),
    ]
    return "\n".join(given or [f"{name} {value}" for name, was, value in named if value not in ("", was)][:1])


def commit_given(cause: str) -> str:
    """The commit that something of `given_anew` is; empty where it is something else."""
    name, _, value = cause.partition(" ")
    return value if name == Circumstance.COMMIT else ""


def _told_apart(old: str, new: str) -> tuple[str, str]:
    """Two commits, each as far as tells it from the other."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    length = max(SHORT_COMMIT, alike + 1)
    return old[:length] or "not stated", new[:length]


def _changes_by_engine(old: Run | None, new: Run | None) -> Iterator[tuple[str, str]]:
    """Indexes that are gone or new, queries with another plan, upkeep that never was, of one run each."""
    if old is None or new is None:
        return
    a, b = old.statistics, new.statistics
    if a.get("indexes") and "indexes" in b:
        names = [{str(index.get("index")) for index in side["indexes"]} for side in (a, b)]
        yield from ((Circumstance.INDEX, f"Index {name} is gone") for name in sorted(names[0] - names[1]))
        yield from ((Circumstance.INDEX, f"Index {name} is new") for name in sorted(names[1] - names[0]))
    asked = [
        {(each.get("query"), each.get("sql")): each["plan"] for each in side.get("queries", []) if each.get("plan")}
        for side in (a, b)
    ]
    for key in asked[0].keys() & asked[1].keys():
        if _shape(asked[0][key]) != _shape(asked[1][key]):
            yield (Circumstance.PLAN, f"Another plan of query {key[0]}")
    widths = [_row_bytes(side.get("tables", [])) for side in (a, b)]
    for table in widths[0].keys() & widths[1].keys():
        old_bytes, new_bytes = (each[table] for each in widths)
        if max(old_bytes, new_bytes) > BLOATED * min(old_bytes, new_bytes):
            yield (Circumstance.DATASET, f"Table {table} {old_bytes:.0f} → {new_bytes:.0f} bytes a row")
    ages = [{age["what"]: age.get("age_s") for age in side.get("maintenance", [])} for side in (a, b)]
    for what in ages[0].keys() & ages[1].keys():
        if (ages[0][what] is None) != (ages[1][what] is None):
            yield (
                Circumstance.STATISTICS,
                f"{what}: {'never any more' if ages[1][what] is None else 'not never any more'}",
            )


def _row_bytes(tables: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """What a row of each larger table takes on disk, the rows that are gone and not cleared away included."""
    sizes = {str(table["table"]): float(table.get("size_bytes") or 0) for table in tables}
    rows = {str(table["table"]): int(table.get("rows") or 0) for table in tables}
    least = LARGER * sum(sizes.values())
    return {table: size / rows[table] for table, size in sizes.items() if rows[table] > 0 and size > least}


def _shape(plan: object) -> str:
    """A plan without its figures, which differ from run to run."""
    return re.sub(r"[\d.]+", "", str(plan))


def around(point: ChangePoint, most: int = EACH_SIDE) -> tuple[list[SeriesBatch], list[SeriesBatch]]:
    """So many batches before a change, and from it on, in order; of a drift the first and the last of it."""
    rows = list(point.benchmark.series.in_order())
    place = next((index for index, row in enumerate(rows) if row.pk == point.at_id), 0)
    if point.kind == ChangeKind.DRIFT:
        drifted = rows[place : place + point.batches_after]
        return drifted[:most], drifted[-most:]
    return rows[max(0, place - most) : place], rows[place : place + most]


def where_it_went(point: ChangePoint) -> list[Spent]:
    """What else these runs tell that surely changed, before and after, the largest first; not the number itself. Of the
    batches up to the next change on each side.
    """
    before, after = around(point)
    levels = point.benchmark.changes.filter(state=ChangeState.CONFIRMED, kind__in=OF_LEVEL).exclude(at=point.at_id)
    others = {*levels.values_list("at", flat=True)}
    begin = max((at for at, row in enumerate(before) if row.pk in others), default=0)
    before, after = before[begin:], [*takewhile(lambda row: row.pk not in others, after)]
    found = compare(per_batch(before), per_batch(after))
    return [spent for spent in found if spent.quantity.name != point.benchmark.metric.name]
