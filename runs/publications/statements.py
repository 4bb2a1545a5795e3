"""What a publication states beside runs: observations, claims, lost figures, statistics; and facts from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runs.models import Claim, Fact, IndexStat, MissingItem, Observation, QueryStat, TableStat
from runs.models.choices import Provenance
from runs.models.literature import PublishedItem
from runs.publications.document import ClaimRow, MissingRow, ObservationRow, Results, Row
from runs.publications.folder import stable_id
from runs.publications.subjects import Subjects
from runs.publications.sync import Sync


def sync_statements(sync: Sync, data: Results, subjects: Subjects) -> None:
    kinds: list[tuple[str, type[PublishedItem], Sequence[Row]]] = [
        ("observations", Observation, data.observations),
        ("claims", Claim, data.claims),
        ("missing", MissingItem, data.missing),
        ("table_stats", TableStat, data.table_stats),
        ("index_stats", IndexStat, data.index_stats),
        ("query_stats", QueryStat, data.query_stats),
        ("facts", Fact, data.facts),
    ]
    for key, model, rows in kinds:
        wanted = [
            {
                "id": stable_id(key, subjects.publication.slug, getattr(row, "id", str(position))),
                "publication_id": subjects.publication.id,
                "position": position,
                **_columns(row, subjects),
            }
            for position, row in enumerate(rows, 1)
        ]
        sync.rows(model, wanted, among=model._default_manager.filter(publication=subjects.publication))


def _columns(row: Row, subjects: Subjects) -> dict[str, Any]:
    match row:
        case ObservationRow():
            named = ("value_min", "value_max", "as_printed", "where")
            details = row.model_dump(include=set(named), exclude_unset=True)
            bounds = [f"{details[name]:g}" for name in ("value_min", "value_max") if name in details]
            return row.model_dump(exclude={*named, "workload"}) | {
                "workload_id": subjects.workloads[row.workload].id if row.workload else None,
                "value_text": row.as_printed or "–".join(bounds),
                "provenance": Provenance.PRINTED,
                "details": {name: details[name] for name in named if name in details},
            }
        case ClaimRow():
            return {"source_id": row.id, **row.model_dump(exclude={"id"})}
        case MissingRow():
            return {"source_id": row.id, "is_document": row.document, "kind": row.kind, "content": row.content}
    return row.model_dump(exclude_unset=True)
