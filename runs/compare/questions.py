"""What the stored results can answer: questions, each with the address of the comparison that answers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Max, Min, Q

from runs.compare.axes import CLIENTS, LEAST_LEVELS, SIZES
from runs.compare.choosing import LOOKED_THROUGH
from runs.formatting import number
from runs.models import Batch, Run, RunFactor
from runs.models.choices import StorageRole
from runs.models.visible import Reader
from runs.run.facets import factor_label

# Of what was measured last, and as many of what is published.
MOST_BATCHES, MOST_QUESTIONS = 6, 8


@dataclass(frozen=True)
class Question:
    """`about`: which results answer it."""

    words: str
    about: str
    query: str


def questions(user: Reader) -> list[Question]:
    """Of the newest batches and of the publications, by what varies in them: four queries, however many are stored."""
    rows = Run.objects.with_values().listed_for(user)
    newest = dict(rows.filter(publication=None).order_by("-created_at").values_list("pk", "batch")[:LOOKED_THROUGH])
    batches = list(dict.fromkeys(newest.values()))[:MOST_BATCHES]
    looked_at = [key for key, batch in newest.items() if batch in batches]
    chosen = rows.filter(Q(pk__in=looked_at) | Q(publication__isnull=False))
    of = ("batch", "workload__slug")
    levels: dict[tuple[object, ...], dict[str, Mapping[str, Any]]] = {}
    factors = RunFactor.objects.filter(run__in=chosen, name__in=[*SIZES, *CLIENTS]).order_by()
    for row in factors.values("run__batch", "run__workload__slug", "name").annotate(
        levels=Count("number", distinct=True), low=Min("number"), high=Max("number"), unit=Max("unit")
    ):
        if row["levels"] >= LEAST_LEVELS:
            levels.setdefault((row["run__batch"], row["run__workload__slug"]), {})[row["name"]] = row
    data = Q(storage__role=StorageRole.DATA)
    found = (
        chosen.order_by("publication__published_on", "-batch__created_at", "workload")
        .values(*of, "workload__name", "publication__slug", "publication__title_en")
        .annotate(
            label=Min("label"),
            systems=Count("dbms_version", distinct=True),
            media=Count("storage__device__medium", distinct=True, filter=data),
        )
    )
    kept = [row for row in found if row["systems"] > 1 or row["media"] > 1 or tuple(row[name] for name in of) in levels]
    names = Batch.objects.in_bulk([row["batch"] for row in kept])
    measured: list[Question] = []
    published: list[Question] = []
    for row in kept:
        slug = row["publication__slug"]
        selects = {"publication": slug} if slug else {"batch": str(row["batch"])}
        of_batch = row["publication__title_en"] or names[row["batch"]].label or row["label"] or names[row["batch"]]
        about = f"{of_batch}: {row['workload__name']}"
        asked = published if slug else measured
        asked += [
            Question(words, about, urlencode(selects | {"workload": row["workload__slug"]} | controls))
            for words, controls in _asked(row, levels.get((row["batch"], row["workload__slug"]), {}))
        ]
    return [*measured[:MOST_QUESTIONS], *published[:MOST_QUESTIONS]]


def _asked(row: Mapping[str, Any], levels: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[str, dict[str, str]]]:
    """(words, controls of the compare page)"""
    size = next((name for name in SIZES if name in levels), "")
    clients = next((name for name in CLIENTS if name in levels), "")
    if size:
        span = levels[size]
        unit = f" {span['unit']}" if span["unit"] else f" ({factor_label(size).lower()})"
        yield f"What is lost from {number(span['low'])} to {number(span['high'])}{unit}?", {"x": f"factor:{size}"}
    if clients:
        span = levels[clients]
        words = f"How far does it scale, from {number(span['low'])} to {number(span['high'])} {clients}?"
        yield words, {"x": f"factor:{clients}"}
    if row["systems"] > 1:
        yield f"Which of {row['systems']} systems is fastest, and is it sure?", {"order": "best"}
    if row["media"] > 1:
        yield "How much faster is the faster disk?", {"series": "storage:data"}
