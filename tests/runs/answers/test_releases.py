"""Results of several years: over dates the versions of one system are one line, and each release is set against the one
before it.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from django.http import QueryDict

from runs.compare.compare import compare
from tests.runs.answers.test_answers import World, ask
from tests.runs.cells import all_runs

pytestmark = pytest.mark.django_db

# MySQL 8.0.35 lost 15 %, and nothing has come back since.
RELEASES = {
    "PostgreSQL": (("12.8", 1500.0), ("13.5", 1560.0), ("14.6", 1650.0), ("15.5", 1650.0)),
    "MySQL": (("8.0.26", 1400.0), ("8.0.30", 1400.0), ("8.0.35", 1190.0), ("8.4.0", 1210.0)),
}
YEARS = ("2021-06-10", "2022-06-10", "2023-06-10", "2024-06-10")


def over_years(*, days: dict[str, tuple[str, ...]] | None = None, machines: tuple[str, ...] = ("alpha",)) -> str:
    """A batch of each release, all systems on one day a year but for `days` of their own; the selection of them."""
    world, batches = World(noise=0.006), []
    for system, releases in RELEASES.items():
        for (version, tps), day in zip(releases, (days or {}).get(system, YEARS), strict=True):
            for machine in machines:
                world.add(
                    tps, 3, dbms={"name": system, "version": version}, measured_on=day,
                    config=[{"name": f"{system}_buffers", "value": f"{version}GB"}],
                    hardware={"name": machine, "cpu_model": "Example"}, factors={"db_driver": system.lower()},
                )  # fmt: skip
            batches.append(world.store())
    return "&".join(batches)


def told_of(told: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(claim["label"], claim["newest"]): claim["ratio"]["verdict"] for claim in told["claims"]}


def test_since_is_answered_for_each_system_and_tells_the_release_that_lost():
    """Seen: "too few batches, 1 of 6" of each version, and the decline only to who named both versions."""
    selects = over_years()

    told = ask(selects, "ask=since")

    verdicts = told_of(told)
    assert verdicts["MySQL", "2023-06-10 · MySQL 8.0.35"] == "worse"
    assert verdicts["PostgreSQL", "2023-06-10 · PostgreSQL 14.6"] == "better"
    # The newest is told whatever it is.
    assert {newest for _, newest in verdicts} >= {"2024-06-10 · MySQL 8.4.0", "2024-06-10 · PostgreSQL 15.5"}
    assert "(MySQL 8.0.35) has 0.8" in told["words"]
    assert told["missing"] == [f"{system}: too few batches to tell a change, 4 of 6." for system in RELEASES]


def test_of_two_machines_each_has_a_line_of_each_system():
    told = ask(over_years(machines=("alpha", "beta")), "ask=since")

    labels = {label for label, _ in told_of(told)}
    assert labels == {f"{machine} · {system}" for machine in ("alpha", "beta") for system in RELEASES}


@pytest.mark.parametrize("controls", ["x=date", "x=date&series=system", "x=date&series=dbms"])
def test_a_line_over_dates_is_a_system_unless_its_versions_are_asked_for(controls: str):
    over_years()

    comparison = compare(all_runs(), QueryDict(controls))

    assert comparison.axes.problems == {}
    by_name = {curve.label.partition(" ")[0]: len(curve.points) for curve in comparison.curves}
    lines = {"PostgreSQL": 1, "MySQL": 1} if "dbms" in controls else {"PostgreSQL": 4, "MySQL": 4}
    assert by_name == lines


def test_versions_that_are_measured_beside_each_other_are_no_line():
    selects = over_years(days={"MySQL": YEARS[:1] * 4})

    told = ask(selects, "ask=since")

    assert "MySQL 8.0.35" in " ".join(told["missing"])
    assert not any(claim["label"] == "MySQL" for claim in told["claims"])


def test_releases_are_offered_the_question_since_when():
    """Seen: neither the answer nor the questions of a selection of one system led to its decline."""
    over_years()

    offered = {question["query"].partition("&")[0] for question in ask("dbms=mysql")["questions"]}

    assert "ask=since" in offered


def test_newer_versions_of_a_month_later_are_ranked_among_those_before():
    """Seen: "No winner is named: PostgreSQL 17.2 and PostgreSQL 18.0 share no levels", of the same four scale factors:
    each batch was held equal."""
    world = World(noise=0.005)
    months = {
        "2026-10-05": (("PostgreSQL", "17.2", 1000), ("MySQL", "8.4.3", 800), ("H2", "2.3", 100)),
        "2026-11-05": (("PostgreSQL", "18.0", 1200), ("MySQL", "8.4.7", 680), ("H2", "2.3", 100)),
    }
    for day, systems in months.items():
        for (name, version, tps), scale in product(systems, (1, 10, 100, 1000)):
            dbms = {"name": name, "version": version}
            world.add(tps, dbms=dbms, factors={"scale_factor": scale}, measured_on=day, label=day, tags=["paper"])
        world.store()

    told = ask("tag=paper", "ask=best")

    standings = [claim for claim in told["claims"] if claim["kind"] == "standing"]
    assert [claim["label"] for claim in standings] == [
        "PostgreSQL 18.0", "PostgreSQL 17.2", "MySQL 8.4.3", "MySQL 8.4.7", "H2 2.3"
    ]  # fmt: skip
    ratios = [claim["ratio"]["value"] for claim in standings[1:]]
    assert told["sure"] and ratios == pytest.approx([1.2, 1.5, 1200 / 680, 12], rel=0.02)
    assert told["over"] == "4 levels of scale factor"
