"""Ranks, and over which levels the ratio of each is."""

from __future__ import annotations

import pytest

from tests.runs.answers.test_answers import World, ask, page, two_disks

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("question", ["", "ask=best", "ask=rank&fact=config"])
def test_of_many_none_has_a_rank_that_reads_as_a_place(question):
    """Seen of 36 configurations: 5,777 TPS with "rank 31", as it was the baseline, and "rank 2" of the 5,763 TPS below
    it; with `ask=best` 4,998 TPS, the last of all, with "rank 3".
    """
    world = World(noise=0.005)
    for at in (9, *range(9), *range(10, 24)):
        setting = {"name": "shared_buffers", "value": f"{at + 1}GB"}
        world.add(5000 * (1 if at < 2 else 0.95**at), config=[setting])

    told = ask(world.store(), question)

    ranks = [claim["rank"] for claim in told["claims"]]
    assert ranks[:2] == [1, 1] and ranks[-1] is None
    known = [rank for rank in ranks if rank is not None]
    assert known == sorted(known) and 1 not in ranks[2:]
    # A rank stands where it is the place.
    assert all(rank in (None, 1, at + 1) for at, rank in enumerate(ranks)), ranks


def test_a_question_has_the_intervals_of_the_page_that_asks_it_by_rule():
    """Seen: 1.001 (0.973–1.029) "equivalent" without a question and (0.970–1.032) "undecided" with `ask=best`, as that
    took the best for the baseline.
    """
    world = World(noise=0.01)
    for at in range(24):
        world.add(5000 + 40 * (at * 7 % 24), config=[{"name": "shared_buffers", "value": f"{at + 1}GB"}])
    selects = world.store()

    by_rule, asked = ask(selects), ask(selects, "ask=best")

    assert by_rule["words"] == asked["words"] and by_rule["family"] == asked["family"]
    assert [claim["ratio"] for claim in by_rule["claims"]] == [claim["ratio"] for claim in asked["claims"]]


def test_beneath_curves_it_is_said_that_an_interval_is_of_one_comparison_alone():
    """Seen: −71.5 % (−72.8 to −70.1) beneath the curve and (−74.3 to −68.3) of `ask=loss`, and no word why."""
    selects = two_disks()
    assert "Each interval is of one comparison alone." in page(selects)
    assert "Each interval is of one comparison alone, but for what the question asks." in page(selects, "ask=loss")
