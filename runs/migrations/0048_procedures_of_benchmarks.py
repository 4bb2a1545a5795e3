"""A benchmark knows how it was measured: what was measured beyond the span that a comparison allows is filed anew, and
so is what has several load generators or isolation levels, which were told as durability.
"""

from django.db import migrations, models

SPANS = {
    "warm_up_s": 60, **dict.fromkeys((
        "duration_s", "duration_minutes", "rampup_minutes", "ramp_up_s", "transactions_per_client",
        "report_interval_s", "sampling_rate", "aggregate_interval_s",
    ), 10),
}  # fmt: skip
SECONDS_EACH = {"ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
TOLD_AS_DURABILITY = ("Tool", "Isolation level", "Client", "Protocol")
AT_ONCE = 500


def tell_procedures(apps, schema_editor):
    """Of each benchmark those of its first batch, by when it was measured."""
    benchmark, batches = apps.get_model("runs", "Benchmark").objects, apps.get_model("runs", "Batch").objects
    of_row = "run__series_batches"
    factors = apps.get_model("runs", "RunFactor").objects.filter(
        name__in=[*SPANS], number__isnull=False, run__series_batches__isnull=False
    ).exclude(role="question").order_by(f"{of_row}__measured_at")  # fmt: skip
    procedures, beyond = {}, set()
    rows = factors.values_list(f"{of_row}__benchmark", f"{of_row}__batch", "name", "number", "unit")
    for pk, batch, name, number, unit in rows.iterator():
        length = number * SECONDS_EACH.get(unit, 1.0)
        first = procedures.setdefault(pk, {}).setdefault(name, length)
        if max(first, length) > SPANS[name] * min(first, length):
            beyond.add(batch)
    for pk, procedure in procedures.items():
        benchmark.filter(pk=pk).update(procedure=procedure)
    rows = apps.get_model("runs", "SeriesBatch").objects
    facts = dict(apps.get_model("runs", "Conditions").objects.values_list("digest", "facts"))
    told = {}
    for pk, digest in rows.order_by().values_list("benchmark", "conditions").distinct():
        known = facts[digest] if isinstance(facts[digest], dict) else {}
        told.setdefault(pk, set()).add(tuple(known.get(f"durability:{name}") for name in TOLD_AS_DURABILITY))
    several = [pk for pk, kinds in told.items() if len(kinds) > 1]
    for begin in range(0, len(several), AT_ONCE):
        beyond.update(rows.filter(benchmark__in=several[begin : begin + AT_ONCE]).values_list("batch", flat=True))
    wanted = [*beyond]
    for begin in range(0, len(wanted), AT_ONCE):
        batches.filter(pk__in=wanted[begin : begin + AT_ONCE]).update(is_filed=False)


class Migration(migrations.Migration):

    dependencies = [("runs", "0047_label_of_the_data_load_rate")]

    operations = [
        migrations.AddField("benchmark", "procedure", models.JSONField(default=dict)),
        migrations.RunPython(tell_procedures, migrations.RunPython.noop),
    ]
