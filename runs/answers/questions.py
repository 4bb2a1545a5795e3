"""What the stored results can answer: questions, each with the address of the comparison that answers it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain, combinations
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from benchagent.catalog import FACTORS, Role, factor_label, factor_role
from django.db.models import Avg, Count, Exists, Min, OuterRef, Q, QuerySet

from runs.answers.answer import Answer
from runs.answers.words.questions import question_words
from runs.compare import asked
from runs.compare.asked import Question
from runs.compare.choosing import LOOKED_THROUGH
from runs.compare.facts import is_name
from runs.compare.groups import SIZES
from runs.compare.panels import CLIENT, CLIENTS, OTHER, SAME_LEVEL, SIZE
from runs.compare.select import CELL_PREFIX
from runs.formatting import grouped, mid_sentence
from runs.models import Batch, Benchmark, Metric, Publication, Run, RunFactor, SeriesBatch
from runs.models.choices import Better, StorageRole
from runs.models.runs import RunQuerySet
from runs.models.visible import Reader
from runs.run.facets import shown_unit
from runs.stats.steps import LEAST_DAYS

# So many questions ask about what was measured last, and as many about what is published.
MOST_BATCHES, MOST_QUESTIONS = 6, 10
# So many of them ask since when before what else was measured is asked about.
MOST_HISTORIES = 4
# Of fewer batches no change can be told.
LEAST_NIGHTS = 2 * LEAST_DAYS
# So many sweeps are looked for that were uploaded run by run, and so many questions asked about them.
MOST_SWEEPS, MOST_OF_SINGLE = 5, 8
# Runs that an address names by their ids.
MOST_IN_AN_ADDRESS = 100
# The newest of what asks the same of one workload: five labels must not crowd out what asks something else.
MOST_ALIKE = 2


@dataclass(frozen=True)
class Offer:
    """`of`: whose results answer it, of `workload`."""

    words: str
    of: str
    workload: str
    query: str

    @property
    def about(self) -> str:
        return f"{self.of}: {self.workload}"


def questions(user: Reader) -> list[Offer]:
    """Questions about the newest batches and publications, by what varies in them: few queries, however many are
    stored.
    """
    rows = Run.objects.with_values().listed_for(user)
    fields = (
        "pk", "batch", "cell_key", "workload", "workload__name", "workload__slug", "measured_at", "label",
        "started_at", "measured_on",
        "dbms_version__name", "dbms_version__dbms__name", "batch__label", "hardware__name", "hardware__slug",
    )  # fmt: skip
    measured_rows = rows.filter(publication=None).order_by("-created_at").values(*fields)
    of_nights = newest = list(measured_rows[:LOOKED_THROUGH])
    batches_by_cell = grouped((run["cell_key"], run["batch"]) for run in newest if run["cell_key"])
    nightly = {cell for cell, of_cell in batches_by_cell.items() if len({*of_cell}) >= LEAST_NIGHTS}
    if nightly and len(newest) == LOOKED_THROUGH:
        # Many nights that came last must not hide the sweeps before them.
        known = {run["pk"] for run in newest}
        beside = measured_rows.exclude(cell_key__in=nightly)[:LOOKED_THROUGH]
        newest = [*newest, *(run for run in beside if run["pk"] not in known)]
    cells = {batch: {*keys} for batch, keys in grouped((run["batch"], run["cell_key"]) for run in newest).items()}
    # What compares nothing by itself must not crowd out what does, as the batches of many nights do.
    several = [batch for batch, keys in cells.items() if len(keys) > 1]
    batches = sorted(several, key=lambda batch: cells[batch] <= nightly)[:MOST_BATCHES]
    # They are named by ids: with a query inside an "or" PostgreSQL reads all runs.
    published_ids = list(Publication.objects.values_list("pk", flat=True))
    chosen = rows.filter(Q(batch__in=batches) | Q(publication__in=published_ids))
    varied = [row for row in _sweeps(chosen, "batch") if row["publication__slug"] or row["batch"] in batches]
    names = Batch.objects.in_bulk([row["batch"] for row in varied])
    histories = [*_histories(user, rows, of_nights)]
    measured = histories[:MOST_HISTORIES]
    published: list[Offer] = []
    for row in varied:
        slug, batch = row["publication__slug"], names[row["batch"]]
        selects = {"publication": slug} if slug else {"batch": str(row["batch"])}
        runs = [run for run in newest if (run["batch"], run["workload__slug"]) == (batch.pk, row["workload__slug"])]
        title = row["publication__title_en"] or batch.label or row["label"] or _began(runs)
        days = len({run["measured_at"].date() for run in runs})
        own = row | {"upgraded": _is_upgraded(runs), "days": days}
        (published if slug else measured).extend(_offers(own, title, selects))
    single = [*_of_single_uploads(rows, newest, cells)][:MOST_OF_SINGLE]
    alike, asked_of = Counter[tuple[str, str]](), Counter[str]()
    kept = []
    for offer in [*measured, *histories[MOST_HISTORIES:]]:
        alike[offer.words, offer.workload] += 1
        if alike[offer.words, offer.workload] <= MOST_ALIKE:
            asked_of[offer.about] += 1
            kept.append((offer not in measured, asked_of[offer.about], offer))
    # Of each batch the first questions, before the last ones of any.
    places = sorted(range(len(kept)), key=lambda at: kept[at][:2])[: MOST_QUESTIONS - len(single)]
    measured = [*(kept[at][-1] for at in sorted(places)), *single]
    return [*_distinguished([*measured, *published[:MOST_QUESTIONS]])]


def _began(runs: Sequence[Mapping[str, Any]]) -> str:
    """When the first of them was measured: the day, and the minute where more than the day is known."""
    first = min(runs, key=lambda run: run["measured_at"])
    is_day = first["measured_on"] and not first["started_at"]
    return f"{first['measured_at']:%Y-%m-%d}" if is_day else f"{first['measured_at']:%Y-%m-%d %H:%M}"


def _sweeps(chosen: RunQuerySet, *by: str) -> list[dict[str, Any]]:
    """How many systems, versions, disks, machines and configurations there are by batch, or together, and by workload;
    and `levels`: of each number that a factor gives its span, and whether the value `rises` from its low to its high
    end, by these. What more is better of may scale.
    """
    levels: dict[tuple[object, ...], dict[str, dict[str, Any]]] = {}
    zero_is_none = [name for name, factor in FACTORS.items() if "0" in factor.words]
    factors = RunFactor.objects.filter(run__in=chosen, number__isnull=False).order_by()
    factors = factors.exclude(number=0, name__in=zero_is_none)
    of_factor = (*(f"run__{name}" for name in by), "run__workload__slug")
    # Two systems, each of a size of its own, lose nothing; nor do two sizes at which commits promise different things.
    of_curve = (*of_factor, "run__dbms_version", "run__durability", "name")
    values = factors.values(*of_curve, "number", "unit").annotate(value=Avg("run__primary_value")).order_by("number")
    for key, points in grouped((tuple(row[name] for name in of_curve), row) for row in values).items():
        low, high = points[0], points[-1]
        if low["number"] == high["number"]:
            continue
        span = levels.setdefault(key[: len(of_factor)], {}).setdefault(
            key[-1], {"low": low["number"], "high": high["number"], "unit": high["unit"], "units": set(), "rises": {}}
        )
        span["units"] |= {point["unit"] for point in points}
        rises = (high["value"] or 0.0) > (low["value"] or 0.0)
        span["rises"].setdefault((low["number"], high["number"]), []).append(rises)
        span |= {"low": min(span["low"], low["number"]), "high": max(span["high"], high["number"])}
    data = Q(storage__role=StorageRole.DATA)
    rates = Metric.objects.filter(name=OuterRef("workload__primary_metric"), better=Better.HIGHER)
    order = ("publication__published_on", *(f"-{name}__created_at" for name in by), "workload")
    rows = (
        chosen.order_by(*order)
        .values(*by, "workload__slug", "workload__name", "publication__slug", "publication__title_en")
        .annotate(
            scales=Exists(rates),
            label=Min("label"),
            systems=Count("dbms_version__dbms", distinct=True),
            versions=Count("dbms_version", distinct=True),
            system=Min("dbms_version__dbms__name"),
            disks=Count("storage__device", distinct=True, filter=data),
            media=Count("storage__device__medium", distinct=True, filter=data),
            machines=Count("hardware", distinct=True),
            configs=Count("config", distinct=True),
            promises=Count("durability", distinct=True),
        )
    )
    return [row | {"levels": levels.get((*(row[name] for name in by), row["workload__slug"]), {})} for row in rows]


def _of_single_uploads(
    rows: RunQuerySet, newest: Iterable[Mapping[str, Any]], cells: Mapping[UUID, set[str]]
) -> Iterable[Offer]:
    """A sweep that was uploaded run by run: its cells of one workload and label, or without one of a day and machine,
    are one question.
    """
    together: dict[tuple[Any, str, date | None, str], list[Mapping[str, Any]]] = {}
    for run in newest:
        if len(cells[run["batch"]]) == 1:
            label = run["label"] or run["batch__label"]
            day, machine = (None, "") if label else (run["measured_at"].date(), run["hardware__slug"] or "")
            together.setdefault((run["workload"], label, day, machine), []).append(run)
    # The newest of the nights that measured the same cells asks for all of them.
    swept: dict[tuple[str, frozenset[str]], tuple[Any, date | None, str, list[Mapping[str, Any]]]] = {}
    for (workload, label, day, machine), runs in together.items():
        measured = frozenset(run["cell_key"] for run in runs)
        if len(measured) > 1:
            swept.setdefault((label, measured), (workload, day, machine, runs))
    largest = sorted(swept.items(), key=lambda sweep: -len(sweep[1][3]))
    for (label, _), (workload, day, machine, runs) in largest[:MOST_SWEEPS]:
        selects: dict[str, Any] = {"measured_from": str(day), "measured_to": str(day)} if day else {"label": label}
        alike = Q(label=label) | Q(label="", batch__label=label)
        if day:  # as a span, for which there is an index
            begins = datetime.combine(day, time.min, UTC)
            alike = Q(measured_at__gte=begins, measured_at__lt=begins + timedelta(days=1))
        if machine:
            selects["hardware"] = machine
            alike &= Q(hardware__slug=machine)
        # What else has that day or label would be selected with them.
        ids = [run["pk"] for run in runs]
        if rows.filter(alike, workload=workload).exclude(pk__in=ids).exists():
            selects = {"run": [str(pk) for pk in ids]}
        if len(runs) > MOST_IN_AN_ADDRESS and "run" in selects:
            continue
        if day and len(runs) <= MOST_IN_AN_ADDRESS and not _has_alike(runs):
            continue
        for row in _sweeps(rows.filter(pk__in=ids)):
            yield from _offers(row | {"upgraded": _is_upgraded(runs)}, f"{len(runs)} runs of {day or label}", selects)


def _has_alike(runs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether two of these cells differ in one factor or the system alone, or in what is neither. Results of one day
    that have nothing else in common ask nothing together.
    """
    cells: dict[str, dict[str, Any]] = {run["cell_key"]: {"dbms": run["dbms_version__name"]} for run in runs}
    cell_of = {run["pk"]: run["cell_key"] for run in runs}
    rows = RunFactor.objects.filter(run__in=cell_of).values_list("run", "name", "number", "text")
    for run, name, number, text in rows:
        cells[cell_of[run]][name] = text if number is None else number
    return any(
        sum(one.get(name) != other.get(name) for name in {*one, *other}) < 2
        for one, other in combinations(cells.values(), 2)
    )


def _is_upgraded(runs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each of several versions has days of its own, and one has several or there are many days, as nightlies
    go on when their DBMS is upgraded. What was measured of one version over midnight is none of these.
    """
    measured = {(run["measured_at"].date(), run["dbms_version__name"]) for run in runs}
    days, versions = {day for day, _ in measured}, {version for _, version in measured}
    return len(measured) == len(days) > 1 and (len(days) > len(versions) > 1 or len(days) >= 2 * LEAST_DAYS)


def _histories(user: Reader, rows: RunQuerySet, newest: Sequence[Mapping[str, Any]]) -> Iterable[Offer]:
    """What was measured in many batches: the benchmarks of one system and workload on one machine are one question,
    over all the cells that their series went through (another kernel or version is another cell), and what nobody filed
    yet likewise. Of the main branch, with older releases beside it, alone where others are measured beside it.
    """
    batches = {run["batch"] for run in newest}
    if len(batches) < LEAST_NIGHTS:
        return
    known = Benchmark.objects.listed_for(user).of_main_metric()
    filed = SeriesBatch.objects.filter(benchmark__in=known).exclude(run=None).order_by("benchmark")
    of_newest = filed.filter(batch__in=batches)
    watched = known.watched()
    found = [*of_newest.values_list("run__cell_key", "benchmark__line").distinct()]
    main = dict(of_newest.filter(benchmark__in=watched).values_list("run__cell_key", "benchmark__line"))
    lines = {cell: line for cell, line in found if line not in main.values()} | main
    beside = {cell for cell, _ in found} - lines.keys()
    series = grouped((lines.get(cell, cell), run) for run in newest if (cell := run["cell_key"]) and cell not in beside)
    names = ("workload", "dbms_version__dbms__name", "hardware__name")
    alike = grouped(
        (tuple(runs[0][name] for name in names), run)
        for runs in series.values() if len({run["batch"] for run in runs}) >= LEAST_NIGHTS
        for run in runs
    )  # fmt: skip
    long = [*alike.values()][:MOST_QUESTIONS]
    lines_of = [{*filter(None, (main.get(run["cell_key"]) for run in runs))} for runs in long]
    of_lines = filed.filter(benchmark__line__in=set[str]().union(*lines_of)).order_by()
    of_main, of_others = of_lines.filter(benchmark__in=watched), of_lines.exclude(benchmark__in=watched)
    gone_through = grouped(of_main.values_list("benchmark__line", "run__cell_key").distinct())
    others = [*of_others.values_list("benchmark__line", "run__cell_key", "batch")]
    of_branches = {(cell, batch) for _, cell, batch in others}
    branches = _main_branches(of_newest, {line for line, *_ in others})
    cells_of = []
    for runs, own_lines in zip(long, lines_of, strict=True):
        earlier = (cell for line in sorted(own_lines) for cell in gone_through[line])
        cells_of.append([*dict.fromkeys(chain((run["cell_key"] for run in runs), earlier))][:MOST_IN_AN_ADDRESS])
    whole = rows.filter(publication=None, cell_key__in=[*chain(*cells_of)]).order_by()
    begun = whole.values_list("cell_key", "batch", "dbms_version__name").annotate(since=Min("measured_at"))
    of_cell = grouped((cell, row) for cell, *row in begun if (cell, row[0]) not in of_branches)
    for runs, own_lines, cells in zip(long, lines_of, cells_of, strict=True):
        measured = [row for cell in cells for row in of_cell.get(cell, [])]
        # What was measured on one day has no history to be asked about where nobody knows at what times.
        if len({at for *_, at in measured}) < 2:
            continue
        versions = {version for _, version, _ in measured}
        system = runs[0]["dbms_version__name" if len(versions) == 1 else "dbms_version__dbms__name"]
        since = Answer(question=Question(kind=asked.SINCE), first=system)
        of = f"{len({batch for batch, *_ in measured})} batches since {min(at for *_, at in measured).date()}"
        machine = runs[0]["hardware__name"]
        named = sorted({*filter(None, (branches.get(line) for line in own_lines))})
        chosen = [*(("cell", cell[:CELL_PREFIX]) for cell in cells), *(("branch", name) for name in named)]
        query = f"{urlencode(chosen)}&{since.question.query}"
        yield Offer(question_words(since), f"{machine}, {of}" if machine else of, runs[0]["workload__name"], query)


def _main_branches(filed: QuerySet[SeriesBatch], lines: Set[str]) -> dict[str, str]:
    """What the main branch of each of these series is called, beside which others are measured."""
    newest = dict(filed.filter(benchmark__line__in=lines, benchmark__branch="").values_list("benchmark__line", "run"))
    runs = Run.objects.select_related("batch").in_bulk(newest.values())
    return {line: runs[pk].effective_tested.get("branch", "") for line, pk in newest.items() if pk in runs}


def _distinguished(every: Iterable[Offer]) -> Iterable[Offer]:
    """A question that is asked of several begins with what it is asked of: the workload, else the batch, with its
    workload where it has several. Of batches with one name the newest asks.
    """
    newest: dict[tuple[str, str], Offer] = {}
    for question in every:
        newest.setdefault((question.words, question.about), question)
    for question in newest.values():
        same = [other for other in newest.values() if other.words == question.words]
        if len({other.workload for other in same}) == len(same):
            of = question.workload
        elif [other.of for other in same].count(question.of) == 1:
            of = question.of
        else:
            of = f"{question.of}, {question.workload}"
        words = question.words if len(same) == 1 else f"{of}: {mid_sentence(question.words)}"
        yield replace(question, words=words)


def _offers(row: Mapping[str, Any], title: str, selects: Mapping[str, Any]) -> Iterable[Offer]:
    selects = {**selects, "workload": row["workload__slug"]}
    for each in _of_sweep(row):
        query = f"{urlencode(selects, doseq=True)}&{each.question.query}"
        yield Offer(question_words(each), title, row["workload__name"], query)


def _of_sweep(row: Mapping[str, Any]) -> Iterable[Answer]:
    """Unanswered yet: with what the words of its question need."""
    # What differs so little was meant to be one level.
    levels = {
        name: span
        for name, span in row["levels"].items()
        if span["high"] - span["low"] > SAME_LEVEL * abs(span["high"])
    }
    # What came in batches of its own is a history already.
    if row.get("days", 0) >= 2 * LEAST_DAYS:
        yield Answer(question=Question(kind=asked.SINCE), first=row["system"] if row["systems"] == 1 else "")
    others = (
        name for name in levels if name not in CLIENTS and factor_role(name) == Role.QUESTION and not is_name(name)
    )
    if size := next((name for name in (*SIZES, *others) if name in levels), ""):
        low, high, unit, rises = (levels[size][name] for name in ("low", "high", "unit", "rises"))
        loss = Question(kind=asked.LOSS, x=f"factor:{size}")
        # Else nothing was measured at both ends, or they are numbers of unlike units.
        if (low, high) in rises and len(levels[size]["units"]) == 1:
            loss = loss.model_copy(update={"start": low, "end": high})
        kind, is_gain = SIZE if size in SIZES else OTHER, {*chain(*rises.values())} == {row["scales"]}
        label, unit = factor_label(size), shown_unit(size, unit)
        yield Answer(question=loss, x_label=label, x_unit=unit, x_kind=kind, is_gain=is_gain)
    clients = next((name for name in CLIENTS if name in levels), "")
    if clients and row["scales"]:
        scales = Question(kind=asked.SCALES, x=f"factor:{clients}")
        yield Answer(question=scales, x_label=factor_label(clients), x_kind=CLIENT)
    if row.get("upgraded"):
        return  # Nobody asks which day wins.
    if row["versions"] > 1:
        only = row["system"] if row["systems"] == 1 else ""
        yield Answer(question=Question(kind=asked.BEST, fact="dbms"), versions_of=only)
    # Where each configuration promises another durability there is no order: what it costs is asked.
    if 1 < row["configs"] <= row["promises"] and row["versions"] == 1 and not row["publication__slug"]:
        yield Answer(question=Question(kind=asked.EFFECTS))
        row = {**row, "configs": 1}
    # A configuration that each version has of its own is no other question, nor is a disk of each machine.
    is_own = {"config": row["versions"] > 1, "storage:data": row["disks"] <= row["machines"]}
    for count, fact in (("configs", "config"), ("media", "storage:data"), ("machines", "hardware")):
        if row[count] > 1 and not is_own.get(fact):
            yield Answer(question=Question(kind=asked.RANK, fact=fact))
