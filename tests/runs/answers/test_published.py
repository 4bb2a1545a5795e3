"""What was measured here beside what an article prints: the ratio, or what is nearest and in what it differs."""

from __future__ import annotations

from typing import Any

import pytest

from runs.compare.compare import compare
from runs.compare.published import printed_pairs
from runs.models import Experiment, Run
from runs.models.shapes import Match
from tests.runs.answers.test_answers import World, ask, page

pytestmark = pytest.mark.django_db


def rerun(**factors: Any) -> str:
    """Two systems of the TPC-B article, as the product itself measures them again."""
    world = World()
    for name, version, tps in (("PostgreSQL", "15.8", 900), ("MySQL", "5.5", 500)):
        asked = {"scale_factor": 10, "terminals": 4, "duration_s": 10} | factors
        world.add(tps, dbms={"name": name, "version": version}, factors=asked, measured_on="2026-05-04")
    return world.store()


def test_what_was_asked_something_else_stands_beside_the_nearest_that_is_printed(published):
    """Was: "nothing here was asked the same as something published", of the product's own re-run of the article."""
    measured = rerun()
    selects = f"{measured}&set=publication%3Dtpcb-2010"

    told = ask(selects, "ask=published")

    assert {claim["label"].partition(" · ")[0] for claim in told["claims"]} == {"PostgreSQL 15.8", "MySQL 5.5"}
    for claim in told["claims"]:
        assert claim["ratio"]["verdict"] == "refused" and claim["printed"] and claim["here"]
        assert claim["beside"].partition(" ")[0] == claim["label"].partition(" ")[0]
        assert "Workload" in claim["ratio"]["why"] and claim["beside"] in told["words"]
    assert told["words"] in page(selects, "ask=published").replace("&#x27;", "'")


def test_a_size_that_nobody_prints_stands_beside_nothing_where_another_was_asked_the_same(article):
    world = World()
    for label in ("here", "printed"):
        for size in (10, 500):
            world.add(1000, factors={"size_gb": size, "terminals": 4}, label=label)
        world.store()
    printed = Run.objects.filter(label="printed")
    printed.filter(factors__name="size_gb", factors__number=500).delete()
    printed.update(publication=article)

    pairs = printed_pairs(compare(Run.objects.present().for_lists()).groups)

    ((group, base),) = pairs
    assert group.facts["factor:size_gb"] == base.facts["factor:size_gb"] == "10 GB"


def test_what_is_not_alike_is_named_beside_what_is_printed(article):
    """Was: 1.05 × of what is printed, on another machine and without a word of it."""
    world = World()
    for machine in ("here", "printed"):
        world.add(1000, hardware={"name": machine}, factors={"size_gb": 10, "terminals": 4}, label=machine)
        world.store()
    Run.objects.filter(label="printed").update(publication=article)

    assert "Machine" in ask("workload=tpcb", "ask=published")["not_alike"]


@pytest.mark.parametrize(("system", "words"), [
    ("PostgreSQL", "Nothing published is among these runs: add a set of it, publication=tpcb-2010."),
    ("SQLite", "Nothing here was asked the same as something published"),
])  # fmt: skip
def test_of_runs_of_which_none_is_published_it_says_what_is(published, system: str, words: str):
    """Seen: with a label or a tag "nothing here was asked the same as something published", of what was."""
    world = World()
    world.add(900, dbms={"name": system, "version": "15.8"}, factors={"scale_factor": 10, "terminals": 4})

    assert ask(world.store(), "ask=published")["words"].startswith(words)


def test_a_rerun_is_set_against_the_figure_that_its_plan_names(published):
    """Seen: "printed 498.908", where 508 is printed, and refused as another workload, beside a ratio on its page."""
    theirs = {"version": "pg-8.3", "commit_group": ""}
    figure = Match("PostgreSQL", "tps", {"dbms": "postgresql"}, theirs=theirs, their_metric="tps")
    plan = {"publication": "tpcb-2010", "published": [figure.as_json()]}
    again = Experiment.objects.create(slug="again", name="Again", plan=plan)
    measured = rerun(duration_s=60)
    own = Run.objects.filter(publication=None, dbms_version__dbms__slug="postgresql")
    own.update(experiment=again)
    selects = f"{measured}&set=publication%3Dtpcb-2010"

    claims = {claim["label"].partition(" ")[0]: claim for claim in ask(selects, "ask=published")["claims"]}

    of_plan = claims["PostgreSQL"]
    assert of_plan["printed"] == 508 and of_plan["mean"] == pytest.approx(498.908, abs=0.001)
    assert of_plan["ratio"]["value"] == pytest.approx(of_plan["here"] / of_plan["mean"])
    assert claims["MySQL"]["ratio"]["verdict"] == "refused"
    own.update(checks=[{"name": "machine_alone", "ok": False, "detail": "34 % of CPU"}])
    disturbed = next(each for each in ask(selects, "ask=published")["claims"] if each["label"].startswith("Postgre"))
    assert disturbed["ratio"]["verdict"] == "refused" and "34 % of CPU" in disturbed["ratio"]["why"]
