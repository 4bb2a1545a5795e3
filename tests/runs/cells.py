"""Runs with numbers, made straight as rows: cells of a comparison, and the table of the TPC-B article of 2010."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from typing import Any
from uuid import UUID

from runs.models import (
    Aggregate,
    Batch,
    Dbms,
    DbmsVersion,
    HardwareProfile,
    Measurement,
    Metric,
    Publication,
    Run,
    RunFactor,
    Workload,
    cell_key,
)
from runs.run.number import refresh_primary

# What runs of no experiment, upload or publication were measured with.
TOGETHER = UUID(int=1)
FACTORS: dict[str, float | str] = {"scale_factor": 10, "terminals": 4}
# What `make_runs` reads of a run that is no column of it.
OWN = ("system", "value", "number", "beside", "factors", "on", "of")
ARTICLE: dict[str, list[int]] = {
    "PostgreSQL 8.3": [465, 511, 546, 469, 508],
    "DB2 9.7": [2304, 2352, 2363, 2435, 2363],
    "MySQL 5.0": [109, 114, 117, 105, 115],
    "Oracle 10R2": [612, 572, 594, 600, 564],
    "Derby 10.3": [1022, 1125, 1341, 1212, 1192],
    "Derby 10.6": [855, 919, 875],
}
MEDIANS = {
    "PostgreSQL 8.3": 508, "DB2 9.7": 2363, "MySQL 5.0": 114, "Oracle 10R2": 594, "Derby 10.3": 1192, "Derby 10.6": 875,
}  # fmt: skip
EMPTY_CELL = "the cell is empty in the printed table; the article gives no reason"


def slug(text: str) -> str:
    return text.lower().replace(" ", "-").replace(".", "-")


def workload(name: str = "TPC-B profile", version: str = "1") -> Workload:
    return Workload.objects.get_or_create(
        slug=slug(f"{name} {version}"), defaults={"name": name, "version": version, "primary_metric": "tps"}
    )[0]


def dbms(name: str) -> DbmsVersion:
    product, _, version = name.rpartition(" ")
    if known := DbmsVersion.objects.select_related("dbms").filter(slug=slug(name)).first():
        return known
    row, _ = Dbms.objects.get_or_create(slug=slug(product), defaults={"name": product})
    return DbmsVersion.objects.create(slug=slug(name), name=name, dbms=row, version=version)


def machine(name: str = "Bench One", cpu: str = "Two quiet cores") -> HardwareProfile:
    return HardwareProfile.objects.get_or_create(slug=slug(name), defaults={"name": name, "cpu_model": cpu})[0]


def metric(name: str = "tps", unit: str = "TPS", better: str = "higher", label: str = "Throughput") -> Metric:
    return Metric.objects.get_or_create(name=name, unit=unit, defaults={"label": label, "better": better})[0]


def make_run(system: str, value: float | None, **more: Any) -> Run:
    """`more`: what `make_runs` reads, and columns of the run."""
    return make_runs([{"system": system, "value": value, **more}])[0]


def make_runs(wanted: Iterable[Mapping[str, Any]]) -> list[Run]:
    """Of each `system`, its `value` of the metric `number` and those of others `beside` it, the `factors`, the machine
    it ran `on`, the workload it is `of`, and columns of the run.

    What they share is asked for once, and their rows are stored together.
    """
    known_workload, known_dbms, known_batch, known_metric = map(cache, (workload, dbms, batch, metric_of))
    runs, factors, numbers = [], [], []
    for one in wanted:
        system, value, number, beside, given, on, of = (one.get(name) for name in OWN)
        fields = {"state": "finished"} | {name: said for name, said in one.items() if name not in OWN}
        if "batch" not in fields:
            made_by = fields.get("experiment") or fields.get("upload") or fields.get("publication")
            fields["batch"] = known_batch(getattr(made_by, "pk", TOGETHER))
        run = Run(workload=of or known_workload(), dbms_version=known_dbms(system), hardware=on, **fields)
        if isinstance(run.measured_on, str):
            run.measured_on = date.fromisoformat(run.measured_on)
        run.set_measured_at()
        values = FACTORS if given is None else given
        run.cell_key = cell_key(run, storage={}, factors=values)
        runs.append(run)
        for name, factor in values.items():
            column = {"text": factor} if isinstance(factor, str) else {"number": factor}
            factors.append(RunFactor(run=run, name=name, unit="GB" if name == "size_gb" else "", **column))
        said = {} if value is None else {number or "tps": value}
        numbers += [measured(run, known_metric(name), row) for name, row in (said | (beside or {})).items()]
    Run.objects.bulk_create(runs)
    RunFactor.objects.bulk_create(factors)
    Measurement.objects.bulk_create(numbers)
    refresh_primary(Run.objects.filter(pk__in=[run.pk for run in runs]))
    return runs


def batch(made_by: UUID = TOGETHER, **said: object) -> Batch:
    return Batch.objects.get_or_create(pk=made_by, defaults=said)[0]


def metric_of(name: str, unit: str = "TPS") -> Metric:
    better = "lower" if name.endswith("_ms") or name.endswith("_s") else "higher"
    unit = "ms" if name.endswith("_ms") else "bytes" if name.endswith("_bytes") else unit
    return metric(name, unit, better, "Throughput" if name == "tps" else name)


def measured(run: Run, of: Metric, value: float, phase: str = "run") -> Measurement:
    return Measurement(run=run, metric=of, value=value, phase=phase, as_printed=f"{value:g}", provenance=run.provenance)


def make_repeats(system: str, values: Iterable[float | None], **more: Any) -> list[Run]:
    return make_runs([{"system": system, "value": value, **more} for value in values])


def add_number(run: Run, value: float, *, name: str = "tps", phase: str = "run", unit: str = "TPS") -> None:
    measured(run, metric_of(name, unit), value, phase).save()
    refresh_primary(Run.objects.filter(pk=run.pk))


def make_article() -> Publication:
    """The six systems with their repeats, the two empty cells, and the printed medians."""
    publication = Publication.objects.create(
        slug="tpcb-2010", title_original="100MB TPC-B test databází", title_en="100 MB TPC-B test of databases",
        language="cs", published_on=date(2010, 11, 4),
    )  # fmt: skip
    unknown = machine("Machine of the article", cpu="")
    wanted = []
    for system, values in ARTICLE.items():
        for repeat in range(1, 6):
            value = values[repeat - 1] if repeat <= len(values) else None
            gap = {} if value is not None else {
                "state": "value_missing", "missing_metric": "tps", "missing_reason": EMPTY_CELL
            }  # fmt: skip
            wanted.append({
                "system": system, "value": value, "on": unknown, "publication": publication,
                "provenance": "reconstructed", "repeat": repeat, "order_index": len(wanted) + 1,
                "source_id": f"{slug(system)}-r{repeat}", "durability": "power_loss", **gap,
            })  # fmt: skip
    runs = make_runs(wanted)
    for system in ARTICLE:
        median = Aggregate.objects.create(
            publication=publication, source_id=f"{slug(system)}-median", statistic="median", workload=workload(),
            metric=metric(), value=MEDIANS[system], as_printed=str(MEDIANS[system]),
        )  # fmt: skip
        median.of.set(run for run in runs if run.dbms_version.name == system and run.state == "finished")
    return publication


def all_runs() -> list[Run]:
    return list(Run.objects.present().for_lists())
