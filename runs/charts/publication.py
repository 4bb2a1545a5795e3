"""The page of a publication: its results first, then claims, gaps, machines, configurations, later findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runs.charts.publications import common, cubrid, firebird, gbak, generic, tpcb
from runs.charts.publications.parts import Facts, Material, Section, TextCell
from runs.choices import Provenance, RunState
from runs.models import Publication

RESULTS: dict[str, Callable[[Material], list[Section]]] = {
    "tpcb-2010": tpcb.sections,
    "firebird-terabyte-2015": firebird.sections,
    "gbak-backup-2007": gbak.sections,
    "cubrid-mysql-ssd-2011": cubrid.sections,
}
LANGUAGES = {"cs": "Czech", "en": "English", "ko": "Korean", "pt": "Portuguese", "ru": "Russian"}
PROVENANCE_WORDS = {
    Provenance.PRINTED: "as the article prints it",
    Provenance.RECONSTRUCTED: "printed run together; split by us in the only way that fits",
    Provenance.RECOVERED: "stated on another public page",
    Provenance.INFERRED: "worked out by us from what is printed",
    Provenance.COMPUTED: "calculated from the values on this page",
    Provenance.LOST_IN_PICTURE: "the value was in a picture that no longer exists: shown as a gap",
}


@dataclass(frozen=True)
class Page:
    publication: Publication
    short: list[tuple[str, str]]
    head: list[Facts]
    sections: list[Section]
    legend: list[tuple[str, str]]
    with_values: int
    without_values: int

    @property
    def language(self) -> str:
        code = self.publication.language
        return LANGUAGES.get(code, code)


def page(publication: Publication) -> Page:
    material = Material.of(publication)
    results = RESULTS.get(publication.slug, generic.sections)(material)
    rest = [
        common.claims(material), common.observations(material), common.missing(material), common.machines(material),
        common.configurations(material), common.findings(material),
    ]  # fmt: skip
    sections = [section for section in (*results, *rest) if section]
    valued = sum(run.state == RunState.FINISHED for run in material.runs)
    return Page(
        publication=publication,
        short=common.short_facts(material),
        head=common.head_facts(material),
        sections=sections,
        legend=legend(material, sections),
        with_values=valued,
        without_values=len(material.runs) - valued,
    )


def legend(material: Material, sections: Sequence[Section]) -> list[tuple[str, str]]:
    """The provenance words that this page uses, with what each means."""
    used = {one.provenance for run in material.runs for one in run.measurements.all()}
    used |= {run.provenance for run in material.runs} | {fact.provenance for fact in material.facts}
    used |= {one.provenance for one in material.aggregates} | {one.provenance for one in material.observations}
    cells = (cell for section in sections for named in section.tables for row in named.table.rows for cell in row)
    used |= {cell.badge for cell in cells if isinstance(cell, TextCell)}
    return [(provenance.value, words) for provenance, words in PROVENANCE_WORDS.items() if provenance in used]
