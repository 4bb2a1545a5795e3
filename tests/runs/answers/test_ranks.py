"""Ranks, and over which levels the ratio of each is."""

from __future__ import annotations

import pytest

from tests.runs.answers.test_answers import World, ask

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
