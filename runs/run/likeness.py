"""What has to be alike beyond a cell's key for runs to be pooled as repeats of each other, and what they are parted by.

What one run tells and another does not is no difference: they are pooled, and `partly_stated` says so.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from itertools import chain, groupby, pairwise, product
from typing import Any
from uuid import UUID

from benchagent.catalog import Durability
from benchagent.configfiles.settings import Settings

from runs.models import Run
from runs.models.choices import SHORT_DURABILITY, Precision
from runs.run.durability import KEY, of_rows
from runs.run.facets import DATASET, Facet, data_sizes, settings_of_rows

# Field of what parts a cell -> its heading, the first to be named first. Settings follow by their own names.
PARTS = {
    "commits": "A commit",
    "promised": "Promised of a commit",
    "storage_holds": "The storage holds",
    "observed": "Observed of commits",
    "isolation": "Isolation level",
    "tool": "Load generator",
    "transport": "Client",
    "protocol": "Protocol",
}
DAY, SETTING = "day", "setting:"
# What tells batches of one day apart, too.
OF_A_DAY = ("isolation", "tool")
OF_DRIVER = {"tool": "name", "transport": "transport", "protocol": "protocol"}
# Where something lies says nothing of how it works.
_PLACES = ("data_storage", "log_storage", "temp_storage")
_PLACE = re.compile(r"(?:dir|directory|path|dest(?:_\d+)?|home)$", re.IGNORECASE)
# What the engine computes for itself, and tells in brackets: AUTOMATIC(5120).
_COMPUTED = re.compile(r"(automatic)\s*\(.*\)", re.IGNORECASE)
# How switches are written that have other values, too.
_SWITCHES = {"true": "on", "yes": "on", "false": "off", "no": "off"}
# Repeats that follow each other so closely were measured together, be midnight between them.
TOGETHER = timedelta(hours=6)
MOST_SETTINGS_KEPT = 500
MOST_IN_A_REMARK = 3
NOT_STATED = "not stated"


def conditions(run: Run) -> dict[str, str]:
    """Field -> in words, of what has to be alike; without what the run does not tell.

    Reads its own columns and its DBMS.
    """
    statements = {}
    if rows := run.statistics.get(KEY):  # else all that is known follows from the devices, which the key holds
        judged = of_rows(rows)
        statements = {"promised": judged.promised, "storage_holds": judged.storage}
        # Where a promise is known, syncs that were passed over lower what `commits` says. What was seen beyond a weak
        # promise is chance: commits that come slowly are each flushed before the next.
        if not run.durability:
            statements["observed"] = judged.observed
    texts = {
        "commits": SHORT_DURABILITY[Durability(run.durability)] if run.durability else "",
        **{name: SHORT_DURABILITY[held.durability] for name, held in statements.items() if held.durability},
        **{field: str(run.driver.get(name) or "").strip() for field, name in OF_DRIVER.items()},
        **_settings(run.dbms_version.dbms.slug, tuple(map(tuple, run.effective_settings))),
    }
    if run.driver.get("isolation"):
        texts["isolation"] = str(run.driver["isolation"])
    texts["isolation"] = texts.get("isolation", "").replace("_", " ").replace("-", " ").lower()
    return {field: words for field, words in texts.items() if words}


@lru_cache(MOST_SETTINGS_KEPT)
def _settings(dbms: str, in_force: tuple[tuple[Any, ...], ...]) -> dict[str, str]:
    """Those settings in force that the catalogue knows, and the isolation level that they set."""
    settings = settings_of_rows(dbms, in_force)
    if settings is None:
        return {}
    meanings = settings.engine.meanings
    places = {name for key in _PLACES if key in meanings for name in meanings[key].names}
    levels = set(meanings["isolation"].names) if "isolation" in meanings else set()
    isolation = settings.means("isolation")
    words = {
        f"{SETTING}{settings.engine.spelt(name)}": _setting_words(settings, name)
        for name in sorted(settings.names)
        if name in settings.engine.specs and name not in places | levels and not _PLACE.search(name)
    }
    return words | ({"isolation": isolation.words} if isolation else {})


def _setting_words(settings: Settings, name: str) -> str:
    """Empty for a path."""
    text = settings.text(name) or ""
    if "/" in text or "\\" in text:
        return ""
    if computed := _COMPUTED.match(text):
        return computed[1].lower()
    quantity = settings.quantity(name)
    words = quantity.words if quantity else text
    return _SWITCHES.get(words.lower(), words) or "empty"


def stated_alike(runs: Iterable[Run]) -> list[list[Run]]:
    """Parted where one holds something else than the run before it: what is told of the first is told of all.

    The repeats of a cell have hundreds of equal settings, whose words are made once.
    """
    return [list(alike) for _, alike in groupby(runs, _held)]


def _held(run: Run) -> tuple[Any, ...]:
    """What `conditions`, `recorded` and `data_sizes` read of a run."""
    return (
        run.cell_key or run.pk, run.upload_id is None, run.durability, run.statistics.get(KEY), run.driver,
        run.effective_settings, run.dataset,
    )  # fmt: skip


def is_alike(a: Mapping[str, str], b: Mapping[str, str]) -> bool:
    """Whether nothing differs that both tell."""
    return all(b.get(field, words) == words for field, words in a.items())


def alike(runs: Sequence[Run], *, by_day: bool, counting: Collection[UUID] | None = None) -> list[list[Run]]:
    """Runs with the same cell key, parted by what has to be alike; each part in their order, the first run's first.

    `by_day`: of what people send also the days on which it was measured; not where a reader asks for all days.
    What does not tell something joins those with which it is alike; where two parts differ in it, it stands alone.
    Runs that are not `counting` part nothing: they join the first that they are like.
    """
    if len(runs) < 2:
        return [list(runs)]
    days = _days(runs) if by_day else {}
    every = stated_alike(runs)
    if len(every) == 1 and len({*days.values()}) < 2:
        return [list(runs)]
    facts_by_run: dict[UUID, dict[str, str]] = {}
    for of in every:
        # However it is spelt: PgBench is pgbench.
        own = {field: words.casefold() for field, words in conditions(of[0]).items()}
        own |= {f"{DATASET}{name}": f"{size:.10g}" for name, size in data_sizes(of[0]).items()}
        facts_by_run |= {run.id: own | ({DAY: days[run.id]} if run.id in days else {}) for run in of}
    counted = [run for run in runs if counting is None or run.id in counting]
    parts = _parts(counted, facts_by_run)
    for run in (run for run in runs if counting is not None and run.id not in counting):
        own = facts_by_run[run.id]
        fitting = [part for part in parts if is_alike(part[0], own)]
        same = [part for part in fitting if own == part[0]]
        if fitting:
            (same or fitting)[0][1].append(run)
        else:
            parts.append((own, [run]))
    position = {run.id: at for at, run in enumerate(runs)}
    ordered = (sorted(members, key=lambda run: position[run.id]) for _, members in parts)
    return sorted(ordered, key=lambda members: position[members[0].id])


def _parts(runs: Sequence[Run], facts_by_run: Mapping[UUID, dict[str, str]]) -> list[tuple[dict[str, str], list[Run]]]:
    """Runs that are alike in all that they tell, with all that they tell together.

    Those that tell the same of what differs are one kind, which is pooled with all that it is like, where these are
    alike too.
    """
    facts = [facts_by_run[run.id] for run in runs]
    differing = [field for field in dict.fromkeys(chain(*facts)) if len({own.get(field) for own in facts} - {None}) > 1]
    by_kind: dict[tuple[tuple[str, str], ...], list[Run]] = {}
    for run, own in zip(runs, facts, strict=True):
        by_kind.setdefault(tuple((field, own[field]) for field in differing if field in own), []).append(run)
    kinds = [dict(kind) for kind in by_kind]
    near = [{at for at, other in enumerate(kinds) if is_alike(own, other)} for own in kinds]
    alone = {at for at, others in enumerate(near) if not all(others <= near[other] for other in others)}
    parts: dict[frozenset[int], list[Run]] = {}
    for at, members in enumerate(by_kind.values()):
        parts.setdefault(frozenset({at} if at in alone else near[at] - alone), []).extend(members)
    return [(dict(ChainMap(*(facts_by_run[run.id] for run in members))), members) for members in parts.values()]


def pooled_with(run: Run, others: Sequence[Run]) -> list[Run]:
    """Those of the other runs with its cell's key that are pooled with it, in their order."""
    part = next(part for part in alike([run, *others], by_day=True) if run in part)
    return [other for other in part if other != run]


def _days(runs: Sequence[Run]) -> dict[UUID, str]:
    """The day on which what people sent was measured: that of the first of those that follow each other."""
    known = [
        run
        for run in runs
        if run.experiment_id is None
        and run.measured_at_precision in (Precision.TIME, Precision.DAY)
        and run.measured_at
    ]
    known.sort(key=lambda run: (run.measured_at, run.repeat))
    days = {run.id: f"{run.measured_at:%Y-%m-%d}" for run in known}
    for before, run in pairwise(known):
        timed = before.measured_at_precision == run.measured_at_precision == Precision.TIME
        if timed and run.measured_at - before.measured_at <= TOGETHER:  # type: ignore[operator]
            days[run.id] = days[before.id]
    return days


def heading(field: str) -> str:
    return PARTS.get(field) or ("Measured on" if field == DAY else field.removeprefix(SETTING))


def parting_facets(
    cells: Sequence[Sequence[Run]], pools: Sequence[str], is_counted: Sequence[bool]
) -> list[dict[str, Facet]]:
    """For each cell what parts any cell from others of its pool, which are named alike; nothing if none is parted.

    The cells of other pools tell it too, where they know it, so that each is set against its like. What was measured on
    one day at two isolation levels, or by two load generators, is told apart by them, though each came as a batch of
    its own. A cell that is not counted parts no others.
    """
    by_pool: dict[str, list[int]] = {}
    by_day: dict[tuple[str, date], list[int]] = {}
    for at, (cell, pool) in enumerate(zip(cells, pools, strict=True)):
        by_pool.setdefault(pool, []).append(at)
        by_day.setdefault((cell[0].cell_key, (cell[0].measured_at or cell[0].created_at).date()), []).append(at)
    if len(by_pool) == len(by_day) == len(cells):
        return [{} for _ in cells]
    facts_of_cells = [_of_cell(cell) for cell in cells]
    parted: dict[str, set[int]] = {}
    for places, field in product(by_day.values(), OF_A_DAY):
        if len({facts_of_cells[at].get(field, "").casefold() for at in places if is_counted[at]} - {""}) > 1:
            parted.setdefault(field, set()).update(places)
    for places in by_pool.values():
        for field in dict.fromkeys(field for at in places for field in facts_of_cells[at]):
            if len({facts_of_cells[at].get(field) for at in places if is_counted[at]} - {None}) > 1:
                parted.setdefault(field, set()).update(places)
    return [
        {
            name: _facet(name, facts.get(name, NOT_STATED))
            for name, places in parted.items()
            if name in facts or at in places
        }
        for at, facts in enumerate(facts_of_cells)
    ]


def _facet(field: str, words: str) -> Facet:
    name = f"{heading(field)} {words}" if field.startswith(SETTING) else words
    return Facet(field, heading(field), words, words, name, name)


def _of_cell(cell: Sequence[Run]) -> dict[str, str]:
    days = _days(cell)
    facts: dict[str, str] = {DAY: min(days.values())} if days else {}
    for first, *_ in stated_alike(cell):
        facts |= conditions(first)
    order = [*PARTS, DAY]
    return dict(sorted(facts.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def partly_stated(cells: Sequence[Sequence[Run]]) -> str:
    """What some runs of a cell tell and others do not, in one line; empty where each cell's runs tell the same."""
    names: dict[str, None] = {}
    for cell in (cell for cell in cells if len(cell) > 1):
        every = stated_alike(cell)
        stated = [conditions(first) for first, *_ in every] if len(every) > 1 else []
        for field in dict.fromkeys(field for facts in stated for field in facts):
            if not all(field in facts for facts in stated):
                names[heading(field)] = None
    if not names:
        return ""
    first = [*names][:MOST_IN_A_REMARK]
    more = f" and {len(names) - MOST_IN_A_REMARK} more" if len(names) > MOST_IN_A_REMARK else ""
    return f"Pooled although not all of their repeats tell it: {', '.join(first)}{more}."
