"""Which repeats are pooled as one cell: those of one batch, unless a reader asks for more; and what names their batch.

Runs that do not say what they are to be pooled by (a label, a version) stay with their batch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from uuid import UUID

from runs.compare.facts import numbered
from runs.formatting import grouped, natural
from runs.models import Run
from runs.run.facets import SHORT_COMMIT, TESTED, Facet, commit_number, data_sizes, tested_words
from runs.run.likeness import OF_A_DAY, alike, parting_facets

BATCH, LABEL, VERSION, DATE, ALL = "batch", "label", "version", "date", "all"
# In the order of the choice; what is pooled, in words.
GROUPINGS = {
    BATCH: "what was measured together",
    LABEL: "runs with the same label",
    VERSION: "runs of the same version tested",
    DATE: "runs of the same day",
    ALL: "all runs, whenever measured",
}


@dataclass(frozen=True)
class Cell:
    """Repeats that are pooled: of one `pool`, such as a batch. Cells with one `key` would be one, were they alike."""

    runs: Sequence[Run]
    key: str
    pool: str


def day_of(run: Run) -> date:
    """When it was measured; where nobody says, when it was published, else when it was stored."""
    if run.measured_at:
        return run.measured_at.date()
    printed_on = run.publication.published_on if run.publication else None
    return printed_on or run.created_at.date()


def moments(runs: Mapping[str, Run]) -> dict[str, str]:
    """When each of these was measured, by their keys: the day; with the time where batches that asked a system, of
    whatever version, the same have that day in common; with a number where that is not known of all, or they have it
    in common, too.
    """
    by_day: dict[tuple[object, ...], dict[UUID, list[str]]] = {}
    for key, run in sorted(runs.items(), key=lambda each: _order_of(each[1])):
        asked = (run.dbms_version.dbms_id, run.hardware_id, _disks_of(run), *_asked_of(run), day_of(run))
        by_day.setdefault(asked, {}).setdefault(run.batch_id, []).append(key)
    found: dict[str, str] = {}
    for (*_, day), batches in by_day.items():
        times = [runs[keys[0]].started_at for keys in batches.values()]
        is_told_by_time = len({*times}) == len(times) and all(times)
        for number, (keys, time) in enumerate(zip(batches.values(), times, strict=True), 1):
            of_day = "" if len(batches) == 1 else f" {time:%H:%M:%S}" if is_told_by_time else f" #{number}"
            found |= dict.fromkeys(keys, f"{day}{of_day}")
    return found


def _disks_of(run: Run) -> frozenset[object]:
    return frozenset((use.role, use.device_id) for use in run.storage_rows)


def _asked_of(run: Run) -> tuple[object, ...]:
    """What a run asks of its system, on whatever machine and disks."""
    factors = sorted((factor.name, str(factor.value)) for factor in run.factor_rows)
    context = sorted((name, str(value)) for name, value in run.context.items())
    return (run.workload_id, run.config_id, (*factors,), (*context,))


def _order_of(run: Run) -> tuple[datetime, int, datetime]:
    """Of runs of one time the commits are in their order, and what was stored first comes first."""
    return run.measured_at or run.created_at, commit_number(run.effective_tested), run.batch.created_at


def position_of(moment: str) -> float:
    """On an axis of dates, in days."""
    when, _, number = moment.partition(" #")
    days = (datetime.fromisoformat(when) - datetime.min) / timedelta(days=1)
    # As ordinals of dates, which begin with 1; the numbers of a day stay within it.
    return 1 + days + (int(number or 1) - 1) / 1000


def rising(xs: Sequence[float]) -> list[float]:
    """Where batches stand on an axis of dates, in days, in the order of their series: as many as rise in it stand where
    they were measured, each other one, as a commit that was measured afterwards, between its neighbours.
    """
    ends, before = list[int](), list[int | None]()
    for at, x in enumerate(xs):
        length = bisect_left(ends, x, key=lambda end: xs[end])
        before.append(ends[length - 1] if length else None)
        ends[length : length + 1] = [at]
    kept = [len(xs)]
    place = ends[-1] if ends else None
    while place is not None:
        kept.append(place)
        place = before[place]
    found, last = list(xs), len(xs)
    for begin, end in pairwise([-1, *reversed(kept)]):
        if end - begin < 2:
            continue
        low = xs[begin] if begin >= 0 else xs[end] - (end - begin) / 1000
        high = xs[end] if end < last else low + (end - begin) / 1000
        for at in range(begin + 1, end):
            found[at] = low + (high - low) * (at - begin) / (end - begin)
    return found


def cells_of(runs: Sequence[Run], grouping: str, set_of: Mapping[UUID, tuple[str, str]]) -> list[Cell]:
    """In the order of experiment or source; along a size axis in that of the sizes.

    A queued run does not know its machine yet, one that has not ended not its storage, and one that was cancelled
    perhaps neither or a part: what has no number joins the cell that is like it in everything that it knows.
    """
    cells: dict[str, list[Run]] = {}
    # The disks of each cell by its key, by what else is known of it.
    disks_by_facts: dict[tuple[object, ...], dict[str, frozenset[object]]] = {}
    counting, pools = {run.id for run in runs if run.counts}, {run.id: _pool(run, grouping) for run in runs}
    ordered = sorted(runs, key=_position)
    position = {run.id: at for at, run in enumerate(ordered)}
    all_count = len(counting) == len(runs)
    for run in sorted(ordered, key=lambda run: (run.id not in counting, run.hardware_id is None)):
        pool = " ".join([pools[run.id], *set_of.get(run.id, ())[:1]])
        key = f"{run.cell_key or run.id} {pool}"
        if all_count:
            cells.setdefault(key, []).append(run)
            continue
        facts, disks = (pool, run.dbms_version_id, *_asked_of(run)), _disks_of(run)
        if run.id not in counting and key not in cells:
            known = disks_by_facts.get((*facts, run.hardware_id), {})
            key = next((other for other, held in known.items() if disks <= held), key)
        # The last one is what a run without a machine looks for.
        for of_machine in ((*facts, run.hardware_id), (*facts, None)):
            disks_by_facts.setdefault(of_machine, {}).setdefault(key, disks)
        cells.setdefault(key, []).append(run)

    parted: list[Cell] = []
    for key, repeats in cells.items():
        repeats.sort(key=lambda run: position[run.id])
        # Repeats of two days are two things where no reader pools beyond a batch.
        by_day = grouping == BATCH or pools[repeats[0].id] == _pool(repeats[0], BATCH)
        parts = alike(repeats, by_day=by_day, counting=counting)
        parted += [Cell(part, key, pools[part[0].id]) for part in parts]

    def size_then_position(cell: Cell) -> tuple[object, ...]:
        size = cell.runs[0].factor("size_gb")
        return ((size,) if isinstance(size, int | float) else (), position[cell.runs[0].id])

    return sorted(parted, key=size_then_position)


def _position(run: Run) -> tuple[object, ...]:
    """As planned or printed; uploads by day and time, those of one request by system, machine, factors,
    configuration and batch, numbers by size.
    """
    created = run.created_at
    if run.order_index is not None or run.source_id:
        is_unplanned, order = run.order_index is None, run.order_index or 0
        return (is_unplanned, order, created.date(), created, run.repeat, run.source_id, str(run.id))
    factors = sorted(
        (factor.name, factor.number is None, factor.number or 0.0, natural(factor.text)) for factor in run.factor_rows
    )
    factors += [(name, False, size, ()) for name, size in data_sizes(run).items()]
    devices = sorted((use.role, use.device.name) for use in run.storage_rows)
    system = natural(run.dbms_version.dbms.name), run.dbms_version.place
    machine = natural(run.hardware.name if run.hardware else "")
    config = natural(run.config.name if run.config else "")
    place = (system, machine, devices, factors, config, run.batch.created_at)
    return (True, 0, day_of(run), created, 0, "", *place, run.repeat, str(run.id))


def _pool(run: Run, grouping: str) -> str:
    """Repeats of a cell with the same one are pooled."""
    version = tested_words(run)
    # A run that has not ended does not know the build of its DBMS: it stays with its batch.
    version_or_build = version or run.effective_tested.get("dbms_build", "")
    keys = {LABEL: run.effective_label, VERSION: version_or_build, DATE: str(day_of(run)), ALL: ALL}
    return keys.get(grouping) or f"{run.batch_id} {run.effective_label} {version}"


def pooled_words(cells: Sequence[Cell], grouping: str) -> str:
    """What is pooled beyond batches, as a reader asked for; empty where nothing is."""
    most = max((len({run.batch_id for run in cell.runs}) for cell in cells), default=0)
    return f"Pooled on request: {GROUPINGS[grouping]}, up to {most} batches in a group." if most > 1 else ""


def batch_facets(cells: Sequence[Cell], grouping: str) -> list[dict[str, Facet]]:
    """When each cell was measured, what was tested, and what parts it from others with its key, as its runs say,
    each different value once.
    """
    pools: dict[str, list[Run]] = {}
    for cell in cells:
        pools.setdefault(cell.pool, []).extend(cell.runs)
    oldest_first = sorted(pools, key=lambda key: min(run.batch.created_at for run in pools[key]))
    names_by_pool = {key: _batch_names(pools[key], grouping) for key in oldest_first}
    facets_by_cell = parting_facets([cell.runs for cell in cells], [cell.key for cell in cells])
    of_a_day = [[facets[name].value for name in OF_A_DAY if name in facets] for facets in facets_by_cell]
    only_when_stored = _tell_only_when_stored(cells, of_a_day, [own for own, _ in names_by_pool.values()])
    cells_of_pool: dict[str, set[object]] = {}
    for cell, asked in zip(cells, _asked(cells, of_a_day), strict=True):
        cells_of_pool.setdefault(cell.pool, set()).add(asked)
    of_pool = {} if only_when_stored else {key: own + when for key, (own, when) in names_by_pool.items()}
    names = _shortest_names(of_pool, cells_of_pool)
    builds: dict[UUID, set[str]] = {}
    for run in (run for cell in cells for run in cell.runs):
        builds.setdefault(run.dbms_version_id, set()).add(run.effective_tested.get("dbms_build", ""))
    for cell, facets in zip(cells, facets_by_cell, strict=True):
        tested = [run.effective_tested for run in cell.runs]
        values = {
            "batch": ("Batch", [names[cell.pool]] if len({*names.values()}) > 1 else []),
            "label": ("Label", [run.effective_label for run in cell.runs]),
            "tags": ("Tags", [" ".join(run.effective_tags) for run in cell.runs]),
            **{
                f"tested:{name}": (heading, [of_run.get(name, "") for of_run in tested])
                for name, heading in TESTED.items()
                # Each DBMS has a build of its own: only two builds of one version are worth a fact.
                if name != "dbms_build" or len(builds[cell.runs[0].dbms_version_id] - {""}) > 1
            },
        }
        for field, (heading, texts) in values.items():
            if words := ", ".join(each := [*dict.fromkeys(filter(None, texts))]):
                short = ", ".join(text[:SHORT_COMMIT] for text in each) if field == "tested:commit" else words
                facets[field] = Facet(field, heading, words, short, short, words)
    return facets_by_cell


def _tell_only_when_stored(
    cells: Sequence[Cell], of_a_day: Sequence[Sequence[str]], own_names: Sequence[Sequence[str]]
) -> bool:
    """Whether batches tell nothing but when results came: no cell is in two of them, and all have one name, or none.

    As where a cell is a request of its own, or a sweep took days: its batch would stand as a fact, and no two cells
    had it alike.
    """
    if len({*_asked(cells, of_a_day)}) < len(cells):
        return False
    is_measured = all(run.publication_id is None for cell in cells for run in cell.runs)
    return is_measured and all(names == own_names[0] for names in own_names)


def _asked(cells: Sequence[Cell], of_a_day: Sequence[Sequence[str]]) -> list[tuple[object, ...]]:
    """What each cell was asked: two that are alike in it are one, measured twice."""
    return [
        (cell.runs[0].cell_key or cell.runs[0].id, *told, *data_sizes(cell.runs[0]).values())
        for cell, told in zip(cells, of_a_day, strict=True)
    ]


def _batch_names(runs: Sequence[Run], grouping: str) -> tuple[list[str], list[str]]:
    """What may name the batch of these runs, the best first: names of its own, then when it was measured and stored."""
    run = min(runs, key=lambda run: (day_of(run), run.created_at))
    if run.publication is not None:
        return [run.publication.title_en], []
    # A build is one DBMS's: it names no batch of several.
    of_one = len({run.dbms_version_id for run in runs}) == 1
    builds = (run.effective_tested.get("dbms_build") for run in runs) if of_one else ()
    version = tested_words(run) or next(filter(None, builds), "")
    day = str(day_of(run))
    pooled_by = {LABEL: run.effective_label, VERSION: version, DATE: day}.get(grouping, "")
    if grouping == ALL or pooled_by:
        return [pooled_by], []
    created_at = run.batch.created_at
    # The clock of an upload is none of the day that was measured.
    stored = f"{created_at:%H:%M:%S}" if created_at.date() == day_of(run) else f"stored {created_at:%Y-%m-%d %H:%M:%S}"
    return [*filter(None, (run.effective_label, version))], [day, stored]


def _shortest_names(
    names_by_pool: Mapping[str, Sequence[str]], cells_of_pool: Mapping[str, set[object]]
) -> dict[str, str]:
    """The first of its names by key, and as many more as it takes to tell apart the batches that have a cell in common;
    what is alike in all of them is numbered.

    Batches of one name that have no cell in common, as each machine sends its own, are called the same. That they were
    stored in one second is chance, and makes none the same.
    """
    taken = dict.fromkeys(names_by_pool, 1)
    while True:
        joined = {key: " · ".join(names[: taken[key]]) for key, names in names_by_pool.items()}
        all_told = {key for key, names in names_by_pool.items() if taken[key] == len(names)}
        of_name = grouped((name, key) for key, name in joined.items())
        doubles = [
            key
            for keys in of_name.values()
            if _have_a_cell_in_common(keys, cells_of_pool) or (taken[keys[0]] > 1 and all_told.issuperset(keys))
            for key in keys
        ]
        longer = [key for key in doubles if key not in all_told]
        if not longer:
            return joined | dict(zip(doubles, numbered([joined[key] for key in doubles]), strict=True))
        for key in longer:
            taken[key] += 1


def _have_a_cell_in_common(pools: Sequence[str], cells_of_pool: Mapping[str, set[object]]) -> bool:
    cells = [cells_of_pool[pool] for pool in pools]
    return len(set[object]().union(*cells)) < sum(map(len, cells))
