"""Any other publication: a comparison per workload."""

from __future__ import annotations

from urllib.parse import urlencode

from runs.charts import compare as charts
from runs.compare.compare import compare
from runs.publications.page.material import Material
from runs.publications.page.parts import Section


def sections(material: Material) -> list[Section]:
    found: list[Section] = []
    for workload in dict.fromkeys(run.workload for run in material.runs):
        comparison = compare(material.runs_of(workload.id))
        if not comparison.groups:
            continue
        query = urlencode({"publication": material.publication.slug, "workload": workload.slug})
        figure = charts.bars_figure(comparison, id=f"chart-{workload.slug}", note=charts.BARS_NOTE)
        found.append(
            Section(f"workload-{workload.slug}", workload.name, charts.headline(comparison), [figure], compare=query)
        )
    return found
