"""What the stored results can answer: questions, each with the address of the comparison that answers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Count, Max, Min, Q
from django.db.models.lookups import IsNull

from runs.compare.axes import CLIENTS, LEAST_LEVELS, SIZES
from runs.compare.choosing import LOOKED_THROUGH
from runs.formatting import mid_sentence, number
from runs.models import Batch, Publication, Run, RunFactor
from runs.models.choices import StorageRole
from runs.models.runs import unindexed
from runs.models.visible import Reader
from runs.run.facets import factor_label, shown_unit

# Of what was measured last, and as many of what is published.
MOST_BATCHES, MOST_QUESTIONS = 6, 8
LEAST_NIGHTS = 5


@dataclass(frozen=True)
class Question:
    """`of`: whose results answer it, of `workload`."""

    words: str
    of: str
    workload: str
    query: str

    @property
    def about(self) -> str:
        return f"{self.of}: {self.workload}"


def questions(user: Reader) -> list[Question]:
    """Of the newest batches and of the publications, by what varies in them: five queries, however many are stored."""
    rows = Run.objects.with_values().listed_for(user)
    fields = ("pk", "batch", "cell_key", "workload__name", "dbms_version__name", "measured_at")
    measured_rows = rows.filter(IsNull(unindexed("publication"), True)).order_by("-created_at")
    newest = list(measured_rows.values(*fields)[:LOOKED_THROUGH])
    cells: dict[UUID, set[str]] = {}
    for run in newest:
        cells.setdefault(run["batch"], set()).add(run["cell_key"])
    # What compares nothing by itself must not crowd out what does, as the batches of many nights do.
    batches = [batch for batch, keys in cells.items() if len(keys) > 1][:MOST_BATCHES]
    looked_at = [run["pk"] for run in newest if run["batch"] in batches]
    # By ids: with a query inside an "or" PostgreSQL reads all runs.
    published_ids = list(Publication.objects.values_list("pk", flat=True))
    chosen = rows.filter(Q(pk__in=looked_at) | Q(publication__in=published_ids))
    of = ("batch", "workload__slug")
    levels: dict[tuple[object, ...], dict[str, Mapping[str, Any]]] = {}
    factors = RunFactor.objects.filter(run__in=chosen, name__in=[*SIZES, *CLIENTS]).order_by()
    for row in factors.values("run__batch", "run__workload__slug", "name").annotate(
        levels=Count("number", distinct=True), low=Min("number"), high=Max("number"), unit=Max("unit")
    ):
        if row["levels"] >= LEAST_LEVELS:
            levels.setdefault((row["run__batch"], row["run__workload__slug"]), {})[row["name"]] = row
    data = Q(storage__role=StorageRole.DATA)
    sweeps = (
        chosen.order_by("publication__published_on", "-batch__created_at", "workload")
        .values(*of, "workload__name", "publication__slug", "publication__title_en")
        .annotate(
            label=Min("label"),
            systems=Count("dbms_version", distinct=True),
            media=Count("storage__device__medium", distinct=True, filter=data),
        )
    )
    varied = [
        row for row in sweeps if row["systems"] > 1 or row["media"] > 1 or tuple(row[name] for name in of) in levels
    ]
    names = Batch.objects.in_bulk([row["batch"] for row in varied])
    measured: list[Question] = [*_histories(newest)]
    published: list[Question] = []
    for row in varied:
        slug, batch = row["publication__slug"], names[row["batch"]]
        selects = {"publication": slug} if slug else {"batch": str(row["batch"])}
        selects |= {"workload": row["workload__slug"]}
        title = row["publication__title_en"] or batch.label or row["label"] or str(batch)
        for words, controls in _of_sweep(row, levels.get((row["batch"], row["workload__slug"]), {})):
            question = Question(words, title, row["workload__name"], urlencode(selects | controls))
            (published if slug else measured).append(question)
    return [*_distinguished(measured[:MOST_QUESTIONS]), *_distinguished(published[:MOST_QUESTIONS])]


def _histories(newest: Iterable[Mapping[str, Any]]) -> Iterable[Question]:
    """Cells that were measured in many batches."""
    cells: dict[str, list[Mapping[str, Any]]] = {}
    for run in newest:
        cells.setdefault(run["cell_key"], []).append(run)
    for cell, runs in cells.items():
        batches = len({run["batch"] for run in runs})
        if cell and batches >= LEAST_NIGHTS:
            since = min(run["measured_at"] for run in runs).date()
            words = f"Has {runs[0]['dbms_version__name']} changed since {since}?"
            yield Question(words, f"{batches} batches", runs[0]["workload__name"], urlencode({"cell": cell[:12]}))


def _distinguished(questions: Sequence[Question]) -> Iterable[Question]:
    """A question that is asked of several begins with what it is asked of: the workload, else the batch."""
    for question in questions:
        same = [other for other in questions if other.words == question.words]
        of = question.workload if len({other.workload for other in same}) == len(same) else question.of
        words = question.words if len(same) == 1 else f"{of}: {mid_sentence(question.words)}"
        yield replace(question, words=words)


def _of_sweep(row: Mapping[str, Any], levels: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[str, dict[str, str]]]:
    """(words, controls of the compare page)"""
    size = next((name for name in SIZES if name in levels), "")
    clients = next((name for name in CLIENTS if name in levels), "")
    if size:
        span = levels[size]
        unit = shown_unit(size, span["unit"])
        low, high = number(span["low"]), f"{number(span['high'])} {unit}".strip()
        fact = "" if unit else f"{mid_sentence(factor_label(size))} "
        yield f"What is lost from {fact}{low} to {high}?", {"x": f"factor:{size}"}
    if clients:
        span = levels[clients]
        words = f"How far does it scale, from {number(span['low'])} to {number(span['high'])} {clients}?"
        yield words, {"x": f"factor:{clients}"}
    if row["systems"] > 1:
        yield f"Which of {row['systems']} systems is fastest, and is it sure?", {"order": "best"}
    if row["media"] > 1:
        yield "How much faster is the faster disk?", {"series": "storage:data"}
