"""A machine that is noisier than the others has a noise of its own: it hides nothing of theirs."""

from __future__ import annotations

import pytest

from tests.runs.answers.test_answers import World, ask

pytestmark = pytest.mark.django_db

SYSTEMS = {"PostgreSQL": 10_000, "MySQL": 7_000, "MariaDB": 8_000}
# What each machine has of the first one's throughput, and its noise.
MACHINES = {"beta1": (1.0, 0.01), "beta2": (0.9, 0.01), "vm": (0.6, 0.12)}


def machines(*names: str) -> str:
    """Three systems on each machine, at 1 to 128 terminals: 32 have the most, 64 a sixth less."""
    world = World(seed=5)
    for name in names:
        speed, world.noise = MACHINES[name]
        for dbms, tps in SYSTEMS.items():
            for at, share in enumerate((0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 0.84, 0.8)):
                world.add(
                    tps * speed * share, dbms={"name": dbms, "version": "1"}, factors={"terminals": 2**at},
                    hardware={"name": name, "cpu_model": "Example"},
                )  # fmt: skip
    return world.store()


def test_a_noisy_machine_hides_no_difference_of_the_quiet_ones() -> None:
    """Seen: servers that differ by 7 % were "undecided" at each level beside a VM that nobody asked about."""
    question = "ask=a_b&fact=hardware&a=beta2&b=beta1"
    overall, *levels = ask(machines("beta1", "beta2", "vm"), question)["claims"]
    assert overall["ratio"]["value"] == pytest.approx(0.9, abs=0.01)
    assert [each["ratio"]["verdict"] for each in levels] == ["worse"] * 24


def test_a_noisy_machine_hides_no_peak_of_the_quiet_ones() -> None:
    """Seen: "not surely more than at 128 terminals" of a fall by 16 % with repeats that do not overlap."""
    told = ask(machines("beta1", "beta2", "vm"), "ask=scales&x=factor:terminals")
    of_quiet = [each for each in told["claims"] if "vm" not in each["label"]]
    assert [(each["most_at"], each["as_high"]) for each in of_quiet] == [(32, [])] * 6
