"""The page of a publication, and page.json: what it shows in which order, as a list of parts; figures and re-run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from django.conf.locale import LANG_INFO
from pydantic import Field

from runs.models import Publication
from runs.models.choices import Provenance, RunState
from runs.models.stored import sound
from runs.models.visible import Reader
from runs.publications.article import FigureEntry, Order, Rerun, article_of
from runs.publications.document import Spec
from runs.publications.material import Material
from runs.publications.page import claims, common, database, reproductions, reruns
from runs.publications.page.bars import Bars, Medians
from runs.publications.page.common import FactTable, Observed
from runs.publications.page.curves import Curves, Sizes
from runs.publications.page.grids import Control, Grid, Methods
from runs.publications.page.parts import PartSpec, Section, TextCell, Tile, computed

# Parts without options: what they show hangs on the rows alone.
PLAIN: Mapping[str, Callable[[Material], Section]] = {
    "tables": database.tables,
    "indexes": database.indexes,
    "queries": database.queries,
    "schema": common.schema,
    "claimed-ratios": claims.Ratios(id="ratios").section,
    "readings": claims.readings,
    "bounds": claims.bounds,
    "orderings": claims.orderings,
    "claims": claims.all_claims,
    "observations": common.observations,
    "aggregates": common.aggregates,
    "missing": common.missing,
    "machines": common.machines,
    "configurations": common.configurations,
    "findings": common.findings,
}


class Plain(Spec):
    """`title` replaces the one that the kind has; `frames` are those of lost pictures, shown beside the rest."""

    part: Literal[tuple(PLAIN)]  # type: ignore[valid-type]
    title: str = ""
    frames: tuple[str, ...] = ()

    def section(self, material: Material) -> Section:
        section = PLAIN[self.part](material)
        frames = self.frames if section else ()
        return replace(section, title=self.title or section.title, frames=frames, folded=True)


class Frames(PartSpec):
    """Empty frames of lost pictures alone."""

    part: Literal["frames"] = "frames"
    frames: tuple[str, ...]

    def section(self, material: Material) -> Section:
        return Section(self.id, self.title, self.lead, frames=self.frames)


AnyPart = Annotated[
    Bars | Medians | Sizes | Curves | Grid | Methods | Control | Observed | claims.Ratios | FactTable | Frames | Plain,
    Field(discriminator="part"),
]


class Headline(Spec):
    """A figure of the first screen: the computed value `at` of a check, or what a claim says."""

    label: str
    check: str = ""
    at: Annotated[int, Field(ge=0)] = 0
    claim: str = ""

    def tile(self, material: Material) -> Tile | None:
        """None where its check or claim is not there."""
        for check in material.checks:
            if check.number == self.check and self.at < len(check.computed):
                result = check.computed[self.at]
                amount = computed(
                    result.rounded, result.formula, unit=result.unit, digits=result.digits, signed=result.signed
                )
                return Tile(self.label, (amount,), f"#check-{check.number}")
        claim = material.statements.claim(self.claim)
        return Tile(self.label, claims.figure_words(claim), "#claims") if claim else None


class FirstScreen(Spec):
    """What a reader sees first, above the first of the parts."""

    headlines: Annotated[tuple[Headline, ...], Field(max_length=6)] = ()


class PageFile(Spec):
    """Without `parts` the page shows a comparison per workload, then every row that it has."""

    answer: FirstScreen = FirstScreen()
    rerun: Rerun | None = None
    figures: tuple[FigureEntry, ...] = ()
    orders: tuple[Order, ...] = ()
    parts: tuple[AnyPart, ...] = ()

    def faults(self) -> list[str]:
        """Parts and figures that stand twice, and frames of figures that have none."""
        ids = [part.part if isinstance(part, Plain) else part.id for part in self.parts]
        figures = [figure.id for figure in self.figures]
        framed = {figure.id for figure in self.figures if figure.frame}
        twice = [f"parts: {part_id} stands twice" for part_id in sorted(set(ids)) if ids.count(part_id) > 1]
        twice += [f"figures: {figure} stands twice" for figure in sorted(set(figures)) if figures.count(figure) > 1]
        return twice + [
            f"parts[{at}].frames: {name} is not one of the figures with a frame"
            for at, part in enumerate(self.parts)
            for name in getattr(part, "frames", ())
            if name not in framed
        ]


def page_file(publication: Publication) -> PageFile:
    return PageFile.model_validate(sound(publication.content.get("page") or {}, PageFile.model_validate, dict))


def sections(material: Material) -> list[Section]:
    """In the order of page.json, without those that have nothing to show."""
    parts = page_file(material.publication).parts
    if not parts:
        workloads = dict.fromkeys(run.workload for run in material.runs)
        bars = (
            Bars(id=f"workload-{workload.slug}", title=workload.name, workload=workload.source_id)
            for workload in workloads
        )
        parts = (*bars, *(Plain(part=name) for name in PLAIN))
    elif material.alone and not any(part.part == "aggregates" for part in parts):
        # All that is printed of these cells: no page leaves it out.
        parts = (*parts, Plain(part="aggregates"))
    return [section for part in parts if (section := part.section(material))]


# The page

MOST_BROUGHT = 20
PROVENANCE_WORDS = {
    Provenance.PRINTED: "as the article prints it",
    Provenance.RECONSTRUCTED: "printed run together; split by us in the only way that fits",
    Provenance.RECOVERED: "stated on another public page",
    Provenance.INFERRED: "worked out by us from what is printed",
    Provenance.COMPUTED: "calculated from the values on this page; the hint holds the formula",
    Provenance.LOST_IN_PICTURE: "the value was in a picture that no longer exists: shown as a gap",
}


class Page:
    """`article`, `figures`, `questions` and `slot` are there for the articles that we tell; others show their rows.

    `chosen` is what the reader picks on the page: {"baseline": slug}.
    """

    def __init__(self, publication: Publication, user: Reader, chosen: Mapping[str, str] | None = None) -> None:
        self.material = material = Material(publication, chosen or {})
        self.article = article = article_of(publication)
        self.sections = sections(material)
        self.legend = legend(material, self.sections)
        headlines = page_file(publication).answer.headlines
        self.tiles = [tile for headline in headlines if (tile := headline.tile(material))]
        self.with_values = sum(run.state == RunState.FINISHED for run in material.runs)
        self.without_values = len(material.runs) - self.with_values
        self.language = str(LANG_INFO.get(publication.language, {}).get("name", publication.language))

        every = list(reruns.repeating(publication.slug, user))
        # Those that somebody brought with a bundle and no operator has accepted: nobody here measured them.
        self.brought = [experiment for experiment in every if experiment.brought][:MOST_BROUGHT]
        experiments = [experiment for experiment in every if not experiment.brought]
        tables = reproductions.tables(experiments, material)
        self.figures = [
            reruns.slot(publication.slug, figure.rerun, experiments, tables, figure)
            for figure in (article.figures if article else ())
        ]
        self.slot = None
        if article and article.rerun:
            self.slot = reruns.slot(publication.slug, article.rerun, experiments, tables)
        self.questions = reruns.questions(article, user) if article else []


def legend(material: Material, sections: Sequence[Section]) -> list[tuple[str, str]]:
    """The provenance words that this page uses, with what each means. Counts and checks are computed on every page."""
    statements = material.statements
    used = {Provenance.COMPUTED, *(row.provenance for run in material.runs for row in run.measurements.all())}
    used |= {run.provenance for run in material.runs} | {aggregate.provenance for aggregate in material.aggregates}
    used |= {fact.provenance for fact in statements.facts} | {seen.provenance for seen in statements.observations}
    cells = (cell for section in sections for named in section.tables for row in named.table.rows for cell in row)
    rich = [cell for cell in cells if isinstance(cell, TextCell)]
    used |= {cell.badge for cell in rich} | {cell.amount.provenance for cell in rich if cell.amount}
    return [(provenance.value, words) for provenance, words in PROVENANCE_WORDS.items() if provenance in used]
