"""A history that comes as one file: asked over its nights as one that comes night by night."""

from __future__ import annotations

import io
import math
import random
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import quote

import pytest

from runs import imports
from runs.models import User
from tests.runs.answers.test_answers import ask, page

pytestmark = pytest.mark.django_db

COLUMNS = [
    {"heading": "dbms", "role": "dbms"}, {"heading": "version", "role": "dbms_version"},
    {"heading": "started_at", "role": "started_at"},
    {"heading": "tps", "role": "metric", "name": "tps", "unit": "TPS", "better": "higher"},
]  # fmt: skip
FIRST_NIGHT = datetime(2026, 5, 1, 1, 30)


def nights(
    levels: list[float], repeats: int = 3, zone: tzinfo = UTC, versions: dict[int, str] | None = None,
    dbms: str = "PostgreSQL",
) -> str:  # fmt: skip
    """A CSV of so many nights, repeats three minutes apart, with half a per cent of noise."""
    rng, rows, version = random.Random(dbms), ["dbms,version,started_at,tps"], "16.4"
    for night, level in enumerate(levels):
        version = (versions or {}).get(night, version)
        for repeat in range(repeats):
            begun = FIRST_NIGHT.replace(tzinfo=zone) + timedelta(days=night, minutes=3 * repeat)
            tps = level * math.exp(rng.gauss(0, 0.005))
            rows.append(f"{dbms},{version},{begun.isoformat()},{tps:.3f}")
    return "\n".join(rows) + "\n"


def stored(content: str, owner: User, label: str = "nightly", **subject: Any) -> str:
    """One import of the file, by a mapping of its columns. -> the address of its runs."""
    taken, _ = imports.receive(files=[imports.Sent("nights.csv", io.BytesIO(content.encode()))], owner=owner)
    said = {
        "hardware": {"name": "Lab 18"}, "label": label, "workload": {"slug": "nightly-mix", "name": "Nightly mix"},
        "mapping": {"nights.csv": {"columns": COLUMNS}},
    } | subject  # fmt: skip
    imports.store(taken, subject=said, owner=owner)
    return f"label={quote(label)}"


def kinds(told: dict[str, Any]) -> set[str]:
    return {question["kind"] for question in told["questions"]}


def test_it_is_asked_since_when_it_has_changed(contributor):
    """Seen: "Which day has the highest throughput? No winner yet", and of "since when" one batch for each night."""
    selects = stored(nights([1000.0] * 8 + [800.0] * 4), contributor)
    told = ask(selects)
    (step,) = told["claims"]
    assert (told["question"]["kind"], step["day"]) == ("since", "2026-05-09")
    assert step["change"]["verdict"] == "worse" and abs(step["change"]["value"] + 0.2) < 0.01
    assert (step["batches_before"], step["batches"]) == (8, 4)
    assert "newer" in kinds(told)
    assert ask(selects, "ask=since")["claims"] == told["claims"]
    assert "Measured on" not in told["words"] and told["words"] in page(selects)


def test_its_newest_night_is_set_against_those_before_it(contributor):
    selects = stored(nights([1000.0] * 11 + [800.0]), contributor)
    told = ask(selects, "ask=newer")
    (claim,) = told["claims"]
    assert (claim["batches"], claim["ratio"]["verdict"]) == (10, "worse")
    assert "since" in kinds(told)


def test_one_row_a_night_over_an_upgrade_is_one_series(contributor):
    """Seen: "each was measured on days of its own: ask since when it has changed", which was not offered."""
    selects = stored(nights([1000.0] * 3 + [1100.0] * 3, repeats=1, versions={3: "17.2"}), contributor)
    told = ask(selects, "ask=since")
    (step,) = told["claims"]
    assert (step["day"], step["change"]["verdict"]) == ("2026-05-04", "better")
    assert told["question"]["kind"] == "since" == ask(selects)["question"]["kind"]


def test_nobody_asks_which_of_two_nights_wins(contributor):
    """As of two nights in batches of their own: which group is best, not which day."""
    assert ask(stored(nights([1000.0, 800.0]), contributor))["question"]["fact"] == ""


def test_two_systems_of_each_night_are_a_curve_each_and_are_ranked_over_the_days(contributor):
    """Seen beside it: "over 12 levels of measured on"."""
    _, both = nights([1300.0] * 12, dbms="MariaDB").split("\n", 1)
    selects = stored(nights([1000.0] * 8 + [800.0] * 4) + both, contributor)
    (step,) = [claim for claim in ask(selects, "ask=since")["claims"] if claim["day"]]
    assert (step["label"], step["day"]) == ("PostgreSQL 16.4", "2026-05-09")
    told = ask(selects, "ask=rank&fact=dbms")
    assert "the throughput of PostgreSQL 16.4 over 12 days:" in told["words"]


def test_a_table_of_days_and_repeats_needs_no_mapping(contributor):
    """Seen: "the same repeat as in line 2", and without the repeats "no plain number"."""
    rows = [row.split(",") for row in nights([1000.0] * 8 + [800.0] * 4).splitlines()[1:]]
    lines = [f"{row[0]},{row[1]},{row[2][:10]},{at % 3 + 1},{row[3]}" for at, row in enumerate(rows)]
    content = "dbms,version,date,repeat,tps\n" + "\n".join(lines) + "\n"
    selects = stored(content, contributor, mapping={})
    told = ask(selects)
    (step,) = told["claims"]
    assert (told["question"]["kind"], step["day"], step["batches_before"]) == ("since", "2026-05-09", 8)
