"""What ran on which machine, as far as a reader may see it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet

from runs.models import HardwareProfile, Measurement, Run
from runs.models.choices import Better
from runs.models.subjects import dbms_name, versioned
from runs.models.visible import Reader, sees_all

# A machine may have run for years: of more runs than this the best of the newest are told, and the page says so.
LOOKED_AT = 5_000
# Runs of a machine, a DBMS or a configuration in a list of these; beyond, "1,000+".
MOST_COUNTED = 1_000


@dataclass(frozen=True)
class BestResult:
    """The best finished run of a workload on one DBMS version in one durability class. Demonstrations do not count."""

    workload: str
    workload_slug: str
    dbms: str
    dbms_slug: str
    durability: str
    metric: str
    unit: str
    value: float
    runs: int
    lower_is_better: bool = False


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
    """One row per workload, DBMS version and durability class, of the workload's primary metric."""
    return best_of(Run.objects.with_values().listed_for(user).filter(hardware=profile))


def best_of(runs: QuerySet[Run]) -> list[BestResult]:
    """The same for any runs with values: those of the newest `LOOKED_AT` that may be ranked."""
    # What is doubted stands in no index: it is asked of those only, and not of all that are met on the way to them.
    newest = runs.filter(demonstration=False).order_by("-created_at").values("pk")[:LOOKED_AT]
    rows = (
        Measurement.objects.filter(
            run__in=newest,
            run__durability_doubt="",
            phase="run",
            metric__name=F("run__workload__primary_metric"),
        )
        .exclude(metric__better=Better.NONE)
        .order_by()
        .values(
            "run__workload__name", "run__workload__version", "run__workload__slug", "run__dbms_version__name",
            "run__dbms_version__slug", "run__durability", "metric__label", "metric__unit", "metric__better",
        )
        .annotate(highest=Max("value"), lowest=Min("value"), runs=Count("pk"))
    )  # fmt: skip
    results = [
        BestResult(
            workload=versioned(row["run__workload__name"], row["run__workload__version"]),
            workload_slug=row["run__workload__slug"],
            dbms=dbms_name(row["run__dbms_version__name"], row["run__durability"]),
            dbms_slug=row["run__dbms_version__slug"], durability=row["run__durability"],
            metric=row["metric__label"], unit=row["metric__unit"],
            value=row["highest"] if row["metric__better"] == Better.HIGHER else row["lowest"], runs=row["runs"],
            lower_is_better=row["metric__better"] == Better.LOWER,
        )
        for row in rows
    ]  # fmt: skip
    return sorted(results, key=lambda result: (result.workload, result.unit, result.durability, result.dbms))
