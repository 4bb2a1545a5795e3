"""What publications state beside runs: observations, claims, lost figures, statistics; and facts found elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runs.models import Claim, Fact, IndexStat, MissingItem, Observation, QueryStat, TableStat
from runs.models.choices import Provenance
from runs.models.literature import PublishedItem
from runs.publications.source import Row, stable_id
from runs.publications.subjects import Subjects
from runs.publications.sync import Sync

Columns = dict[str, Any]


def sync_statements(sync: Sync, data: Mapping[str, list[Row]], subjects: Subjects) -> None:
    def observation(row: Row) -> Columns:
        return _observation(row, subjects)

    kinds: list[tuple[str, type[PublishedItem], Callable[[Row], Columns]]] = [
        ("observations", Observation, observation),
        ("claims", Claim, _claim),
        ("missing", MissingItem, _missing),
        ("table_stats", TableStat, _stat),
        ("index_stats", IndexStat, _stat),
        ("query_stats", QueryStat, _stat),
        ("facts", Fact, _fact),
    ]
    publications = {name: publication.id for name, publication in subjects.publications.items()}
    for key, model, columns in kinds:
        wanted = [
            {
                "id": stable_id(key, row["publication"], str(row.get("id", position))),
                "publication_id": publications[row["publication"]],
                "position": position,
                **columns(row),
            }
            for position, row in enumerate(data[key], 1)
        ]
        sync.rows(model, wanted, among=model._default_manager.filter(publication__in=publications.values()))


def _observation(row: Row, subjects: Subjects) -> Columns:
    details = {name: row[name] for name in ("value_min", "value_max", "as_printed", "where") if name in row}
    bounds = [f"{row[name]:g}" for name in ("value_min", "value_max") if name in row]
    return {
        "workload_id": subjects.workloads[row["workload"]].id if "workload" in row else None,
        "metric": row["metric"],
        "unit": row["unit"],
        "value": row.get("value"),
        "value_text": row.get("as_printed", "–".join(bounds)),
        "qualifier": row.get("qualifier", ""),
        "factors": row.get("factors", {}),
        "provenance": Provenance.PRINTED,
        "details": details,
    }


def _claim(row: Row) -> Columns:
    return {
        "source_id": row["id"],
        "metric": row["metric"],
        "side_a": row["side_a"],
        "side_b": row["side_b"],
        "percent": row.get("percent"),
        "ratio": row.get("ratio"),
        "sense": row["sense"],
        "approximate": row["approximate"],
        "ambiguous": row["ambiguous"],
        "summary": row["summary"],
        "details": row["details"],
    }


def _missing(row: Row) -> Columns:
    return {
        "source_id": row["id"],
        "is_document": row.get("document", False),
        "kind": row["kind"],
        "content": row["content"],
    }


def _stat(row: Row) -> Columns:
    return {name: value for name, value in row.items() if name != "publication"}


def _fact(row: Row) -> Columns:
    return {
        "provenance": Provenance(row["provenance"]),
        "title": row["title"],
        "how": row["how"],
        "details": row["details"],
    }
