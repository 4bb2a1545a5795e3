"""Which repeats are pooled as one cell: those of one batch, unless a reader asks for more; and what names their batch.

Runs that do not say what they are to be pooled by (a label, a version) stay with their batch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import chain, compress, pairwise
from uuid import UUID

from runs.compare.facts import numbered
from runs.formatting import grouped, natural
from runs.models import Run
from runs.run.facets import SHORT_COMMIT, TESTED, Facet, commit_number, data_sizes, tested_words
from runs.run.likeness import OF_A_DAY, alike, parting_facets
from runs.stats import MIN_REPEATS

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

    @cached_property
    def counted(self) -> list[Run]:
        """Those that count."""
        return [run for run in self.runs if run.counts]

    @property
    def telling(self) -> Sequence[Run]:
        """Those that say what the cell is."""
        return self.counted or self.runs


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
    perhaps neither or a part: what has no number joins the cell that is like it in everything that it knows. A copy is
    told where its original is, whatever else it says.
    """
    sets = {run.id: set_of.get(run.id) for run in runs}
    copies = grouped(
        (run.copy_of_id, run) for run in runs if run.copy_of_id in sets and sets[run.copy_of_id] == sets[run.id]
    )
    copied = {run.id for of in copies.values() for run in of}
    runs = [run for run in runs if run.id not in copied]
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
        for part in parts:
            own_copies = chain.from_iterable(copies.get(run.id, ()) for run in part)
            parted.append(Cell([*part, *own_copies], key, pools[part[0].id]))

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
    most = max((len({run.batch_id for run in cell.telling}) for cell in cells), default=0)
    once = ", each of which counts once" if most >= MIN_REPEATS else ""
    return f"Pooled on request: {GROUPINGS[grouping]}, up to {most} batches in a group{once}." if most > 1 else ""


def batch_facets(cells: Sequence[Cell], grouping: str) -> list[dict[str, Facet]]:
    """When each cell was measured, what was tested, and what parts it from others with its key, as its runs say,
    each different value once. Of what does not count none of it parts what does.
    """
    of_none = not any(cell.counted for cell in cells)
    is_telling = [of_none or bool(cell.counted) for cell in cells]
    facets_by_cell = parting_facets([cell.telling for cell in cells], [cell.key for cell in cells], is_telling)
    every = [*zip(cells, facets_by_cell, strict=True)]
    telling = [*compress(every, is_telling)]
    names = _names_by_pool(telling, grouping)
    if names and len(telling) < len(every):
        names = _names_by_pool(every, grouping) | names
    tested = ((run.dbms_version_id, run.effective_tested) for cell, _ in telling for run in cell.telling)
    builds = grouped({(version, of["dbms_build"]) for version, of in tested if of.get("dbms_build")})
    for cell, facets in every:
        runs = cell.telling
        values = {
            "batch": ("Batch", [names.get(cell.pool, "")]),
            "label": ("Label", [run.effective_label for run in runs]),
            "tags": ("Tags", [" ".join(run.effective_tags) for run in runs]),
            **{
                f"tested:{name}": (heading, [run.effective_tested.get(name, "") for run in runs])
                for name, heading in TESTED.items()
                # Each DBMS has a build of its own: only two builds of one version are worth a fact.
                if name != "dbms_build" or len(builds.get(runs[0].dbms_version_id, ())) > 1
            },
        }
        for field, (heading, texts) in values.items():
            if words := ", ".join(each := [*dict.fromkeys(filter(None, texts))]):
                short = ", ".join(text[:SHORT_COMMIT] for text in each) if field == "tested:commit" else words
                facets[field] = Facet(field, heading, words, short, short, words)
    return facets_by_cell


def _names_by_pool(cells: Sequence[tuple[Cell, Mapping[str, Facet]]], grouping: str) -> dict[str, str]:
    """What each batch of these cells, with what parts them, is called; nothing where batches tell nothing."""
    pools = grouped((cell.pool, run) for cell, _ in cells for run in cell.telling)
    oldest_first = sorted(pools, key=lambda key: min(run.batch.created_at for run in pools[key]))
    names_by_pool = {key: _batch_names(pools[key], grouping) for key in oldest_first}
    asked: list[tuple[Cell, object]] = [(cell, _asked(cell, facets)) for cell, facets in cells]
    if _tell_only_when_stored(asked, [own for own, _ in names_by_pool.values()]):
        return {}
    cells_of_pool = {pool: {*of} for pool, of in grouped((cell.pool, of_cell) for cell, of_cell in asked).items()}
    names = _shortest_names({key: own + when for key, (own, when) in names_by_pool.items()}, cells_of_pool)
    return names if len({*names.values()}) > 1 else {}


def _tell_only_when_stored(asked: Sequence[tuple[Cell, object]], own_names: Sequence[Sequence[str]]) -> bool:
    """Whether batches tell nothing but when results came: no cell is in two of them, and all have one name, or none.

    As where a cell is a request of its own, or a sweep took days: its batch would stand as a fact, and no two cells
    had it alike. `asked`: cells, and what each was asked.
    """
    if len({of_cell for _, of_cell in asked}) < len(asked):
        return False
    is_measured = all(run.publication_id is None for cell, _ in asked for run in cell.telling)
    return is_measured and all(names == own_names[0] for names in own_names)


def _asked(cell: Cell, facets: Mapping[str, Facet]) -> tuple[object, ...]:
    """What a cell was asked: two that are alike in it are one, measured twice."""
    run = cell.telling[0]
    of_a_day = (facets[name].value for name in OF_A_DAY if name in facets)
    return (run.cell_key or run.id, *of_a_day, *data_sizes(run).values())


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
