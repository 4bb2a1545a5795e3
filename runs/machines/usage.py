"""What ran on which machine, as far as a reader may see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from benchagent.catalog import FACTORS, Role, amount, factor_label, factor_phrase, factor_role, factor_span, factor_unit
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet

from runs.formatting import mid_sentence, natural
from runs.incoming.values import int_if_whole
from runs.models import HardwareProfile, Measurement, Run, RunFactor
from runs.models.choices import Better
from runs.models.subjects import dbms_name, versioned
from runs.models.visible import Reader, sees_all

# A machine may have run for years: of more runs than this the best of the newest are told, and the page says so.
LOOKED_AT = 5_000
# Runs of a machine, a DBMS or a configuration in a list of these; beyond, "1,000+".
MOST_COUNTED = 1_000


@dataclass(frozen=True)
class BestResult:
    """The best finished run of one question (a workload at a level: its size, its load) on one DBMS version in one
    durability class. Demonstrations do not count.

    `level` and `conditions` are in words; `factors` are the stored values of the level. `conditions` are those of the
    best run that others of its question have otherwise. `run` is the best one, of `cell`.
    """

    workload: str
    workload_slug: str
    dbms: str
    dbms_slug: str
    durability: str
    metric: str
    unit: str
    value: float
    runs: int
    cell: str
    lower_is_better: bool = False
    level: str = ""
    conditions: str = ""
    factors: tuple[tuple[str, str], ...] = ()
    run: Run | None = None

    @property
    def query(self) -> str:
        """The query of the list of these runs."""
        return f"{urlencode([('dbms', self.dbms_slug)])}&{self.question_query}"

    @property
    def question_query(self) -> str:
        """The query of all runs of the same question."""
        return urlencode([("workload", self.workload_slug), *((f"factor.{name}", of) for name, of in self.factors)])


def listed_profiles(user: Reader) -> QuerySet[HardwareProfile]:
    """Machines that lists show: not those that are known from somebody else's private runs only."""
    rows = HardwareProfile.objects.filter(merged_into=None)
    if sees_all(user):
        return rows
    of_profile = Run.objects.filter(hardware=OuterRef("pk"))
    own = Q(created_by=user.pk) if user.pk else Q(pk__in=[])
    return rows.filter(Exists(of_profile.present().listed_for(user)) | ~Exists(of_profile) | own)


def readable_profiles(user: Reader) -> QuerySet[HardwareProfile]:
    """Those that may be opened by their address: also one that an unlisted run, or a merged one, leads to."""
    runs = Run.objects.present().readable_by(user).filter(hardware=OuterRef("pk"))
    led_to = HardwareProfile.objects.filter(Exists(runs) | Q(merged_into__isnull=False))
    return (listed_profiles(user) | led_to).select_related("merged_into").prefetch_related("storage")


def best_results(profile: HardwareProfile, user: Reader) -> list[BestResult]:
    """One row per question, DBMS version and durability class, of the workload's primary metric."""
    return best_of(Run.objects.with_values().listed_for(user).filter(hardware=profile))


def best_of(runs: QuerySet[Run]) -> list[BestResult]:
    """The same for any runs with values: those of the newest `LOOKED_AT` that may be ranked."""
    # What is doubted stands in no index: it is asked of those only, and not of all that are met on the way to them.
    # They are named by their ids: of a query with an end PostgreSQL does not know how many rows it will give.
    newest = dict(runs.filter(demonstration=False).order_by("-created_at").values_list("pk", "cell_key")[:LOOKED_AT])
    numbers = Measurement.objects.filter(
        run__in=list(newest), run__durability_doubt="", phase="run", metric__name=F("run__workload__primary_metric")
    ).exclude(metric__better=Better.NONE)
    rows = (
        numbers.order_by()
        .values(
            "run__workload__name", "run__workload__version", "run__workload__slug", "run__dbms_version__name",
            "run__dbms_version__slug", "run__durability", "metric__label", "metric__unit", "metric__better",
            "run__cell_key",
        )
        .annotate(highest=Max("value"), lowest=Min("value"), runs=Count("pk"))
    )  # fmt: skip
    factors = _factors_by_cell(newest)
    questions: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        asked = frozenset(_of_role(factors.get(row["run__cell_key"], {}), Role.QUESTION).items())
        questions.setdefault((row["run__workload__slug"], row["metric__unit"], asked), []).append(row)
    results = [result for cells in questions.values() for result in _best_of_question(cells, factors)]
    cells, values = {result.cell for result in results}, {result.value for result in results}
    of_best = numbers.filter(run__cell_key__in=cells, value__in=values).select_related("run").order_by("run_id")
    read = ("value", "run__cell_key", "run__checks", "run__state", "run__invalid_at", "run__deleted_at")
    run_of = {(number.run.cell_key, number.value): number.run for number in of_best.only(*read)}
    return sorted((replace(result, run=run_of.get((result.cell, result.value))) for result in results), key=_place)


def _place(result: BestResult) -> tuple[object, ...]:
    """Question by question, in each the best first."""
    order = result.value if result.lower_is_better else -result.value
    return (result.workload, result.unit, natural(result.level), result.durability, order, result.dbms)


# Each factor of a cell by name: its value, its unit and the role that its sender declared.
Factors = dict[str, tuple[float | str, str, str]]


def _factors_by_cell(cells: Mapping[UUID, str]) -> dict[str, Factors]:
    """`cells`: of each run its cell, all of whose runs have the same factors: those of one of them are read."""
    run_of = {cell: run for run, cell in cells.items()}
    rows = RunFactor.objects.filter(run__in=list(run_of.values())).order_by("name")
    of_each: dict[str, Factors] = {}
    for run, name, number, text, unit, role in rows.values_list("run", "name", "number", "text", "unit", "role"):
        of_each.setdefault(cells[run], {})[name] = (text if number is None else int_if_whole(number), unit, role)
    return of_each


def _of_role(factors: Factors, role: Role) -> dict[str, float | str]:
    return {name: value for name, (value, _, declared) in factors.items() if factor_role(name, declared) == role}


def _best_of_question(cells: Sequence[Mapping[str, Any]], factors: Mapping[str, Factors]) -> Iterator[BestResult]:
    """Windows of lengths that are not compared are questions of their own."""
    first = cells[0]
    is_lower = first["metric__better"] == Better.LOWER
    best = "lowest" if is_lower else "highest"
    parted: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    apart = _too_far_apart([_of_role(factors.get(row["run__cell_key"], {}), Role.PROCEDURE) for row in cells])
    for row in cells:
        of_cell = factors.get(row["run__cell_key"], {})
        windows = tuple(of_cell[name][0] if name in of_cell else None for name in apart)
        parted.setdefault((row["run__dbms_version__slug"], row["run__durability"], *windows), []).append(row)
    conditions = [_of_role(factors.get(row["run__cell_key"], {}), Role.CONDITION) for row in cells]
    varied = [name for name in dict.fromkeys(chain(*conditions)) if len({each.get(name) for each in conditions}) > 1]
    for rows in parted.values():
        row = (min if is_lower else max)(rows, key=itemgetter(best))
        of_cell = factors.get(row["run__cell_key"], {})
        asked = [*_of_role(of_cell, Role.QUESTION), *(name for name in apart if name in of_cell)]
        yield BestResult(
            workload=versioned(row["run__workload__name"], row["run__workload__version"]),
            workload_slug=row["run__workload__slug"],
            dbms=dbms_name(row["run__dbms_version__name"], row["run__durability"]),
            dbms_slug=row["run__dbms_version__slug"], durability=row["run__durability"],
            metric=row["metric__label"], unit=row["metric__unit"], value=row[best],
            runs=sum(each["runs"] for each in rows), cell=row["run__cell_key"], lower_is_better=is_lower,
            level=_phrases(of_cell, asked), conditions=_phrases(of_cell, varied),
            factors=tuple((name, str(of_cell[name][0])) for name in asked),
        )  # fmt: skip


def _too_far_apart(procedures: Sequence[Mapping[str, float | str]]) -> list[str]:
    """Names of the factors, such as the length of the window, whose values forbid a ratio."""
    apart = []
    for name in sorted({*chain(*procedures)}):
        numbers = [value for each in procedures if isinstance(value := each.get(name), (int, float)) and value > 0]
        if numbers and max(numbers) > factor_span(name) * min(numbers):
            apart.append(name)
    return apart


def _phrases(factors: Factors, names: Iterable[str]) -> str:
    phrases = (named_phrase(name, factors[name][0], factors[name][1]) for name in names if name in factors)
    return " · ".join(phrases)


def named_phrase(name: str, value: float | str, unit: str = "") -> str:
    """A factor's value in words, with its name where the catalogue does not know it: size 10 GB."""
    if name in FACTORS:
        return factor_phrase(name, value, unit or None)
    return f"{mid_sentence(factor_label(name))} {amount(value, unit or factor_unit(name))}"
