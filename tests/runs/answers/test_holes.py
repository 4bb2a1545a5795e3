"""A grid with a hole: a cell that was measured once, or not at all, among cells of three repeats."""

from __future__ import annotations

import pytest

from tests.runs.answers.test_answers import World, ask, page
from tests.runs.answers.test_equal_levels import ratios

pytestmark = pytest.mark.django_db

SYSTEMS = {"PostgreSQL": "17.2", "MariaDB": "11.4.4", "Firebird": "5.0.1"}
TERMINALS = (1, 4, 16, 64)


def grid(*, maria: float, once: tuple[str, int] | None = None, never: tuple[str, int] | None = None) -> str:
    """Throughput rises with the terminals; Firebird has half of PostgreSQL's, 0.3 of it at 64. Each named cell has one
    repeat, or none.
    """
    world = World(seed=3, noise=0.015)
    for terminals in TERMINALS:
        tps = 900 * terminals / (1 + 0.02 * (terminals - 1))
        of_systems = {"PostgreSQL": 1.0, "MariaDB": maria, "Firebird": 0.3 if terminals == 64 else 0.5}
        for name, factor in of_systems.items():
            if (name, terminals) != never:
                dbms = {"name": name, "version": SYSTEMS[name]}
                repeats = 1 if (name, terminals) == once else 3
                world.add(tps * factor, repeats, dbms=dbms, factors={"terminals": terminals})
    return world.store()


def test_what_is_behind_at_every_level_stays_behind_where_one_was_measured_once():
    """Seen: Firebird with half the throughput "rank 1" as one of its cells had one repeat, "which is better depends on
    the level", and "PostgreSQL 17.2 against MariaDB 11.4.4 is ." beside it.
    """
    selects = grid(maria=1.0, once=("Firebird", 16))

    told = ask(selects, "ask=rank&fact=dbms")
    pair = ask(selects, "ask=a_b&fact=dbms&a=mariadb&b=firebird")

    ranks = ratios(told)
    assert [ranks[f"{name} {version}"][0] for name, version in SYSTEMS.items()] == [1, 1, 3]
    assert ranks["Firebird 5.0.1"][1] == pytest.approx((2 * 2 / 0.3) ** (1 / 3), rel=0.05)
    assert told["words"].startswith(
        "No winner over 4 levels of terminals: less than 3 % lie between".replace(" %", "\u202f%")
    )
    overall, *_ = pair["claims"]
    assert (overall["ratio"]["verdict"], pair["over"]) == ("better", "3 levels of terminals")
    assert overall["ratio"]["value"] == pytest.approx(ranks["Firebird 5.0.1"][1], rel=0.05)
    assert "Left out: 16 terminals (fewer than 3 repeats of Firebird 5.0.1)." in pair["words"]
    shown = page(selects)
    assert "depends" not in shown
    assert "over 3 levels" in shown and "16 terminals left out, of fewer than 3 repeats" in shown


def test_one_question_has_one_interval_however_it_is_asked():
    """Seen: "1.18 × (1.13–1.24)" without `ask=` and "(1.14–1.22)" with `ask=best`: the best of two systems, of which the
    page also asks at their level, was judged as its last comparison or as the one before it.
    """
    selects = grid(maria=1.2)

    told = [[claim["ratio"] for claim in ask(selects, question)["claims"]] for question in ("", "ask=best")]

    assert told[0] == told[1]
