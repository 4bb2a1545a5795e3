"""Which repeats are pooled: those of one batch, unless a reader asks for more; and how groups of one cell are named.

Runs that do not say what they are to be pooled by (a label, a version) stay with their batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import chain
from uuid import UUID

from runs.models import Run
from runs.run.facets import TESTED, Facet, tested_words

BATCH, LABEL, VERSION, DATE, ALL = "batch", "label", "version", "date", "all"
# In the order of the choice; what is pooled, in words.
GROUPINGS = {
    BATCH: "what was measured together",
    LABEL: "runs with the same label",
    VERSION: "runs of the same version tested",
    DATE: "runs of the same day",
    ALL: "all runs, whenever measured",
}


def day_of(run: Run) -> date:
    """When it was measured; where nobody says, when it was stored."""
    return run.measured_on or (run.started_at or run.created_at).date()


def key_of(run: Run, grouping: str) -> str:
    """Repeats of a cell with the same key are pooled."""
    version = tested_words(run)
    # A run that has not ended does not know the build of its DBMS: it stays with its batch.
    asked = {LABEL: run.said_label, VERSION: version or _build(run), DATE: str(day_of(run)), ALL: ALL}.get(grouping, "")
    return asked or f"{run.batch_id} {run.said_label} {version}"


def said_of(cells: Sequence[Sequence[Run]], grouping: str) -> list[dict[str, Facet]]:
    """Of each cell what its runs say about the time and the thing tested, each different value once."""
    together: dict[str, list[Run]] = {}
    for cell in cells:
        together.setdefault(key_of(cell[0], grouping), []).extend(cell)
    known = {key: _words(runs, grouping) for key, runs in together.items()}
    names = {} if _are_accidents(cells, known) else _names(known)
    builds: dict[UUID, set[str]] = {}
    for run in chain.from_iterable(cells):
        builds.setdefault(run.dbms_version_id, set()).add(_build(run))
    said = []
    for cell in cells:
        stated = {
            "batch": ("Batch", [names[key_of(cell[0], grouping)]] if len(names) > 1 else []),
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
        for field, (heading, values) in stated.items():
            if words := ", ".join(dict.fromkeys(filter(None, values))):
                facets[field] = Facet(field, heading, words, words, words, words)
        said.append(facets)
    return said


def _are_accidents(cells: Sequence[Sequence[Run]], words: Mapping[str, Sequence[str]]) -> bool:
    """Whether batches tell nothing but when results were stored: on one day, with no cell in two of them.

    As where a cell is a request of its own: its second would stand as a fact, and no two cells had it alike.
    """
    if len({run.cell_key or run.id for cell in cells for run in cell[:1]}) < len(cells):
        return False
    unnamed = all(run.publication_id is None and not run.said_label for cell in cells for run in cell)
    return unnamed and len({said[0] for said in words.values()}) == 1


def pooled_words(cells: Sequence[Sequence[Run]], grouping: str) -> str:
    """What is pooled beyond batches, as it was asked for; empty where nothing is."""
    most = max((len({run.batch_id for run in cell}) for cell in cells), default=0)
    return f"Pooled on request: {GROUPINGS[grouping]}, up to {most} batches in a group." if most > 1 else ""


def _words(runs: Sequence[Run], grouping: str) -> list[str]:
    """What may name the batch of these runs, the best first."""
    run = min(runs, key=lambda run: (day_of(run), run.created_at))
    if run.publication is not None:
        return [run.publication.title_en]
    # A build is one DBMS's: it names no batch of several.
    of_one = len({run.dbms_version_id for run in runs}) == 1
    version = tested_words(run) or (next(filter(None, map(_build, runs)), "") if of_one else "")
    day = str(day_of(run))
    asked = {LABEL: run.said_label, VERSION: version, DATE: day}.get(grouping, "")
    if grouping == ALL or asked:
        return [asked]
    return [*filter(None, (run.said_label, version)), day, f"{run.batch.created_at:%H:%M:%S}"]


def _build(run: Run) -> str:
    return run.said_tested.get("dbms_build", "")


def _names(words: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """By key the first of its words, and as many more as it takes to tell it from the others."""
    taken = dict.fromkeys(words, 1)
    while True:
        names = {key: " · ".join(given[: taken[key]]) for key, given in words.items()}
        counts = Counter(names.values())
        alike = [key for key, name in names.items() if counts[name] > 1 and taken[key] < len(words[key])]
        if not alike:
            return names
        for key in alike:
            taken[key] += 1
