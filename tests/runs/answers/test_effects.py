"""What each setting did, of designs whose truth is known."""

from __future__ import annotations

import pytest

from tests.runs.answers.test_answers import World, ask

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("off", "on"), [("off", "lz4"), ("none", "lz4"), ("no", "always"), ("FALSE", "auto")])
def test_a_setting_is_told_as_it_is_turned_on(off, on):
    """Seen: "wal_compression lz4 → off: −10.4 %", as l comes before o."""
    world = World()
    for value, tps in ((on, 1115), (off, 1000)):
        world.add(tps, config=[{"name": "wal_compression", "value": value}])

    (claim,) = ask(world.store(), "ask=effects")["claims"]

    assert (claim["start"], claim["end"], claim["ratio"]["verdict"]) == (off, on, "better")
