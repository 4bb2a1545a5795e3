"""What a reader pools: batches of several days as the repeats of one group."""

from __future__ import annotations

import math
import random
from datetime import date, timedelta

import pytest

from tests.runs.answers.test_answers import World, ask

pytestmark = pytest.mark.django_db
FIRST = date(2026, 9, 1)


def nights_of_two_versions(ratio: float, seed: int) -> None:
    """Eight nights of 16.4 and eight of 17.2 behind them: nights differ by 3 %, the repeats of one by 0.3 %."""
    chance = random.Random(seed)
    for at in range(16):
        world, level = World(seed=100 * seed + at, noise=0.003), math.exp(chance.gauss(0, 0.03))
        version = "17.2" if at > 7 else "16.4"
        world.add(
            1000 * level * (ratio if at > 7 else 1), dbms={"name": "PostgreSQL", "version": version},
            measured_on=str(FIRST + timedelta(days=at)),
        )  # fmt: skip
        world.store()


def test_nights_that_differ_more_than_their_repeats_make_no_winner():
    """Was: 24 repeats a side, and a false winner in most such pairs."""
    nights_of_two_versions(1.0, seed=4)
    told = ask("workload=tpcb", "group=all")
    assert not told["sure"], told["words"]
    assert told["words"].endswith("up to 8 batches in a group, each of which counts once.")


@pytest.mark.parametrize("seed", range(3))
def test_what_nights_tell_is_told_with_an_interval_that_holds_it(seed: int):
    nights_of_two_versions(1.2, seed)
    told = ask("workload=tpcb", "group=all")
    first, second = (claim for claim in told["claims"] if claim["kind"] == "standing")
    assert (first["label"], told["sure"]) == ("PostgreSQL 17.2", True)
    assert second["ratio"]["low"] < 1.2 < second["ratio"]["high"]
