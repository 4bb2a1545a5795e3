"""Runs with numbers, made straight as rows: cells of a comparison, and the table of the TPC-B article of 2010."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from runs.models import (
    Aggregate,
    Batch,
    Config,
    Dbms,
    DbmsVersion,
    HardwareProfile,
    Measurement,
    Metric,
    Publication,
    Run,
    RunFactor,
    Workload,
)
from runs.run.number import refresh_primary

# What runs of no experiment, upload or publication were measured with.
TOGETHER = UUID(int=1)
FACTORS: dict[str, float | str] = {"scale_factor": 10, "terminals": 4}
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
    row, _ = Dbms.objects.get_or_create(slug=slug(product), defaults={"name": product})
    return DbmsVersion.objects.get_or_create(slug=slug(name), defaults={"name": name, "dbms": row, "version": version})[
        0
    ]


def machine(name: str = "Bench One", cpu: str = "Two quiet cores") -> HardwareProfile:
    return HardwareProfile.objects.get_or_create(slug=slug(name), defaults={"name": name, "cpu_model": cpu})[0]


def metric(name: str = "tps", unit: str = "TPS", better: str = "higher", label: str = "Throughput") -> Metric:
    return Metric.objects.get_or_create(name=name, unit=unit, defaults={"label": label, "better": better})[0]


def make_run(
    system: str,
    value: float | None,
    *,
    factors: dict[str, float | str] | None = None,
    number: str = "tps",
    on: HardwareProfile | None = None,
    config: Config | None = None,
    of: Workload | None = None,
    **fields: object,
) -> Run:
    fields.setdefault("state", "finished")
    if "batch" not in fields:
        made_by = fields.get("experiment") or fields.get("upload") or fields.get("publication")
        fields["batch"] = batch(getattr(made_by, "pk", TOGETHER))
    run = Run.objects.create(workload=of or workload(), dbms_version=dbms(system), hardware=on, config=config, **fields)
    for name, factor in (FACTORS if factors is None else factors).items():
        column = {"text": factor} if isinstance(factor, str) else {"number": factor}
        RunFactor.objects.create(run=run, name=name, unit="GB" if name == "size_gb" else "", **column)
    if value is not None:
        add_number(run, value, name=number)
    run.set_cell_key()
    run.save(update_fields=["cell_key"])
    return run


def batch(made_by: UUID = TOGETHER, **said: object) -> Batch:
    return Batch.objects.get_or_create(pk=made_by, defaults=said)[0]


def add_number(run: Run, value: float, *, name: str = "tps", phase: str = "run", unit: str = "TPS") -> None:
    better = "lower" if name.endswith("_ms") or name.endswith("_s") else "higher"
    unit = "ms" if name.endswith("_ms") else unit
    label = "Throughput" if name == "tps" else name
    Measurement.objects.create(
        run=run, metric=metric(name, unit, better, label), value=value, phase=phase, as_printed=f"{value:g}",
        provenance=run.provenance,
    )  # fmt: skip
    refresh_primary(Run.objects.filter(pk=run.pk))


def make_article() -> Publication:
    """The six systems with their repeats, the two empty cells, and the printed medians."""
    publication = Publication.objects.create(
        slug="tpcb-2010", title_original="100MB TPC-B test databází", title_en="100 MB TPC-B test of databases",
        language="cs", published_on=date(2010, 11, 4),
    )  # fmt: skip
    unknown = machine("Machine of the article", cpu="")
    place = 0
    for system, values in ARTICLE.items():
        runs = []
        for repeat in range(1, 6):
            place += 1
            value = values[repeat - 1] if repeat <= len(values) else None
            gap = {} if value is not None else {
                "state": "value_missing", "missing_metric": "tps", "missing_reason": EMPTY_CELL
            }  # fmt: skip
            run = make_run(
                system, value, on=unknown, publication=publication, provenance="reconstructed", repeat=repeat,
                order_index=place, source_id=f"{slug(system)}-r{repeat}", durability="power_loss", **gap,
            )  # fmt: skip
            runs += [run] if value is not None else []
        median = Aggregate.objects.create(
            publication=publication, source_id=f"{slug(system)}-median", statistic="median", workload=workload(),
            metric=metric(), value=MEDIANS[system], as_printed=str(MEDIANS[system]),
        )  # fmt: skip
        median.of.set(runs)
    return publication


def all_runs() -> list[Run]:
    return list(Run.objects.present().for_lists())
