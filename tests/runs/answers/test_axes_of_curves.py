"""What stands on the axis of a curve: sizes in one unit, and no names that are written in digits."""

from __future__ import annotations

from itertools import product

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from runs.answers.questions import questions
from runs.answers.words.matrix import matrix
from runs.compare.compare import compare
from tests.runs.answers.test_answers import World, ask, page
from tests.runs.cells import all_runs

pytestmark = pytest.mark.django_db


def sizes_in_two_units() -> str:
    world = World()
    for gb in (1, 10, 100):
        world.add(5000 / gb**0.2, factors={"size": {"value": gb, "unit": "GB"}})
        mysql = {"name": "MySQL", "version": "8.4"}
        world.add(4000 / gb**0.1, dbms=mysql, factors={"size": {"value": gb * 1000, "unit": "MB"}})
    return world.store()


def test_sizes_in_two_units_stand_on_one_axis():
    """Seen: 1 GB of MySQL at 1,000, right of 100 GB of PostgreSQL, and a loss "from size 1,000 to 10,000"."""
    selects = sizes_in_two_units()

    told = ask(selects, "ask=loss&x=factor:size")

    assert {(claim["start"], claim["end"]) for claim in told["claims"]} == {(1, 100)}
    assert told["words"].endswith(" from 1 to 100 GB.")
    assert ask(selects)["over"] == "3 levels of size"
    assert "1 GB · 10 GB · 1 GB" not in page(selects)
    assert "10,000" not in " ".join(offer.words for offer in questions(AnonymousUser()))


def test_cells_are_told_apart_by_a_size_whatever_unit_it_is_given_in():
    """Was: 1 MB and 1 GB pooled as one cell, and 1,000 MB and 1 GB two that could not be told apart."""
    world = World()
    for value, unit, tps in ((1, "GB", 1000), (1000, "MB", 1000), (1, "MB", 9000)):
        world.add(tps, factors={"load_size": {"value": value, "unit": unit}})
    groups = Client().get(f"/compare/?{world.store()}&format=json").json()["groups"]
    assert {(group["label"], group["n"]) for group in groups} == {("1 GB", 6), ("0.001 GB", 3)}


def test_a_setting_that_is_swept_is_an_axis():
    """Was: all levels at "all", and "No size and no other number varies"."""
    world = World()
    for size, tps in (("16MB", 1000), ("512MB", 4000), ("1GB", 5000)):
        world.add(tps, config=[{"name": "shared_buffers", "value": size}, {"name": "jit", "value": "off"}])
    # What another system has of its own is not swept.
    world.add(1, dbms={"name": "MySQL", "version": "8.4"}, config=[{"name": "innodb_io_capacity", "value": "9"}])
    everything = world.store()
    shown = page(everything, "view=table")
    assert "setting:shared_buffers" in shown and "setting:innodb" not in shown and "setting:jit" not in shown
    selects = f"{everything}&dbms=postgresql"

    told = ask(selects, "ask=loss")
    (claim,) = told["claims"]
    assert (claim["start"], claim["end"], told["x_label"], told["x_unit"]) == (16, 1024, "shared_buffers", "MiB")
    for query in ("view=curve", "view=table&x=setting:shared_buffers"):
        drawing = Client().get(f"/api/v1/compare/?{selects}&{query}").json()["drawing"]
        (curve,) = drawing["metrics"][0]["panels"][0]["curves"]
        assert [point["x"] for point in curve["points"]] == [16, 512, 1024]
    assert 'value="setting:shared_buffers"' in page(selects, "view=table")
    assert Client().get(f"/api/v1/compare/?{selects}").json()["drawing"]["view"] == "bars"


def test_beside_a_setting_on_the_axis_the_others_name_the_curves():
    world = World()
    for size, jit in product(("16MB", "512MB", "1GB"), ("off", "on")):
        world.add(1000, config=[{"name": "shared_buffers", "value": size}, {"name": "jit", "value": jit}])
    drawing = Client().get(f"/api/v1/compare/?{world.store()}&x=setting:shared_buffers").json()["drawing"]
    assert (drawing["view"], drawing["series"], drawing["panels"]) == ("curve", ["setting:jit"], "")


@pytest.mark.parametrize("name", ["query", "query_no", "seed", "random_seed", "trial"])
def test_names_that_are_written_in_digits_are_no_axis(name):
    """Seen: "What is lost from query 1 to 22?", and "which seed has the highest throughput"."""
    world = World()
    for number in range(1, 7):
        for dbms, factor in (("PostgreSQL", 1.0), ("MySQL", 2.0)):
            seconds = factor * (1 + number * 7 % 5)
            world.add(seconds, metric="load_s", dbms={"name": dbms, "version": "1"}, factors={name: number})
    selects = f"{world.store()}&metric=load_s"

    told = ask(selects)

    assert told["over"].startswith("6 levels of "), told["words"]
    assert not [each for each in told["questions"] if name in each["query"]]
    assert not [offer for offer in questions(AnonymousUser()) if "lost" in offer.words or "change" in offer.words]
    assert ask(selects, f"ask=loss&x=factor:{name}")["claims"] == []


def test_numbers_of_things_are_an_axis():
    world = World()
    for number in (1, 2, 4):
        world.add(1000 / number, factors={"queries_per_run": number})
    assert ask(world.store())["question"]["kind"] == "loss"


def test_a_report_says_how_many_groups_it_leaves_out():
    world = World()
    for size in range(1, 31):
        for terminals in (1, 8):
            world.add(1000 * terminals, factors={"size_gb": size, "terminals": terminals})

    markdown = Client().get(f"/compare/?{world.store()}&format=md").content.decode()

    assert "50 of 60 groups; the page has all." in markdown


def test_levels_without_letters_are_counted():
    """Seen: 20 levels with letters, and no word of 16 others where another system wins."""
    world = World()
    for size in (1, 10, 100):
        for at, name in enumerate(("PostgreSQL", "MySQL", "SQLite")):
            if (size, name) != (100, "SQLite"):
                factors = {"size_gb": size, "terminals": 8}
                world.add(1000 * (1 + at), dbms={"name": name, "version": "1"}, factors=factors)

    html = page(world.store())

    assert "1 more level has no letters, as not every pair was measured or compares there" in html


def test_a_cell_of_two_repeats_takes_no_letters_from_the_others_of_its_level():
    """Was: the whole row of 32 terminals gone, where one of three systems had two repeats."""
    world = World(noise=0.005)
    for size in (1, 10, 100):
        for at, name in enumerate(("PostgreSQL", "MySQL", "SQLite")):
            few = (size, name) == (100, "SQLite")
            world.add(1000 * (1 + at), 2 if few else 3, dbms={"name": name, "version": "1"}, factors={"size_gb": size})
    world.store()

    told = matrix(compare(all_runs()))

    assert told is not None and told.without_letters == 0
    of_levels = [[each.letters for each in level.series] for level in told.levels]
    assert of_levels == [["a", "b", "c"], ["a", "b", "c"], ["", "a", "b"]]
    assert "too few repeats</span>" in page("workload=tpcb")


def test_a_heat_map_says_which_side_is_better():
    world = World()
    for size in (1, 10, 100):
        for terminals in (1, 8):
            world.add(1000 * terminals, factors={"size_gb": size, "terminals": terminals})
    assert "Number: geometric mean; higher is better." in page(world.store(), "view=heatmap")
