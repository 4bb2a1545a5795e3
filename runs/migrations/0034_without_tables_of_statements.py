"""The tables of what articles state; 0033 has kept their rows."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0033_statements_of_articles")]
    operations = [
        migrations.DeleteModel(name)
        for name in (
            "DataSchema", "Observation", "Claim", "MissingItem", "TableStat", "IndexStat", "QueryStat", "Fact",
        )
    ]  # fmt: skip
