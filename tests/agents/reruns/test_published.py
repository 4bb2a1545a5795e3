"""What the parts of the articles' experiments are matched with is there: claims, published runs, cells, metrics."""

from __future__ import annotations

import pytest
from benchagent.catalog import METRICS

from agents.models import Agent
from agents.plans.plan import Cell
from agents.reruns import rerun
from agents.reruns.rerun import EXPERIMENTS
from runs.compare.published import matches_of
from runs.models.shapes import CellFacts
from runs.publications.document import Factor, RunRow
from runs.publications.folder import own
from tests.agents.reruns.test_experiments import equipped

__all__ = ["equipped"]
pytestmark = pytest.mark.django_db
PARTS = [(slug, part) for slug, one in EXPERIMENTS.items() for part in one.parts]
# Parts that the article has no figure for.
UNMATCHED = {"memory", "superclassic"}
# Claims that no cell can answer and that are not shown as a gap either, with the reason.
EXEMPT = {
    "tpcb-c": "a general statement: the article tested no in-memory database",
    "tpcb-g": "a general statement from other literature, without an amount",
    "firebird-e": "of customers' applications, which nobody else has",
}
CLAIMS = {(slug, row.id) for slug, folder in own().items() for row in folder.results.claims}
OBSERVED = {row.metric for folder in own().values() for row in folder.results.observations}


def fits(cell: Cell, facts: CellFacts) -> bool:
    own = {"dbms": cell.engine.dbms, **cell.factors}
    version = str(facts.get("version", ""))
    named = {name: value for name, value in facts.items() if name != "version"}
    return cell.engine.version.startswith(version) and all(own.get(name, "") == one for name, one in named.items())


def published(slug: str, facts: CellFacts, metric: str) -> list[RunRow]:
    rows = []
    for row in own()[slug].results.runs:
        factors = {name: one.value if isinstance(one, Factor) else one for name, one in row.factors.items()}
        known = {**factors, "version": row.version, "workload": row.workload}
        measured = any(one.name == metric for one in row.metrics)
        if measured and all(known.get(name, "") == one for name, one in facts.items()):
            rows.append(row)
    return rows


@pytest.mark.parametrize(("slug", "part"), PARTS, ids=[f"{slug}-{part.slug}" for slug, part in PARTS])
def test_every_match_names_cells_and_figures_that_exist(slug, part, equipped):
    prepared = rerun.prepare(EXPERIMENTS[slug], part, equipped)
    assert bool(prepared.published) == (part.slug not in UNMATCHED)
    cells = prepared.plan.cells()
    for match in prepared.published:
        assert bool(match.gap) != bool(match.ours), match.label
        assert not match.extra or match.extra in OBSERVED, match.extra
        assert not match.claim or (slug, match.claim) in CLAIMS, match.claim
        for facts in filter(None, (match.ours, match.base)):
            assert any(fits(cell, facts) for cell in cells), (match.label, facts)
            assert match.metric in METRICS
        for facts in filter(None, (match.theirs, match.their_base)):
            assert published(slug, facts, match.their_metric), (match.label, facts)


def test_the_printed_series_of_hard_disks_stands_beside_the_slow_storage(equipped):
    experiment = EXPERIMENTS["firebird-terabyte-2015"]
    found = rerun.prepare(experiment, experiment.part("sizes"), equipped).published
    assert {one.ours["data_storage"] for one in found if one.theirs} == {"slow"}
    both = [one for one in found if "agent's own storage against slow (emulated)" in one.label]
    assert {one.claim for one in both} == {"firebird-d", "firebird-c"}
    assert all("slow is emulated, same physical disk" in one.differs for one in both)


def test_a_machine_with_one_storage_compares_no_disks(equipped):
    equipped.places = []
    for slug, part, claims in (
        ("gbak-backup-2007", "methods-super", {"gbak-c"}),
        ("firebird-terabyte-2015", "sizes", {"firebird-c", "firebird-d"}),
        ("cubrid-mysql-ssd-2011", "insert-tuned", {"cubrid-insert-mysql", ""}),
    ):
        experiment = EXPERIMENTS[slug]
        found = rerun.prepare(experiment, experiment.part(part), equipped).published
        assert {one.claim for one in found if one.gap == "the machine has one storage"} == claims


@pytest.mark.parametrize("storages", [1, 2])
@pytest.mark.parametrize("slug", EXPERIMENTS)
def test_every_published_claim_is_matched_or_a_gap_or_exempt_with_a_reason(slug, storages, equipped):
    if storages == 1:
        equipped.places = []
    experiment = EXPERIMENTS[slug]
    found = [one for part in experiment.parts for one in rerun.prepare(experiment, part, equipped).published]
    claims = {claim for publication, claim in CLAIMS if publication == slug}
    exempt = {claim for claim in claims if EXEMPT.get(claim)}
    assert {one.claim for one in found if one.claim} | exempt == claims
    assert not {one.claim for one in found} & exempt


def test_what_an_emulated_disk_says_of_a_comparison_of_two_disks(equipped):
    experiment = EXPERIMENTS["gbak-backup-2007"]
    found = rerun.prepare(experiment, experiment.part("methods-super"), equipped).published
    (one,) = [one for one in found if one.claim == "gbak-c"]
    assert one.differs.endswith("here second is emulated, same physical disk")


def test_the_plan_of_a_started_part_carries_its_matches(equipped: Agent):
    experiment = EXPERIMENTS["gbak-backup-2007"]
    prepared = rerun.prepare(experiment, experiment.part("methods-super"), equipped, quick=True)
    started = rerun.start(prepared, user=None)
    started.refresh_from_db()
    assert tuple(matches_of(started)) == prepared.published
