"""page.json: what the page of a publication shows, in which order, as a list of parts; and its figures and re-run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from runs.models import Publication
from runs.publications.article import FigureEntry, Order, Rerun
from runs.publications.document import Spec
from runs.publications.material import Material
from runs.publications.page import claims, common, configs, database
from runs.publications.page.bars import Bars, Medians
from runs.publications.page.claims import Ratios, bounds, figure_words, ratio_section
from runs.publications.page.common import FactTable, Observed
from runs.publications.page.curves import Curves, Sizes
from runs.publications.page.grids import Control, Grid, Methods
from runs.publications.page.parts import PartSpec, Section, Tile, computed

# Parts without options: what they show hangs on the rows alone.
PLAIN: Mapping[str, Callable[[Material], Section]] = {
    "tables": database.tables,
    "indexes": database.indexes,
    "queries": database.queries,
    "schema": common.schema,
    "claimed-ratios": ratio_section,
    "readings": claims.readings,
    "bounds": bounds,
    "orderings": claims.orderings,
    "claims": claims.all_claims,
    "observations": common.observations,
    "missing": common.missing,
    "machines": common.machines,
    "configurations": configs.configurations,
    "findings": common.findings,
}
PlainKind = Literal[
    "tables", "indexes", "queries", "schema", "claimed-ratios", "readings", "bounds", "orderings", "claims",
    "observations", "missing", "machines", "configurations", "findings",
]  # fmt: skip


class Plain(Spec):
    part: PlainKind

    def section(self, material: Material) -> Section:
        return replace(PLAIN[self.part](material), folded=True)


class Frames(PartSpec):
    """Empty frames of lost pictures alone."""

    part: Literal["frames"] = "frames"
    frames: tuple[str, ...]

    def section(self, material: Material) -> Section:
        return Section(self.id, self.title, self.lead, frames=self.frames)


AnyPart = Annotated[
    Bars | Medians | Sizes | Curves | Grid | Methods | Control | Observed | Ratios | FactTable | Frames | Plain,
    Field(discriminator="part"),
]


class Headline(Spec):
    """A figure of the first screen: the computed value `at` of a check, or what a claim says."""

    label: str
    check: str = ""
    at: Annotated[int, Field(ge=0)] = 0
    claim: str = ""


class Answer(Spec):
    """What a reader sees first, above the first of the parts."""

    headlines: Annotated[tuple[Headline, ...], Field(max_length=6)] = ()

    def tiles(self, material: Material) -> list[Tile]:
        """Those whose check or claim is there."""
        return [tile for one in self.headlines if (tile := _tile(one, material))]


def _tile(headline: Headline, material: Material) -> Tile | None:
    for check in material.checks:
        if check.number == headline.check and headline.at < len(check.computed):
            one = check.computed[headline.at]
            amount = computed(one.rounded, one.formula, unit=one.unit, digits=one.digits, signed=one.signed)
            return Tile(headline.label, (amount,), f"#check-{check.number}")
    for claim in material.claims:
        if claim.source_id == headline.claim:
            return Tile(headline.label, figure_words(claim), "#claims")
    return None


class PageFile(Spec):
    """Without `parts` the page shows a comparison per workload, then every row that it has."""

    answer: Answer = Answer()
    rerun: Rerun | None = None
    figures: tuple[FigureEntry, ...] = ()
    orders: tuple[Order, ...] = ()
    parts: tuple[AnyPart, ...] = ()

    def faults(self) -> list[str]:
        """Parts and figures that stand twice, and frames of figures that have none."""
        ids = [one.part if isinstance(one, Plain) else one.id for one in self.parts]
        figures = [one.id for one in self.figures]
        framed = {one.id for one in self.figures if one.frame}
        twice = [f"parts: {one} stands twice" for one in sorted(set(ids)) if ids.count(one) > 1]
        twice += [f"figures: {one} stands twice" for one in sorted(set(figures)) if figures.count(one) > 1]
        return twice + [
            f"parts.{at}.frames: {name} is not one of the figures with a frame"
            for at, one in enumerate(self.parts)
            for name in getattr(one, "frames", ())
            if name not in framed
        ]


def page_file(publication: Publication) -> PageFile:
    return PageFile.model_validate(publication.content.get("page") or {})


def sections(material: Material) -> list[Section]:
    """In the order of page.json, without those that have nothing to show."""
    parts = page_file(material.publication).parts or _every_part(material)
    made = [one.section(material) for one in parts]
    return [section for section in made if section]


def _every_part(material: Material) -> list[AnyPart]:
    workloads = dict.fromkeys(run.workload for run in material.runs)
    bars = [Bars(id=f"workload-{one.slug}", title=one.name, workload=one.source_id) for one in workloads]
    return [*bars, *(Plain(part=name) for name in PLAIN)]  # type: ignore[arg-type]
