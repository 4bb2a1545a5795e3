"""`benchctl bisect`: begins, waits and says how it ended, as the server answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from benchagent.ctl.cli import main

from .fake_api import FakeApi

STEP = {"experiment": "step-1", "halves": [{"words": "cache_size 1 → 2", "moved": 0.0},
        {"words": "synchronous OFF → FULL", "moved": -0.91}]}  # fmt: skip
BEGUN: dict[str, Any] = {
    "id": "7", "url": "http://x/#b-7", "experiment": "step-1", "steps": [], "steps_left": 1, "outcome": "",
    "found": False,
    "old": {"version": "3", "settings": {"cache_size": "1", "synchronous": "OFF"}},
    "new": {"version": "3", "settings": {"cache_size": "2", "synchronous": "FULL"}},
}  # fmt: skip
ENDED = BEGUN | {"steps": [STEP], "outcome": "It is synchronous OFF → FULL.", "found": True}


@pytest.fixture
def searching(logged_in: FakeApi) -> FakeApi:
    logged_in.answers = {"/bisections/": BEGUN, "/bisections/7/": ENDED}
    return logged_in


def test_it_begins_with_two_runs_and_waits_for_the_end(searching: FakeApi, capsys) -> None:
    assert main(["bisect", "a", "b", "--watch"]) == 0
    assert searching.sent("POST", "/bisections/") == [{"runs": ["a", "b"]}]
    captured = capsys.readouterr()
    url, _heading, step = captured.out.splitlines()
    assert (url, "synchronous OFF → FULL" in step, "-91.0%" in step) == (BEGUN["url"], True, True)
    assert ENDED["outcome"] in captured.err


@pytest.mark.parametrize(
    ("state", "options", "status"),
    [(ENDED, [], 0), (BEGUN, [], 0), (BEGUN, ["--watch", "--timeout", "0", "--poll", "0"], 23),
     (ENDED | {"found": False}, ["--watch"], 20)],
)  # fmt: skip
def test_its_exit_status_says_how_far_a_search_has_come(searching: FakeApi, capsys, state, options, status) -> None:
    searching.answers["/bisections/7/"] = state
    assert main(["bisect", "7", "--json", *options]) == status
    assert json.loads(capsys.readouterr().out) == state
    assert main(["bisect", "7", "8", "9"]) == 2
