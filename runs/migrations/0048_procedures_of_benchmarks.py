"""A benchmark knows how it was measured: what was measured beyond the span that a comparison allows is filed anew.
What was recorded of batches tells the load generator once, not as durability, and lengths with their units.
"""

from django.db import migrations, models

SPANS = {
    "warm_up_s": 60, **dict.fromkeys((
        "duration_s", "duration_minutes", "rampup_minutes", "ramp_up_s", "transactions_per_client",
        "report_interval_s", "sampling_rate", "aggregate_interval_s",
    ), 10),
}  # fmt: skip
SECONDS_EACH = {"ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
LABELS = {
    "durability:Isolation level": "isolation:Isolation level",
    "driver:Jdbc driver": "driver:JDBC driver", "driver:Jdbc driver version": "driver:JDBC driver version",
    "driver:Agent": "driver:Agent version", "driver:Transport": "driver:Client",
}  # fmt: skip
TOLD_TWICE = (
    "durability:Tool", "durability:Client", "durability:Protocol", "driver:Isolation", "driver:Name", "driver:Version"
)  # fmt: skip
IN_SECONDS = ("procedure:Measured window", "procedure:Warm-up", "procedure:Ramp up", "procedure:Report interval",
              "procedure:Aggregate interval")  # fmt: skip
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
    wanted = [*beyond]
    for begin in range(0, len(wanted), AT_ONCE):
        batches.filter(pk__in=wanted[begin : begin + AT_ONCE]).update(is_filed=False)


def tell_load_generators(apps, schema_editor):
    for row in apps.get_model("runs", "Conditions").objects.iterator():
        if not isinstance(row.facts, dict):
            continue
        facts = {LABELS.get(name, name): text for name, text in row.facts.items() if name not in TOLD_TWICE}
        if name := row.facts.get("driver:Name"):
            facts["load generator:Load generator"] = " ".join(filter(None, [name, row.facts.get("driver:Version")]))
        for name in [name for name in facts if name.startswith("procedure:")]:
            try:
                facts[name] = f"{float(facts[name]):,.10g}{' s' * (name in IN_SECONDS)}"
            except (TypeError, ValueError):
                continue
        if facts != row.facts:
            row.facts = facts
            row.save(update_fields=["facts"])


class Migration(migrations.Migration):

    dependencies = [("runs", "0047_label_of_the_data_load_rate")]

    operations = [
        migrations.AddField("benchmark", "procedure", models.JSONField(default=dict)),
        migrations.RunPython(tell_procedures, migrations.RunPython.noop),
        migrations.RunPython(tell_load_generators, migrations.RunPython.noop),
    ]
