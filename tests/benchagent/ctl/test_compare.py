from __future__ import annotations

import json
from typing import Any

import pytest
from benchagent.ctl.cli import main
from benchagent.ctl.comparing import EXIT_OF, exit_status

from .fake_api import FakeApi, a_run

BASE, OTHER = a_run(1), a_run(2)


def group(key: str, run: dict[str, Any], kind: str | None, **more: Any) -> dict[str, Any]:
    verdict = {"kind": kind, "words": f"{key} is {kind}"} if kind else None
    return {
        "key": key, "label": key.upper(), "n": 3, "median": 1000.5, "ratio": {"value": 0.9, "low": 0.8, "high": 0.95},
        "verdict": verdict, "values": [1000.5], "runs": [run["id"]], "gaps": [], "refused": None, **more,
    }  # fmt: skip


@pytest.fixture
def compared(logged_in: FakeApi) -> FakeApi:
    logged_in.runs = [BASE, OTHER]
    logged_in.comparison = {
        "metric": {"label": "Throughput", "unit": "TPS"}, "baseline": "new",
        "groups": [group("new", OTHER, "worse"), group("old", BASE, None)],
    }  # fmt: skip
    return logged_in


def compare(*more: str) -> int:
    return main(["compare", OTHER["id"], "--baseline", BASE["id"], *more])


def test_it_asks_for_the_very_baseline(compared: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("--metric", "tps") == 0
    questions = [params for _, path, params, _ in compared.requests if path == "/compare/"]
    assert questions[-1] == [("run", OTHER["id"]), ("run", BASE["id"]), ("metric", "tps"), ("baseline", "old")]
    words = capsys.readouterr().out
    assert "new is worse" in words
    assert "baseline" in words


def test_it_says_what_the_server_says_of_all_together(compared: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    compared.comparison |= {"headline": "No winner is named.", "family": 3}
    compared.comparison["groups"][0] |= {"summary": {"geometric_mean": 998.25}}
    compared.comparison["groups"][0]["verdict"]["robustness"] = "Ranks: p = 0.0022"
    assert compare("--threshold", "2.5") == 0
    questions = [params for _, path, params, _ in compared.requests if path == "/compare/"]
    assert ("threshold", "2.5") in questions[-1]
    words = "".join(capsys.readouterr())
    head = next(line for line in words.splitlines() if line.startswith("GROUP"))
    assert head.split() == ["GROUP", "N", "GEOMETRIC", "MEAN", "MEDIAN", "RATIO", "OF", "MEANS", "VERDICT"]
    assert "998.25" in words
    for said in ("No winner is named.", "NEW: Ranks: p = 0.0022", "3 comparisons are judged together (Holm)"):
        assert said in words


@pytest.mark.parametrize("kind", [kind for kind in EXIT_OF if kind not in ("refused", "no_value")])
def test_it_ends_with_a_status_of_its_own_for_every_verdict_that_is_named(compared: FakeApi, kind: str) -> None:
    compared.comparison["groups"][0] = group("new", OTHER, kind)
    assert compare("--fail-if", kind) == EXIT_OF[kind]
    assert compare() == 0
    assert len(set(EXIT_OF.values())) == len(EXIT_OF)


def test_it_counts_a_refused_ratio_and_a_missing_value(compared: FakeApi) -> None:
    compared.comparison["groups"][0] = group("new", OTHER, None, refused="another machine")
    assert compare("--fail-if", "worse,refused") == EXIT_OF["refused"]
    compared.comparison["groups"][0] = group("new", OTHER, None, n=0)
    assert compare("--fail-if", "worse,no-value") == EXIT_OF["no_value"]


def test_it_names_what_is_not_alike_beside_a_ratio(compared: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    note = {"field": "cpus", "label": "CPUs", "a": "2 CPUs", "b": "1 CPU", "severity": "note", "role": "condition"}
    compared.comparison["groups"][0] = group("new", OTHER, "worse", differences=[note])
    compare()
    said = capsys.readouterr()
    assert "NEW, not alike: CPUs: 2 CPUs against 1 CPU" in said.out + said.err


def test_it_does_not_take_an_unknown_verdict_for_a_good_one(compared: FakeApi) -> None:
    compared.comparison["groups"][0] = group("new", OTHER, "astonishing")
    assert compare("--fail-if", "worse,undecided") == EXIT_OF["undecided"]


def test_it_lets_the_worst_of_several_decide() -> None:
    assert exit_status(["better", "undecided", "worse"], ("undecided", "worse", "better")) == EXIT_OF["worse"]
    assert exit_status(["better", "undecided"], ("worse",)) == 0


def test_it_gives_json_with_the_verdicts(compared: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("--json", "--fail-if", "worse") == 10
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdicts"], answer["exit_status"]) == ({"new": "worse"}, 10)


def test_it_takes_keys_of_cells(compared: FakeApi) -> None:
    assert main(["compare", OTHER["cell_key"][:12], "--baseline", BASE["cell_key"][:12], "--fail-if", "worse"]) == 10


def test_it_refuses_a_baseline_that_the_answer_does_not_hold(
    compared: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    compared.comparison["groups"].pop()
    assert compare("--fail-if", "worse") == 2
    assert "does not hold the baseline" in capsys.readouterr().err


def test_it_refuses_the_beginning_of_several_cells(compared: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", OTHER["id"], "--baseline", "abababab", "--fail-if", "worse"]) == 2
    assert "begins the keys of 2 cells" in capsys.readouterr().err


def test_it_refuses_what_is_neither_run_nor_cell(compared: FakeApi) -> None:
    assert main(["compare", "fast one", "--baseline", BASE["id"]]) == 2
    with pytest.raises(SystemExit) as error:
        compare("--fail-if", "slower")
    assert error.value.code == 2
