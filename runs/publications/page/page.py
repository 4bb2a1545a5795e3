"""The page of a publication: what it says, its results, its figures with their state, claims, gaps, later findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runs.models import Publication
from runs.models.choices import Provenance, RunState
from runs.models.visible import Reader
from runs.publications.article import Article, article_of
from runs.publications.matching import Published
from runs.publications.material import Material
from runs.publications.page import layout, reruns
from runs.publications.page.parts import Section, TextCell, Tile

LANGUAGES = {"cs": "Czech", "en": "English", "ko": "Korean", "pt": "Portuguese", "ru": "Russian"}
PROVENANCE_WORDS = {
    Provenance.PRINTED: "as the article prints it",
    Provenance.RECONSTRUCTED: "printed run together; split by us in the only way that fits",
    Provenance.RECOVERED: "stated on another public page",
    Provenance.INFERRED: "worked out by us from what is printed",
    Provenance.COMPUTED: "calculated from the values on this page; the hint holds the formula",
    Provenance.LOST_IN_PICTURE: "the value was in a picture that no longer exists: shown as a gap",
}


@dataclass(frozen=True)
class Page:
    """`article`, `figures`, `questions` and `slot` are there for the articles that we tell; others show their rows."""

    publication: Publication
    article: Article | None
    figures: list[reruns.FigureView]
    questions: list[reruns.QuestionView]
    slot: reruns.Slot | None
    tiles: list[Tile]
    sections: list[Section]
    legend: list[tuple[str, str]]
    with_values: int
    without_values: int
    material: Material

    @property
    def language(self) -> str:
        code = self.publication.language
        return LANGUAGES.get(code, code)

    def slots_of(self, section: Section) -> list[reruns.FigureView]:
        """Figures of this section that a re-run fills and that have no frame with a slot of its own."""
        places = {section.id, *(figure.id for figure in section.figures)}
        return [one for one in self.figures if one.slot and one.figure.frame is None and one.figure.place in places]

    def frames_of(self, section: Section) -> list[reruns.FigureView]:
        """The frames of lost figures that stand in this section, as far as the article has these figures."""
        return [one for id in section.frames for one in self.figures if one.figure.id == id and one.figure.frame]


def page(publication: Publication, user: Reader, chosen: Mapping[str, str] | None = None) -> Page:
    """`chosen` is what the reader picks on the page: {"baseline": slug}."""
    material = Material.of(publication, chosen)
    article = article_of(publication)
    sections = layout.sections(material)
    claims = {claim.source_id: claim for claim in material.claims}
    published = Published(publication, material.runs, claims, material.observations)
    measured = reruns.Measured.of(published, user)
    valued = sum(run.state == RunState.FINISHED for run in material.runs)
    return Page(
        publication=publication,
        article=article,
        figures=reruns.figure_views(article, measured) if article else [],
        questions=reruns.question_views(article, user) if article else [],
        slot=reruns.slot(article.slug, article.rerun, measured) if article and article.rerun else None,
        tiles=layout.page_file(publication).answer.tiles(material),
        sections=sections,
        legend=legend(material, sections),
        with_values=valued,
        without_values=len(material.runs) - valued,
        material=material,
    )


def legend(material: Material, sections: Sequence[Section]) -> list[tuple[str, str]]:
    """The provenance words that this page uses, with what each means."""
    used = {one.provenance for run in material.runs for one in run.measurements.all()}
    used |= {run.provenance for run in material.runs} | {fact.provenance for fact in material.facts}
    used |= {one.provenance for one in material.aggregates} | {one.provenance for one in material.observations}
    cells = (cell for section in sections for named in section.tables for row in named.table.rows for cell in row)
    rich = [cell for cell in cells if isinstance(cell, TextCell)]
    # Counts and checks are computed on every page.
    used.add(Provenance.COMPUTED)
    used |= {cell.badge for cell in rich} | {cell.amount.provenance for cell in rich if cell.amount}
    return [(provenance.value, words) for provenance, words in PROVENANCE_WORDS.items() if provenance in used]
