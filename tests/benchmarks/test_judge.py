"""The judge of the bench of truth finds what is planted: a wrong winner, a turned sign, a run that is left out."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from datetime import date
from statistics import fmean
from typing import Any

import pytest

from benchmarks.bench_truth import judge
from benchmarks.bench_truth.judge import Judge
from benchmarks.bench_truth.table import PAGES, Tally, markdown
from benchmarks.bench_truth.worlds import KINDS, Cell, World, article, documents, world

Answer = dict[str, Any]
NOTHING = {"value": None, "low": None, "high": None, "verdict": "", "more_repeats": None, "why": ""}


def cells_of(means: dict[str, float], **more: Any) -> list[Cell]:
    """Three repeats each, that lie 1 % around the mean."""
    return [
        Cell({"dbms": name, "size_gb": 10}, {"tps": mean}, batch="b",
             runs={f"{name} {at}": {"tps": mean * math.exp(0.01 * (at - 1))} for at in range(3)}, **more)
        for name, mean in means.items()
    ]  # fmt: skip


def ranking(made: World) -> Answer:
    """What a site without fault answers to `best`."""
    cells = sorted(made.cells, key=lambda cell: -cell.means["tps"])
    claims: list[Answer] = []
    for cell in cells:
        name, factor = str(cell.facts["dbms"]), cells[0].means["tps"] / cell.means["tps"]
        centre = math.exp(fmean(map(math.log, cell.values("tps").values())))
        is_behind = factor > 1
        ratio = {**NOTHING, "value": factor, "low": factor * 0.98, "high": factor * 1.02,
                 "verdict": "better" if is_behind else "equivalent"}  # fmt: skip
        claims.append({
            "kind": "standing", "label": name, "of": name, "value": name, "runs": [*cell.runs], "centre": centre,
            "interval": [centre * 0.98, centre * 1.02], "n": len(cell.values("tps")), "rank": 1 + is_behind,
            "ratio": ratio if claims else NOTHING,
        })  # fmt: skip
    sure = all(claim["ratio"]["verdict"] == "better" for claim in claims[1:])
    words = f"{cells[0].facts['dbms']} has the highest throughput: 2 × that of {cells[1].facts['dbms']}, the next."
    return {
        "question": {"kind": "best", "fact": "dbms"}, "metric": "tps", "better": "higher", "threshold": 0.03,
        "first": "", "second": "", "over": "", "best_at": {}, "claims": claims,
        "missing": [], "not_alike": "", "sure": sure,
        "words": words if sure else "No winner.",
        "counts": {"selected": len(made.by_run), "drawn": len(made.by_run), "unnumbered": 0, "left_out": 0},
        "left_out": [],
    }  # fmt: skip


def wrong(made: World, answer: Answer, *, expected: bool = False) -> set[str]:
    return {mark.what for mark in Judge(made).answer(answer, expected=expected) if not mark.right}


DIFFERENT = World(0, "systems", "2 %", "tps", cells_of({"A 1": 2000.0, "B 1": 1000.0, "C 1": 500.0}))
ALIKE = World(0, "systems", "2 %", "tps", cells_of({"A 1": 1000.0, "B 1": 1000.0}))


@pytest.mark.parametrize("made", [DIFFERENT, ALIKE])
def test_an_answer_without_fault_has_no_wrong_mark(made):
    assert wrong(made, ranking(made), expected=True) == set()


def test_it_finds_a_winner_among_equals():
    answer = ranking(ALIKE)
    answer["claims"][1] |= {"rank": 2, "ratio": {**answer["claims"][1]["ratio"], "verdict": "better"}}
    assert {judge.FALSE_WINNER, PAGES} <= wrong(ALIKE, answer)


def test_a_page_counts_once_whatever_address_leads_to_it():
    """Was: two false winners of 14 pages, which were one page of one world."""
    asked = Judge(ALIKE)
    pages = [mark for _ in range(2) for mark in asked.answer(ranking(ALIKE)) if mark.what == PAGES]
    assert len(pages) == 1


def _turn(answer: Answer) -> None:
    ratio = answer["claims"][1]["ratio"]
    ratio |= {"value": 1 / ratio["value"], "low": 1 / ratio["high"], "high": 1 / ratio["low"], "verdict": "worse"}


def _swap(answer: Answer) -> None:
    """The second as the winner, with the numbers of the first."""
    first, second, _ = answer["claims"]
    first["runs"], second["runs"] = second["runs"], first["runs"]


def _omit_a_run(answer: Answer) -> None:
    answer["claims"][1]["runs"].pop()
    answer["counts"]["drawn"] -= 1


def _omit_a_system(answer: Answer) -> None:
    del answer["claims"][2]


def _widen(answer: Answer) -> None:
    answer["claims"][1]["ratio"] |= {"low": 1.2, "high": 1.5}


def _hesitate(answer: Answer) -> None:
    answer["claims"][1] |= {"rank": 1, "ratio": {**answer["claims"][1]["ratio"], "verdict": "undecided"}}


def _say_nothing(answer: Answer) -> None:
    answer |= {"claims": [], "missing": ["No run has a number of this."]}


def _name_another_next(answer: Answer) -> None:
    answer["words"] = answer["words"].replace("B 1", "C 1")


def _call_alike(answer: Answer) -> None:
    answer["claims"][1] |= {"rank": 1, "ratio": {**answer["claims"][1]["ratio"], "verdict": "equivalent"}}


def _pool(answer: Answer) -> None:
    """The second is of both: two cells with one number."""
    first, second, _ = answer["claims"]
    second["runs"] += first["runs"]


def _borrow_a_run(answer: Answer) -> None:
    answer["claims"][0]["runs"].append("of somebody else")


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (_turn, {judge.SIGN, judge.NUMBER, judge.COVERAGE, judge.CONTRADICTION}),
        (_swap, {judge.SIGN, judge.NUMBER}),
        (_omit_a_run, {judge.COUNT, judge.OMISSION}),
        (_omit_a_system, {judge.OMISSION}),
        (_widen, {judge.COVERAGE, judge.CONTRADICTION}),
        (_hesitate, {judge.DECIDED}),
        (_say_nothing, {judge.ANSWERED}),
        (_name_another_next, {judge.CONTRADICTION}),
        (_call_alike, {judge.ALIKE_CLAIM, judge.DECIDED}),
        (_pool, {judge.POOLED, judge.COUNT, judge.NUMBER}),
        (_borrow_a_run, {judge.COUNT}),
    ],
)
def test_it_finds_a_planted_error(plant: Callable[[Answer], None], found: set[str]):
    answer = copy.deepcopy(ranking(DIFFERENT))
    plant(answer)
    assert found <= wrong(DIFFERENT, answer, expected=True)


def test_it_finds_two_answers_that_contradict_each_other():
    of_pair = Judge(DIFFERENT)
    first = ranking(DIFFERENT)
    assert all(mark.right for mark in of_pair.answer(first))
    level = {
        "kind": "level", "label": "", "runs": [*first["claims"][1]["runs"], *first["claims"][0]["runs"]],
        "ratio": {**NOTHING, "value": 0.6, "verdict": "worse"},
    }  # fmt: skip
    turned = {**first, "question": {"kind": "a_b", "fact": "dbms"}, "claims": [level], "first": "B 1", "second": "A 1"}
    assert [*of_pair.answer(turned)]
    assert [mark.right for mark in of_pair.contradictions()] == [False, False]


@pytest.mark.parametrize(("first", "found"), [("B 1", set()), ("C 1", {judge.ANSWERED})])
def test_it_finds_that_another_pair_is_answered(first, found):
    answer = ranking(DIFFERENT)
    answer |= {"question": {"kind": "a_b", "fact": "dbms", "a": "B 1", "b": "A 1"}, "first": first, "second": "A 1"}
    assert wrong(DIFFERENT, answer) == found


@pytest.mark.parametrize(
    ("over", "words", "found"),
    [
        ("2 levels of size", "Left out: 160 GB (A 1 was not measured).", set()),
        ("2 levels of size", "Left out: 10 GB, 40 GB, 80 GB and 1 more (failed).", set()),
        ("2 levels of size", "", {judge.OMISSION}),
        ("2 levels of size", "Left out: 40 GB (A 1 was not measured).", {judge.OMISSION}),
        ("3 levels of size", "Left out: 160 GB (A 1 was not measured).", {judge.COUNT}),
        ("2 levels of size", "Not ranked: 160 GB · B 1 (not durable).", set()),
    ],
)
def test_it_finds_a_level_without_a_ratio_that_is_not_named(over, words, found):
    sizes = {"A 1": (10, 40), "B 1": (10, 40, 160)}
    cells = [
        Cell({"dbms": name, "size_gb": size}, {"tps": 100.0}, {f"{name} {size}": {"tps": 100.0}}, "b")
        for name, of_system in sizes.items() for size in of_system
    ]  # fmt: skip
    levels = [
        {"kind": "level", "label": f"{size} GB", "runs": [f"A 1 {size}", f"B 1 {size}"],
         "ratio": {**NOTHING, "value": 1.0}} for size in (10, 40)
    ]  # fmt: skip
    overall = {"kind": "level", "label": "", "runs": [], "ratio": {**NOTHING, "value": 1.0}}
    answer = ranking(DIFFERENT) | {
        "question": {"kind": "a_b", "fact": "dbms"}, "claims": [overall, *levels], "first": "A 1", "second": "B 1",
        "over": over, "words": f"A 1 has 1 × the throughput of B 1 over {over}. {words}",
    }  # fmt: skip
    marks = Judge(World(0, "versions", "2 %", "tps", cells)).answer(answer)
    assert {mark.what for mark in marks if not mark.right and (" ratio" in mark.words)} == found


def test_it_sets_a_cell_against_the_only_one_that_differs_in_a_condition():
    """Each is alone under its tool at 10 GB; at 40 GB what is alike is the level, and its twin is none."""
    of_a = [cell(10, "sysbench", 160.0), cell(40, "pgbench", 100.0), cell(40, "sysbench", 160.0)]
    of_b = [cell(10, "pgbench", 100.0), cell(40, "pgbench", 100.0)]
    levels = judge.matched(of_a, of_b, ["machine"]).levels
    assert sorted([a.facts["tool"], b.facts["tool"]] for (a,), (b,) in levels) == [
        ["pgbench", "pgbench"], ["sysbench", "pgbench"],
    ]  # fmt: skip


def cell(size_gb: int, tool: str, tps: float) -> Cell:
    return Cell({"size_gb": size_gb, "tool": tool}, {"tps": tps}, {f"{tool} {size_gb}": {"tps": tps}}, "b")


def curve(shape: str, noise: str) -> World:
    """Of its levels the one at 32 GB is the highest, those behind 64 or 32 GB lie lower, or all are alike."""
    cells, place = [], {"knee": 64, "highest": 32, "step": 32}.get(shape)
    for size in (8, 16, 32, 64, 128):
        tps = 100.0 / 2 ** (size != 32 if shape == "highest" else shape in ("knee", "step") and size > (place or 0))
        runs = {f"run {size} {at}": {"tps": tps} for at in range(3)}
        cells.append(Cell({"dbms": "A 1", "size_gb": size}, {"tps": tps}, runs, batch="b"))
    return World(0, "sizes", noise, "tps", cells, knees={"A 1": (shape, place)})


@pytest.mark.parametrize(
    ("shape", "noise", "claim", "found"),
    [
        ("knee", "2 %", {"shape": "knee", "at": 66.0, "interval": [60.0, 70.0]}, set()),
        ("knee", "2 %", {"shape": "knee", "at": 20.0, "interval": [18.0, 24.0]}, {judge.PLACE, judge.COVERAGE}),
        ("flat", "2 %", {"shape": "knee", "at": 66.0, "interval": [60.0, 70.0]}, {judge.PLACE}),
        ("knee", "2 %", {"shape": "smooth"}, {judge.PLACE, judge.DECIDED}),
        ("knee", "2 %", {"shape": "none"}, {judge.DECIDED}),
        # Was held against it, whatever the noise; and a knee that was told counted for nothing.
        ("knee", "20 %", {"shape": "none"}, set()),
        ("flat", "2 %", {"shape": "none", "memory": 23.5}, {judge.PLACE}),
        ("step", "2 %", {"shape": "step", "interval": [32.0, 64.0], "step": {"value": -0.5}}, set()),
        ("step", "2 %", {"shape": "step", "interval": [32.0, 64.0], "step": {"value": -0.4}}, {judge.NUMBER}),
        ("step", "2 %", {"shape": "step", "interval": [16.0, 32.0], "step": {"value": 0.0}}, {judge.PLACE}),
        ("flat", "2 %", {"shape": "step", "interval": [32.0, 64.0], "step": {"value": 0.0}}, {judge.PLACE}),
        ("step", "2 %", {"shape": "knee", "at": 40.0, "interval": [30.0, 50.0]}, set()),
        ("highest", "2 %", {"shape": "turn", "turn": "highest", "turns_at": 32.0, "turns_to": 100.0}, set()),
        ("highest", "2 %", {"shape": "turn", "turn": "highest", "turns_at": 32.0, "turns_to": 90.0}, {judge.NUMBER}),
        ("highest", "2 %", {"shape": "turn", "turn": "lowest", "turns_at": 8.0, "turns_to": 50.0}, {judge.PLACE}),
        ("highest", "2 %", {"shape": "none"}, {judge.DECIDED}),
        ("flat", "2 %", {"shape": "turn", "turn": "highest", "turns_at": 32.0, "turns_to": 100.0}, {judge.PLACE}),
    ],
)
def test_it_knows_where_a_curve_falls_off(shape, noise, claim, found):
    made = curve(shape, noise)
    told = {
        "kind": "falls_off", "label": "", "runs": [*made.by_run], "memory": 64.0, "at": None, "interval": None,
        "turn": "", **claim,
    }  # fmt: skip
    answer = {
        **ranking(DIFFERENT),
        "question": {"kind": "falls_off", "fact": "", "x": "factor:size_gb"},
        "claims": [told],
    }
    marks = Judge(made).answer(answer)
    assert {mark.what for mark in marks if not mark.right and mark.what not in (judge.COUNT, judge.OMISSION)} == found


def two_disks(zero: str = "") -> World:
    """A is best on one disk and B on the other; one of them may come to nothing on its best."""
    cells = []
    for name, disk, tps in (
        ("A 1", "HDD", 100.0),
        ("B 1", "HDD", 50.0),
        ("A 1", "NVMe", 200.0),
        ("B 1", "NVMe", 400.0),
    ):
        mean = 0.0 if f"{name} {disk}" == zero else tps
        runs = {f"{name} {disk} {at}": {"tps": mean} for at in range(3)}
        cells.append(Cell({"dbms": name, "disk": disk}, {"tps": mean}, runs, batch="b"))
    return World(0, "reversed", "2 %", "tps", cells)


@pytest.mark.parametrize(
    ("best_at", "zero", "found"),
    [
        ({"A 1": ["HDD"], "B 1": ["NVMe (NVMe)"]}, "", set()),
        ({"A 1": ["NVMe"], "B 1": ["HDD"]}, "", {judge.SIGN, judge.DECIDED}),
        ({"A 1": ["HDD"]}, "", {judge.DECIDED}),
        ({}, "", {judge.DECIDED}),
        ({"A 1": ["NVMe", "HDD"]}, "B 1 NVMe", set()),
        ({"B 1": ["HDD"], "A 1": ["NVMe"]}, "A 1 HDD", {judge.SIGN}),
    ],
)
def test_it_knows_which_is_best_at_a_level(best_at, zero, found):
    made = two_disks(zero)
    marks = Judge(made).answer(ranking(DIFFERENT) | {"claims": [], "words": "A 1, B 1", "best_at": best_at})
    assert {mark.what for mark in marks if not mark.right and " best " in mark.words} == found


@pytest.mark.parametrize(
    ("words", "found"),
    [("Left out: HDD (A 1 has 0 TPS).", set()), ("Left out: HDD (a value is zero).", {judge.OMISSION})],
)
def test_it_asks_who_came_to_nothing_at_a_level(words, found):
    made = two_disks("A 1 HDD")
    level = {"kind": "level", "label": "NVMe", "runs": ["A 1 NVMe 0", "B 1 NVMe 0"], "ratio": {**NOTHING, "value": 0.5}}
    answer = ranking(DIFFERENT) | {"question": {"kind": "a_b", "fact": "dbms"}, "claims": [level], "words": words}
    marks = Judge(made).answer(answer | {"first": "A 1", "second": "B 1", "over": "1 level of data storage"})
    assert {
        mark.what for mark in marks if not mark.right and ("nothing" in mark.words or "no ratio" in mark.words)
    } == found


@pytest.mark.parametrize(("value", "found"), [(-1.0, set()), (-0.9, {judge.NUMBER})])
def test_it_knows_that_all_is_lost(value, found):
    cells = [
        Cell({"dbms": "A 1", "size_gb": size}, {"tps": tps}, {f"{size} {at}": {"tps": tps} for at in range(3)}, "b")
        for size, tps in ((8, 100.0), (16, 0.0))
    ]  # fmt: skip
    curve = {"runs": [], "shape": "too_few"}
    told = {"kind": "loss", "label": "", "runs": ["8 0", "16 0"], "start": 8.0, "end": 16.0, "falls_off": curve,
            "change": {**NOTHING, "value": value}}  # fmt: skip
    question = {"kind": "loss", "fact": "", "x": "factor:size_gb"}
    answer = ranking(DIFFERENT) | {"question": question, "claims": [told]}
    marks = Judge(World(0, "collapse", "2 %", "tps", cells)).answer(answer)
    assert {mark.what for mark in marks if not mark.right and "lost" in mark.words} == found


DAYS = [date(2026, 3, day) for day in range(1, 21)]


def nightlies(change: float) -> World:
    cells = [
        Cell({"dbms": "A 1", "size_gb": 10, "commit": f"{day:%m%d}abcdef"},
             {"tps": 100 * math.exp(change * (day >= DAYS[10]))}, {f"run {day}": {"tps": 100.0}}, str(day), day)
        for day in DAYS
    ]  # fmt: skip
    return World(0, "nightlies", "2 %", "tps", cells, steps={"A 1": [(DAYS[10], change)] if change else []})


@pytest.mark.parametrize(
    ("change", "claim", "found"),
    [
        (0.2, {}, set()),
        (0.2, {"day": str(DAYS[11]), "days_near": [str(DAYS[10]), str(DAYS[13])]}, set()),
        (0.2, {"day": str(DAYS[11]), "days_near": [str(DAYS[11])] * 2}, {judge.COVERAGE}),
        (0.2, {"day": str(DAYS[12]), "days_near": [str(DAYS[12])] * 2}, {judge.COVERAGE, judge.PLACE}),
        (0.2, {"tested": "0405abcdef"}, {judge.PLACE}),
        (0.2, {"batches_before": 9}, {judge.COUNT}),
        (-0.2, {}, {judge.SIGN, judge.COVERAGE}),
        (0.0, {}, {judge.FALSE_WINNER, PAGES}),
        (0.2, {"day": "", "batches": 20, "days": 20}, {judge.DECIDED, judge.ALIKE_CLAIM}),
        (0.046, {"day": "", "batches": 20, "days": 20, "threshold": 0.05}, set()),  # hardly above the threshold
        (0.02, {"day": "", "batches": 20, "days": 20}, set()),  # below the threshold
        (0.0, {"day": "", "batches": 20, "days": 354}, {judge.COUNT}),
        (0.0, {"is_suspected": True, "days_near": None}, set()),
    ],
)
def test_it_knows_since_when(change, claim, found):
    made = nightlies(change)
    told = {
        "kind": "step", "label": "", "runs": [*made.by_run], "day": str(DAYS[10]), "tested": f"{DAYS[10]:%m%d}abcdef",
        "days_near": [str(DAYS[10])] * 2, "batches": 10, "days": 20, "batches_before": 10, "threshold": 0.03,
        "is_suspected": False, "zero": "",
        "change": {**NOTHING, "value": 0.22, "low": 0.2, "high": 0.24, "verdict": "better"},
        **claim,
    }  # fmt: skip
    answer = {**ranking(DIFFERENT), "question": {"kind": "since", "fact": ""}, "claims": [told]}
    marks = Judge(made).answer(answer)
    seen = {mark.what for mark in marks if not mark.right and "runs with a number" not in mark.words}
    assert seen - {judge.OMISSION} == found


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_world_is_made_of_its_seed_and_number_alone(kind):
    first, again, other = world(3, 7, kind), world(3, 7, kind), world(4, 7, kind)
    assert first == again
    assert [*documents(first)] == [*documents(again)]
    assert first != other
    runs = [repeat["id"] for document in documents(first) for repeat in document["repeats"]]
    printed = [run for cell in first.cells if cell.is_printed for run in cell.runs]
    assert len(set(runs)) == len(runs) == len(first.by_run) - len(printed)
    assert len(printed) == (len(article(first)["results.json"]["runs"]) if kind == "published" else 0)


def test_a_world_in_which_settings_are_unlike_sends_them_without_another_name():
    """A cell and its twin differ in what the product has to part by itself, and are a different cell in truth."""
    made = next(each for n in range(99) if "unlike settings" in (each := world(1, n, "systems")).features)
    usual, twin = ({*cells[0].facts.items()} for cells in (made.cells[:1], made.cells[-1:]))
    assert len({name for name, _ in usual ^ twin} - {"dbms"}) == 1
    sent = [{**document, "id": "", "repeats": []} for document in documents(made)]
    assert all(sent[0]["factors"] == other["factors"] and sent[0]["batch"] == other["batch"] for other in sent)


def test_noise_does_not_move_the_truth():
    """The mean of many logarithms is that of the truth, whatever the noise, unless a repeat is spoilt on purpose."""
    logs: dict[str, list[float]] = {}
    for number in range(400):
        made = world(5, number, "systems")
        if made.features & {"outlier", "zeros"}:
            continue
        for cell in made.cells:
            values = cell.values(made.metric).values()
            logs.setdefault(made.noise, []).extend(math.log(value / cell.means[made.metric]) for value in values)
    assert set(logs) == {"2 %", "8 %", "20 %", "heavy tails", "two modes"}
    assert {noise for noise, errors in logs.items() if abs(fmean(errors)) > 0.02} == set()


def test_the_table_tells_which_aims_are_missed():
    tally = Tally()
    for right in (True, False):
        tally.add("best", judge.Mark(judge.SIGN, "best", right, "turned"))
    assert [words.partition(":")[0] for words in tally.misses()] == ["sign"]
    assert tally.wrong["best", judge.SIGN] == ["turned"]
    assert "| best | 50.0% of 2 |" in [*markdown(tally, "question")]


@pytest.mark.parametrize(("other", "ratio"), [(60.0, 2.0), (200.0, math.sqrt(2.0 * 0.6))])
def test_of_two_levels_the_one_of_enough_repeats_counts_where_the_other_agrees(other, ratio):
    levels = [
        (_cell("A 1", 100.0, 3), _cell("B 1", 50.0, 3)),
        (_cell("A 1", 120.0, 3), _cell("B 1", other, 1)),
    ]
    pair = judge.Pair([([one], [other]) for one, other in levels]).counting("tps")
    assert math.exp(pair.truth("tps")) == pytest.approx(ratio)


def _cell(name: str, tps: float, repeats: int) -> Cell:
    runs = {f"{name} {tps} {at}": {"tps": tps} for at in range(repeats)}
    return Cell({"dbms": name}, {"tps": tps}, runs, batch="b")
