"""What articles state beside their runs stands in the publication's row, as it does in their files.

Columns of a page's tables that were formulas say what they are of; those of another form are left out.
"""

from __future__ import annotations

import re
from typing import Any

from django.db import migrations

# By key of the document: its model.
KINDS = {
    "schemas": "DataSchema", "observations": "Observation", "claims": "Claim", "missing": "MissingItem",
    "table_stats": "TableStat", "index_stats": "IndexStat", "query_stats": "QueryStat", "facts": "Fact",
}  # fmt: skip
BOOKKEEPING = {"id", "publication", "position"}
HAVE_DETAILS = {"schemas", "claims", "facts"}
# Columns under other names than in the files.
NAMES = {"source_id": "id", "is_document": "document"}


def keep(apps: Any, schema_editor: Any) -> None:
    for publication in apps.get_model("runs", "Publication").objects.all():
        publication.content["statements"] = {
            key: [_row(key, row) for row in rows.filter(publication=publication).order_by("position")]
            for key, rows in ((key, apps.get_model("runs", model).objects) for key, model in KINDS.items())
        }
        for part in publication.content.get("page", {}).get("parts", []):
            if table := part.get("table") if part.get("part") == "curves" else None:
                table["columns"] = [new for old in table["columns"] if (new := _column(old))]
        publication.save(update_fields=["content"])


def _column(old: dict[str, Any]) -> dict[str, Any]:
    kept = {name: old[name] for name in ("label", "unit") if name in old}
    formula = old.get("formula", "")
    if not formula:
        return kept | {"of": old.get("of", "")}
    if found := re.fullmatch(r"(\w+) / (first|before)_\1 − 1", formula):
        return kept | {"of": found[1], "against": found[2]}
    if found := re.fullmatch(r"(\w+)(?: × ([\d.]+))? / (\w+)", formula):
        return kept | {"of": found[1], "times": float(found[2] or 1), "per": found[3]}
    return {}


def _row(key: str, row: Any) -> dict[str, Any]:
    columns = {field.name for field in row._meta.fields} - BOOKKEEPING
    if key == "observations":
        columns -= {"details", "provenance", "value_text", "workload"}
        workload = {"workload": row.workload.source_id} if row.workload else {}
        return {name: getattr(row, name) for name in columns} | row.details | workload
    columns -= set() if key in HAVE_DETAILS else {"details"}
    return {NAMES.get(name, name): getattr(row, name) for name in columns}


class Migration(migrations.Migration):
    dependencies = [("runs", "0032_notices")]
    operations = [migrations.RunPython(keep, migrations.RunPython.noop)]
