"""`Run.primary_value`: the number that lists show and sort by, kept beside the run so that an index can sort it."""

from __future__ import annotations

from django.db.models import Case, F, FloatField, OuterRef, Q, QuerySet, Subquery, Value, When

from runs.models import Measurement, Run


def refresh(runs: QuerySet[Run]) -> int:
    """Bring the value of these runs up to their measurements, their workload and whether they count.

    To be called by whatever writes measurements, marks a run invalid or changes a workload's primary metric.
    Returns how many runs changed.
    """
    known = runs.order_by().annotate(wanted=_value())
    # Null equals nothing in SQL, so that a value that comes or goes is asked for by itself.
    comes = Q(primary_value__isnull=True, wanted__isnull=False)
    goes = Q(primary_value__isnull=False, wanted__isnull=True)
    different = known.filter(comes | goes | Q(primary_value__lt=F("wanted")) | Q(primary_value__gt=F("wanted")))
    return Run.objects.filter(pk__in=different.values("pk")).update(primary_value=_value())


def _value() -> Case:
    numbers = Measurement.objects.filter(
        run=OuterRef("pk"), metric__name=F("run__workload__primary_metric"), phase="run"
    )
    first = Subquery(numbers.order_by("metric__unit").values("value")[:1], output_field=FloatField())
    # An invalid run has none: it must not lead a list that is sorted by value.
    return Case(When(invalid_at=None, then=first), default=Value(None), output_field=FloatField())
