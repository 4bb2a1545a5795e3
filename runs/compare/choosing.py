"""How a page chooses what is compared: its sets, what narrows each, what could be added; with their addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.http import QueryDict

from runs.compare.select import BASE_SET, CELL_PREFIX, STORED, RunSet, Selection, read_query, set_queries, with_sets
from runs.listing.facets import Facet, Option, facets_of
from runs.listing.filters import without
from runs.models import Batch, Metric, Publication, Run
from runs.models.choices import RunState
from runs.models.visible import Reader

# So many of the newest runs are looked through for what could be compared: a fixed cost, however many are stored.
LOOKED_THROUGH = 1_000
MOST_OFFERED = 6
# Characters of a value among the filters.
MOST_SHOWN = 60
# Characters at the end of an id that tell runs apart, of which a thousand may stand in a page (static/js/tray.js).
ENDING = 12
# Filters that are typed: parameter -> what stands before the value. `setting` and `factor` take NAME=VALUE.
TYPED = {
    "q": "words", "label": "label", "tag": "tag", "above": "value at least", "below": "value at most",
    "setting": "setting NAME=VALUE", "factor": "factor NAME=VALUE", "measured_from": "from day",
    "measured_to": "to day (that day too)", "build": "build", "commit": "commit", "branch": "branch", "owner": "owner",
}  # fmt: skip


@dataclass(frozen=True)
class Link:
    """`query`: the address that a click leads to."""

    text: str
    query: str
    option: Option | None = None


@dataclass(frozen=True)
class ShownSet:
    """`parts` are its filters, each link takes one out; `edit`, `remove`, `base`: the address with that done."""

    of: RunSet
    parts: list[Link]
    edit: str
    remove: str
    base: str


@dataclass(frozen=True)
class Chooser:
    """`sets`: what is compared. `open`: the address with all else, which is counted where the address has `edit`.

    `edited`: number of the set whose facets are shown, 0 where none are. `offers`: sets that could be added, under
    headings. `endings`: of the ids of the runs that a short id selects, for the tray, which keeps runs by their ids.
    """

    sets: list[ShownSet]
    endings: list[str]
    open: str
    edited: int = 0
    facets: list[tuple[Facet, list[Link]]] = field(default_factory=list)
    is_whole: bool = True
    offers: list[tuple[str, list[Link]]] = field(default_factory=list)
    typed: dict[str, str] = field(default_factory=dict)


def chooser(params: QueryDict, selection: Selection, metric: Metric | None, user: Reader) -> Chooser:
    queries = [chosen.query for chosen in selection.sets]
    edited = _edited(params, len(queries))
    batches = _batch_words(selection.runs) if any("batch" in each for each in queries) else {}
    shown = Chooser(
        sets=[_shown_set(params, queries, each, batches) for each in selection.sets],
        endings=[str(run)[-ENDING:] for each in selection.sets if STORED in each.query for run in each.ids],
        open=address(params, queries, edit=edited),
    )
    if not params.get("edit"):
        return shown
    counted = facets_of(queries[edited - 1], selection.sets[edited - 1].choice.rows)
    typed = dict(TYPED)
    if metric is not None:
        typed |= {f"above.{metric.name}": f"{metric} at least", f"below.{metric.name}": f"{metric} at most"}
        del typed["above"], typed["below"]
    return replace(
        shown,
        edited=edited,
        facets=[(facet, _links(params, queries, edited, facet)) for facet in counted.shown],
        is_whole=counted.is_whole,
        offers=[
            (heading, [Link(text, address(params, [*queries, read_query(of)])) for text, of in rows])
            for heading, rows in _offers(selection, user)
            if rows
        ],
        typed=typed,
    )


def _links(params: QueryDict, queries: Sequence[QueryDict], edited: int, facet: Facet) -> list[Link]:
    """A link for each option of a facet: the edited set with it, or without it if it is chosen."""
    rest = without(queries[edited - 1], facet.name)
    texts, links = cut_apart([option.text for option in facet.options]), []
    for text, option in zip(texts, facet.options, strict=True):
        changed = rest.copy()
        for value in option.adds:
            changed.appendlist(facet.name, value)
        target = address(params, [*queries[: edited - 1], changed, *queries[edited:]], edit=edited)
        links.append(Link(text, target, option))
    return links


def cut_apart(texts: Sequence[str]) -> list[str]:
    """Long texts cut to `MOST_SHOWN` characters; those that would be cut to the same by what tells them apart, as far
    as it is long.
    """
    counts = Counter(text[:MOST_SHOWN] for text in texts)
    alike = [text for text in texts if len(text) > MOST_SHOWN and counts[text[:MOST_SHOWN]] > 1]
    begin = next((at for at, each in enumerate(zip(*alike, strict=False)) if len(set(each)) > 1), 0)
    # A number is not cut in two.
    begin = max((text.rfind(" ", 0, begin) + 1 for text in alike[:1]), default=0)
    shortened = [f"…{text[begin:]}" if text in alike and begin else text for text in texts]
    cut = [text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…" for text in shortened]
    seen = Counter(cut)
    return [whole if seen[text] > 1 else text for text, whole in zip(cut, shortened, strict=True)]


def _batch_words(runs: Iterable[Run]) -> dict[str, str]:
    """The batches' words by id. Without a label they are those of its runs, if these share one: documents may name no
    more.
    """
    labels: dict[Batch, set[str]] = {}
    for run in runs:
        labels.setdefault(run.batch, set()).add(run.effective_label)
    return {
        str(batch.pk): f"batch {batch.label or (min(of_runs) if len(of_runs) == 1 else '') or batch}"
        for batch, of_runs in labels.items()
    }


def _edited(params: QueryDict, sets: int) -> int:
    """The set that a reader chose to change, else the last one."""
    text = params.get("edit", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 3 and 0 < int(text) <= sets else sets


def address(
    params: QueryDict, queries: Sequence[QueryDict], *, edit: int | None = None, base: int | None = None
) -> str:
    """The address of the page with these sets and the other controls as they are; `base` 0 takes the baseline away."""
    changed = with_sets(params, queries)
    changed.pop("edit", None)
    if edit:
        changed["edit"] = str(edit)
    if base is not None:
        changed.pop(BASE_SET, None)
    if base and len(queries) > 1:
        changed[BASE_SET] = str(base)
    return changed.urlencode()


def _shown_set(params: QueryDict, queries: list[QueryDict], shown: RunSet, batches: Mapping[str, str]) -> ShownSet:
    at, choice = shown.number - 1, shown.choice
    others = [query for number, query in enumerate(queries) if number != at]
    edited = shown.number if params.get("edit") else None

    def replaced(query: QueryDict) -> str:
        """The address with another query for this set; one without any filter is no set: it would be everything."""
        return address(params, [*others[:at], *([query] if query else []), *others[at:]], edit=edited)

    parts = []
    if choice.named:
        parts.append(Link(choice.named, replaced(without(shown.query, "run", "cell", STORED))))
    for name, value, words in choice.filters:
        changed = shown.query.copy()
        changed.setlist(name, [each for each in changed.getlist(name) if each != value])
        if not changed.getlist(name):
            del changed[name]
        text = batches.get(value, words) if name == "batch" else words
        parts.append(Link(text, replaced(changed)))
    base = int(params.get(BASE_SET) or 0)
    return ShownSet(
        shown, parts, edit=address(params, queries, edit=shown.number),
        remove=address(params, others, base=0 if base == shown.number else base - (base > shown.number)),
        base=address(params, queries, edit=edited, base=0 if shown.is_base else shown.number),
    )  # fmt: skip


def added(params: QueryDict) -> str:
    """The address with what was typed into the form of filters (`add`, `value`) as one more filter of its set."""
    given = params.copy()
    names, values = given.pop("add", [""]), given.pop("value", [""])
    name, value = str(names[-1]), str(values[-1]).strip()
    if name in ("setting", "factor") and "=" in value:
        inner, _, value = value.partition("=")
        name, value = f"{name}.{inner.strip()}", value.strip()
    queries = set_queries(given) or [QueryDict(mutable=True)]
    edited = _edited(given, len(queries))
    if name and value:
        queries[edited - 1].appendlist(name, value)
    return address(given, queries, edit=edited)


def _offers(selection: Selection, user: Reader) -> list[tuple[str, list[tuple[str, str]]]]:
    """Heading -> (words, query of a set) of what is not compared yet: of the same workload first, then what was
    published of another one of its kind.
    """
    runs = selection.runs
    workloads = {run.workload_id for run in runs}
    measured = [run for run in _latest(user, "dbms_version__name", "label", "measured_at") if run[1] in workloads]
    chosen = {run.batch_id for run in runs}
    batches = [(words, f"batch={key}") for key, words in _named_batches(measured).items() if key not in chosen]
    cells = {run.cell_key for run in runs}
    same = [("the same cell, whenever measured", f"cell={next(iter(cells))[:CELL_PREFIX]}")] if len(cells) == 1 else []
    published, systems = published_beside(runs), {run.dbms_version.dbms_id for run in runs}
    return [
        ("Measured or uploaded", [*same, *batches[:MOST_OFFERED]]),
        ("Published", _articles(published.filter(workload__in=workloads), systems)),
        ("Published of another workload", _articles(published.exclude(workload__in=workloads), systems)),
    ]


def published_beside(runs: Sequence[Run]) -> QuerySet[Run]:
    """Runs with values of the same kinds of workload, of publications that none of these is of."""
    kinds, present = {run.workload.kind for run in runs}, {run.publication_id for run in runs if run.publication_id}
    publications = list(Publication.objects.exclude(pk__in=present).values_list("pk", flat=True))
    return Run.objects.with_values().filter(publication__in=publications, workload__kind__in=kinds)


def _articles(published: QuerySet[Run], systems: Set[UUID]) -> list[tuple[str, str]]:
    """(words, query) of each workload of each publication: of these systems one by one, and all of it."""
    fields = ("publication__slug", "workload__slug", "publication__title_en", "workload__name")
    system = ("dbms_version__dbms__slug", "dbms_version__dbms__name")
    by_system = published.filter(dbms_version__dbms__in=systems).order_by(*fields[2:], system[1])
    parts = by_system.values_list(*fields, *system).annotate(Count("pk"))
    whole = published.order_by(*fields[2:]).values_list(*fields).annotate(Count("pk"))
    offers = [
        *((f"{name} of “{title}”", n, of, f"publication={slug}&workload={workload}&dbms={dbms}")
          for slug, workload, title, of, dbms, name, n in parts),
        *((f"all of “{title}”", n, of, f"publication={slug}&workload={workload}")
          for slug, workload, title, of, n in whole),
    ]  # fmt: skip
    return [
        (f"{words}, {count} run{'s' if count > 1 else ''} of {of}", query)
        for words, count, of, query in offers[:MOST_OFFERED]
    ]


def _latest(user: Reader, *fields: str) -> list[tuple[Any, ...]]:
    """(batch, workload, *`fields`) of the newest runs with values that somebody measured or uploaded, newest first."""
    # Conditions on state or publication would lead SQLite to their indexes, and to sorting all that they find.
    rows = Run.objects.present().listed_for(user).order_by("-created_at")
    kept = rows.values_list("batch", "workload", *fields, "state", "invalid_at", "publication")[:LOOKED_THROUGH]
    return [run[:-3] for run in kept if run[-3:] == (RunState.FINISHED, None, None)]


def _named_batches(runs: Iterable[tuple[Any, ...]]) -> dict[UUID, str]:
    """What names each of the first batches: its label and day, else its own name or time; and its DBMSs."""
    systems: dict[UUID, dict[str, None]] = {}
    names: dict[UUID, str] = {}
    for key, _, system, label, when in runs:
        systems.setdefault(key, {})[system] = None
        names.setdefault(key, ", ".join(filter(None, (label, str(when.date())))))
    keys = list(systems)[: 3 * MOST_OFFERED]
    batches = Batch.objects.in_bulk(keys)
    more = {key: f" and {len(systems[key]) - 2} more" if len(systems[key]) > 2 else "" for key in keys}
    return {
        key: f"{batches[key].label or names[key] or batches[key]}: {', '.join(list(systems[key])[:2])}{more[key]}"
        for key in keys
    }


def newest(user: Reader) -> str:
    """The query of the newest comparison that can be made, of what lists show to this person; "" where there is none.

    The newest batch of several cells; else the two newest batches of one workload; else an article.
    """
    cells: dict[tuple[UUID, UUID], set[str]] = {}
    for batch, workload, cell in _latest(user, "cell_key"):
        cells.setdefault((batch, workload), set()).add(cell)
    for (batch, _), keys in cells.items():
        if len(keys) > 1:
            return f"batch={batch}"
    latest: dict[UUID, UUID] = {}
    for batch, workload in cells:
        if workload in latest:
            both = QueryDict(mutable=True)
            return with_sets(both, [read_query(f"batch={latest[workload]}"), read_query(f"batch={batch}")]).urlencode()
        latest[workload] = batch
    published = Run.objects.with_values().filter(publication__in=Publication.objects.values("pk"))
    by_workload = published.values("publication__slug", "workload__slug")
    several = by_workload.annotate(cells=Count("cell_key", distinct=True)).filter(cells__gt=1)
    article = several.order_by("-publication__published_on", "-cells").first()
    if article is None:
        return ""
    return f"publication={article['publication__slug']}&workload={article['workload__slug']}"
