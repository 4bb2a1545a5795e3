"""Which repeats are pooled as one cell: those of one batch, unless a reader asks for more; and what names their batch.

Runs that do not say what they are to be pooled by (a label, a version) stay with their batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from datetime import date
from itertools import chain
from uuid import UUID

from runs.formatting import natural
from runs.models import Run
from runs.run.facets import SHORT_COMMIT, TESTED, Facet, tested_words
from runs.run.likeness import alike, parting_facets

BATCH, LABEL, VERSION, DATE, ALL = "batch", "label", "version", "date", "all"
# In the order of the choice; what is pooled, in words.
GROUPINGS = {
    BATCH: "what was measured together",
    LABEL: "runs with the same label",
    VERSION: "runs of the same version tested",
    DATE: "runs of the same day",
    ALL: "all runs, whenever measured",
}
# The repeats that are pooled.
Cell = Sequence[Run]


def day_of(run: Run) -> date:
    """When it was measured; where nobody says, when it was stored."""
    return (run.measured_at or run.created_at).date()


def cells_of(
    runs: Sequence[Run], counting: Set[UUID], grouping: str, set_of: Mapping[UUID, tuple[str, str]]
) -> list[Cell]:
    """In the order of experiment or source; along a size axis in that of the sizes. `counting`: runs with a number.

    A queued run does not know its machine yet, one that has not ended not its storage, and one that was cancelled
    perhaps neither or a part: what has no number joins the cell that is like it in everything that it knows.
    """
    cells: dict[str, list[Run]] = {}
    key_by_facts: dict[tuple[object, ...], str] = {}
    ordered = sorted(runs, key=_position)
    position = {run.id: at for at, run in enumerate(ordered)}
    all_count = len(counting) == len(runs)
    for run in sorted(ordered, key=lambda run: (run.id not in counting, run.hardware_id is None)):
        pool = _pool(run, grouping, set_of)
        key = f"{run.cell_key or run.id} {pool}"
        if all_count:
            cells.setdefault(key, []).append(run)
            continue
        factors = tuple(sorted((factor.name, str(factor.value)) for factor in run.factors.all()))
        context = tuple(sorted((name, str(value)) for name, value in run.context.items()))
        facts = (pool, run.workload_id, run.dbms_version_id, run.config_id, factors, context)
        if run.id not in counting and key not in cells:
            key = key_by_facts.get((*facts, run.hardware_id), key)
        # The last one is what a run without a machine looks for.
        for of_machine in ((*facts, run.hardware_id), (*facts, None)):
            key_by_facts.setdefault(of_machine, key)
        cells.setdefault(key, []).append(run)

    def size_then_position(cell: Cell) -> tuple[object, ...]:
        size = cell[0].factor("size_gb")
        return ((size,) if isinstance(size, int | float) else (), position[cell[0].id])

    by_position = (sorted(cell, key=lambda run: position[run.id]) for cell in cells.values())
    # Repeats of two days are two things where no reader pools beyond a batch.
    parted = (
        alike(cell, by_day=pool_key(cell[0], grouping) == pool_key(cell[0], BATCH), counting=counting)
        for cell in by_position
    )
    return sorted(chain.from_iterable(parted), key=size_then_position)


def _position(run: Run) -> tuple[object, ...]:
    """As planned or printed; uploads by day and time, those of one request by system, machine and factors, numbers by
    size.
    """
    created = run.created_at
    if run.order_index is not None or run.source_id:
        is_unplanned, order = run.order_index is None, run.order_index or 0
        return (is_unplanned, order, created.date(), created, run.repeat, run.source_id, str(run.id))
    factors = sorted(
        (factor.name, factor.number is None, factor.number or 0.0, factor.text) for factor in run.factors.all()
    )
    devices = sorted((use.role, use.device.name) for use in run.storage.all())
    system, machine = natural(str(run.dbms_version)), natural(run.hardware.name if run.hardware else "")
    return (True, 0, day_of(run), created, 0, "", system, machine, devices, factors, run.repeat, str(run.id))


def pool_key(run: Run, grouping: str) -> str:
    """Repeats of a cell with the same key are pooled."""
    version = tested_words(run)
    # A run that has not ended does not know the build of its DBMS: it stays with its batch.
    version_or_build = version or run.said_tested.get("dbms_build", "")
    keys = {LABEL: run.said_label, VERSION: version_or_build, DATE: str(day_of(run)), ALL: ALL}
    return keys.get(grouping) or f"{run.batch_id} {run.said_label} {version}"


def _pool(run: Run, grouping: str, set_of: Mapping[UUID, tuple[str, str]]) -> str:
    return " ".join([pool_key(run, grouping), *set_of.get(run.id, ())[:1]])


def part_facets(cells: Sequence[Cell], grouping: str, set_of: Mapping[UUID, tuple[str, str]]) -> list[dict[str, Facet]]:
    """Of each cell what parts it from others with the same key that would be pooled with it."""
    pools = [f"{cell[0].cell_key or cell[0].id} {_pool(cell[0], grouping, set_of)}" for cell in cells]
    return parting_facets(cells, pools)


def pooled_words(cells: Sequence[Cell], grouping: str) -> str:
    """What is pooled beyond batches, as a reader asked for; empty where nothing is."""
    most = max((len({run.batch_id for run in cell}) for cell in cells), default=0)
    return f"Pooled on request: {GROUPINGS[grouping]}, up to {most} batches in a group." if most > 1 else ""


def batch_facets(cells: Sequence[Cell], grouping: str) -> list[dict[str, Facet]]:
    """Of each cell when it was measured and what was tested, as its runs say, each different value once."""
    pools: dict[str, list[Run]] = {}
    for cell in cells:
        pools.setdefault(pool_key(cell[0], grouping), []).extend(cell)
    names_by_pool = {key: _batch_names(runs, grouping) for key, runs in pools.items()}
    names = {} if _tell_only_when_stored(cells, names_by_pool) else _shortest_names(names_by_pool)
    builds: dict[UUID, set[str]] = {}
    for run in chain.from_iterable(cells):
        builds.setdefault(run.dbms_version_id, set()).add(run.said_tested.get("dbms_build", ""))
    facets_by_cell = []
    for cell in cells:
        values = {
            "batch": ("Batch", [names[pool_key(cell[0], grouping)]] if len(names) > 1 else []),
            "label": ("Label", [run.said_label for run in cell]),
            "tags": ("Tags", [" ".join(run.said_tags) for run in cell]),
            **{
                f"tested:{name}": (heading, [run.said_tested.get(name, "") for run in cell])
                for name, heading in TESTED.items()
                # Each DBMS has a build of its own: only two builds of one version are worth a fact.
                if name != "dbms_build" or len(builds[cell[0].dbms_version_id] - {""}) > 1
            },
        }
        facets = {}
        for field, (heading, texts) in values.items():
            if words := ", ".join(each := [*dict.fromkeys(filter(None, texts))]):
                short = ", ".join(text[:SHORT_COMMIT] for text in each) if field == "tested:commit" else words
                facets[field] = Facet(field, heading, words, short, short, words)
        facets_by_cell.append(facets)
    return facets_by_cell


def _tell_only_when_stored(cells: Sequence[Cell], names_by_pool: Mapping[str, Sequence[str]]) -> bool:
    """Whether batches tell nothing but when results were stored: on one day, with no cell in two of them.

    As where a cell is a request of its own: its second would stand as a fact, and no two cells had it alike.
    """
    if len({run.cell_key or run.id for cell in cells for run in cell[:1]}) < len(cells):
        return False
    unnamed = all(run.publication_id is None and not run.said_label for cell in cells for run in cell)
    return unnamed and len({names[0] for names in names_by_pool.values()}) == 1


def _batch_names(runs: Sequence[Run], grouping: str) -> list[str]:
    """What may name the batch of these runs, the best first."""
    run = min(runs, key=lambda run: (day_of(run), run.created_at))
    if run.publication is not None:
        return [run.publication.title_en]
    # A build is one DBMS's: it names no batch of several.
    of_one = len({run.dbms_version_id for run in runs}) == 1
    builds = (run.said_tested.get("dbms_build") for run in runs) if of_one else ()
    version = tested_words(run) or next(filter(None, builds), "")
    day = str(day_of(run))
    pooled_by = {LABEL: run.said_label, VERSION: version, DATE: day}.get(grouping, "")
    if grouping == ALL or pooled_by:
        return [pooled_by]
    return [*filter(None, (run.said_label, version)), day, f"{run.batch.created_at:%H:%M:%S}"]


def _shortest_names(names_by_pool: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """By key the first of its names, and as many more as it takes to tell it from the others."""
    taken = dict.fromkeys(names_by_pool, 1)
    while True:
        joined = {key: " · ".join(names[: taken[key]]) for key, names in names_by_pool.items()}
        counts = Counter(joined.values())
        doubles = [key for key, name in joined.items() if counts[name] > 1 and taken[key] < len(names_by_pool[key])]
        if not doubles:
            return joined
        for key in doubles:
            taken[key] += 1
