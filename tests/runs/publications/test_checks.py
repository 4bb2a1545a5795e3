"""What the articles state against what their own numbers give: every figure recomputed from the rows."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter

from runs.publications.check import Check, Result, rounded
from runs.publications.folder import DATA
from scripts.article_checks import example
from scripts.article_checks.article import judge
from scripts.article_checks.computing import TOPICS, computed
from scripts.article_checks.quantities import constant, given
from tests.conftest import REPOSITORY
from tests.formulas import value_of
from tests.runs.publications.changed import files_of

EXAMPLE = REPOSITORY / "docs" / "use" / "publication-example"
RESULTS = {
    "agrees": (
        "0.1 0.2 1.0 1.0a 1.1 1.2 1.3 1.4 1.7 2.0 2.2 2.3 2.4 2.5 2.6 2.7 2.9 2.10 2.12 2.17 2.18 2.19 2.20 2.25 2.26 "
        "2.27 2.29 2.30 2.31 2.33 2.36 3.1 3.11 3.13"
    ),
    "rounded up": "2.11",
    "disagrees": "0.3 0.4 0.6 0.9 2.8 2.21 2.22 2.23 2.24 3.3 3.4 3.10 3.12",
    "unclear": "0.5 0.10 2.15 2.34 3.2 3.5 3.8",
    "derived": "0.7 0.8 1.5 2.1 2.11a 2.13 2.14 2.28 2.32 2.35 3.6 3.7 3.9",
    "gap": "1.6 2.16 3.14",
}

# Check -> computed values, rounded as shown, in their order (a part of them where a list is long).
FIGURES = {
    "0.1": [0.83, 1.11],
    "0.2": [45.24, 46.32],
    "0.3": [0],
    "0.4": [37.7, 27.4],
    "0.5": [0.74, 0.52, 29.7, 1.26, 1.48, 1.175, 14.9],
    "0.6": [90],
    "0.7": [522, 379, 425, 309],
    "0.8": [128, 0.815],
    "1.0": [2, 4.65, 0.07, 1, 38, 96, 96, 126, 306],
    "1.0a": [508, 499.8, 33.5, 6.7, 2363, 2363.4, 46.9, 2.0, 114, 112.0, 4.9, 4.4, 594, 588.4, 19.9, 3.4, 1192, 1178.4,
             117.3, 10.0, 875, 883.0, 32.7, 3.7, 2424, 2420.4],
    "1.1": [4.652],
    "1.2": [1.169],
    "1.3": [2.58, 2.41, 2372, 2435],
    "1.4": [1_000_000, 100],
    "1.5": [3.978, 1.982, 1.362, 4.456, 20.73],
    "1.6": [5, 5, 5, 5, 5, 3],
    "2.1": [3.24751604, 3.65166075, 3.379771, 3.375451383, 3.360750],
    "2.2": [3.38, 4, 8],
    "2.3": [3.4427, 3.3438, -2.87, -8.30],
    "2.4": [3.279214123],
    "2.5": [157.347, 6.5561],
    "2.7": [1.771454],
    "2.8": [1813.969025, 1.7715],
    "2.9": [3.125],
    "2.10": [11, 11],
    "2.11": [-17.54],
    "2.11a": [-0.56, -2.90, -5.18, -9.76, -12.76, -13.72, -14.20, -16.31, -17.30, -17.54, -65.77,
              -0.56, -2.35, -2.34, -4.84, -3.32, -1.10, -0.55, -2.46, -1.18, -0.29, -58.49],
    "2.12": [59.87, 2.4093],
    "2.13": [200.66, 2.9217, -65.77],
    "2.14": [-10.46, -13.84],
    "2.15": [-4.84, -3.32, 16],
    "2.18": [607505.38, 684121.97, 42067.56, 53850.86, 378532.09, 9746.31, 29.06, 11.81, 2.80],
    "2.19": [1775867.60, 1734.246, 80580.81, 78.692, 1812.938, 1055.87, 0.057],
    "2.20": [80580.85, 50582.34, 15809.61, 4250.38, 8675.78],
    "2.21": [34.21, 38.52, 2.37, 3.03, 21.32, 0.55, 35.45, 37.70, 2.49, 2.90, 20.86, 0.59],
    "2.22": [593.3],
    "2.23": [8.33, 2.31, 10.10, 0, 2.29, 12.94, 4.37, 4.40, 3.93, 4.54],
    "2.24": [684.1, 668.1, 378.5, 369.7, 15.8, 15.4],
    "2.25": [9, 8],
    "2.26": [2, 1.41, 6.30],
    "2.27": [300001.2, 100000.0, 30000.2, 30000.0, 30000.0, 9000.0, 10.0, 4141, 434, -19],
    "2.28": [88.45, 105, 125, 150, 179, 200, 230, 250, 280, 301, 331, 351],
    "2.29": [3845.7, 4096],
    "2.30": [40],
    "2.31": [152, 99.84],
    "2.32": [175, 110],
    "2.33": [163_840_000, 1.91],
    "3.1": [625_000, 1_600_000, 40],
    "3.2": [4, 1, 4],
    "3.4": [51, 19],
    "3.9": [0.83, 5.06, 1.06, 2.64],
    "3.11": [19],
}  # fmt: skip


_of_the_articles: dict[str, Check] = {}


@pytest.fixture
def checks() -> dict[str, Check]:
    """As they come with the articles."""
    if not _of_the_articles:
        for slug in TOPICS:
            _of_the_articles.update(by_number(json.loads(files_of(slug)["checks.json"])["checks"]))
    return _of_the_articles


def by_number(rows) -> dict[str, Check]:
    return {one.number: one for one in TypeAdapter(list[Check]).validate_python(rows)}


def with_changed(slug, change) -> dict[str, Check]:
    """The checks of a copy of the data in which `change` changed something."""
    results = json.loads(files_of(slug)["results.json"])
    change(results)
    return by_number(computed(TOPICS[slug], results))


@pytest.mark.parametrize(
    ("folder", "topics"), [*((DATA / slug, topics) for slug, topics in TOPICS.items()), (EXAMPLE, example.TOPICS)]
)
def test_the_rows_of_an_article_are_what_its_numbers_give(folder, topics):
    """Else: `make article-checks`."""
    results, checks = (json.loads((folder / name).read_text()) for name in ("results.json", "checks.json"))
    assert computed(topics, results) == checks["checks"]


def test_it_decides_every_check_as_the_numbers_do(checks):
    expected = {number: result for result, numbers in RESULTS.items() for number in numbers.split()}
    assert {number: one.result.value for number, one in checks.items()} == expected


def test_it_computes_every_figure(checks):
    for number, expected in FIGURES.items():
        found = [one.rounded for one in checks[number].computed]
        assert found[: len(expected)] == pytest.approx(expected, abs=1e-9), number


def test_every_formula_gives_its_value(checks):
    """The formula that a reader sees is the one that was computed; the only ones in words count cuts of the table."""
    in_words = 0
    for number, one in checks.items():
        for computed_row in one.computed:
            try:
                value = value_of(computed_row.formula) * (100 if computed_row.unit == "%" else 1)
            except SyntaxError:
                assert number == "1.0"
                in_words += 1
                continue
            assert value == pytest.approx(computed_row.value, rel=1e-9, abs=1e-12), (number, computed_row.formula)
    assert in_words == 7


def test_every_check_says_what_it_means(checks):
    assert len(checks) == 10 + 9 + 40 + 14 - 2
    for number, one in checks.items():
        assert one.title, number
        assert one.explanation.endswith("."), number
        assert one.stated or one.result in (Result.DERIVED, Result.GAP, Result.UNCLEAR, Result.AGREES), number
        assert one.computed or one.stated, number


def test_the_largest_step_falls_where_memory_is_passed(checks):
    first = checks["2.15"].computed[0]
    assert first.label == "15.5 to 17.3 GB"
    assert "exactly where RAM is passed" in checks["2.15"].explanation


def test_one_changed_value_changes_what_it_goes_into():
    def change(data):
        run = next(one for one in data["runs"] if one["id"] == "firebird-sata-oltp-11")
        run["metrics"][0] |= {"value": 400.0, "as_printed": "400"}

    changed = with_changed("firebird-terabyte-2015", change)
    assert changed["2.11"].computed[0].rounded == rounded((400 / 494.73 - 1) * 100, 2) == -19.15
    assert changed["2.12"].result == Result.DISAGREES
    assert changed["2.20"].result == Result.AGREES


def test_one_changed_size_changes_what_it_goes_into():
    """Thirty GB are then the database next to it."""

    def change(data):
        for run in data["runs"]:
            size = run["factors"].get("size_gb")
            if isinstance(size, dict) and size["value"] == 30.3:
                size["value"] = 36.3

    changed = with_changed("firebird-terabyte-2015", change)
    assert changed["2.11"].computed[0].rounded == -17.30
    assert changed["2.11"].title == "Loss from 9.04 to 28.6 GB"
    assert changed["2.0"].result == Result.DISAGREES


def test_a_changed_cell_is_no_longer_what_the_table_allows():
    def change(data):
        run = next(one for one in data["runs"] if one["id"] == "tpcb-pg-8.3-r5")
        run["metrics"][0] |= {"value": 509, "as_printed": "509"}

    changed = with_changed("tpcb-2010", change)
    assert changed["1.0"].result == Result.DISAGREES
    assert changed["1.0a"].result == Result.DISAGREES
    assert changed["1.1"].result == Result.AGREES


@pytest.mark.parametrize(
    ("stated", "computed", "result"),
    [
        (-20, -17.54, Result.ROUNDED_UP),
        (-20, -21.2, Result.ROUNDED_DOWN),
        (-20, -20.4, Result.AGREES),
        (-20, -31, Result.DISAGREES),
        (60, 59.87, Result.AGREES),
        (2.4, 2.4093, Result.AGREES),
        (2.4, 2.46, Result.ROUNDED_DOWN),
        (25, 26.4, Result.ROUNDED_DOWN),  # both 30 at one digit: people round half up
        (0, 0, Result.AGREES),
        (0, 3, Result.DISAGREES),
    ],
)
def test_it_judges_by_the_printed_digits(stated, computed, result):
    assert judge(stated, computed) == result


def test_a_sentence_never_says_more_than_its_result():
    """Sentences that explain the published result go when the rows give another one."""

    def change(data):
        for row in data["table_stats"]:
            if row["table"] == "NEW_ORDER":
                row["records"] = 1000
        next(one for one in data["claims"] if one["id"] == "firebird-b")["ratio"] = 3.4

    changed = with_changed("firebird-terabyte-2015", change)
    for number in ("2.27", "2.12"):
        assert changed[number].result == Result.DISAGREES
        assert changed[number].explanation == "With these rows: disagrees. The article's own give another result."
    assert "More is lost" not in changed["2.11"].explanation


@pytest.mark.parametrize(
    ("compute", "words", "formula"),
    [
        (lambda a, b: 2 * (a + b) / (b * a), "2 × (a + b) / (b × a)", "2 × (3 + (−4)) / ((−4) × 3)"),
        (lambda a, b: 1 - (a - b) / constant(10) ** 2, "1 − (a − b) / 10 ^ 2", "1 − (3 − (−4)) / 10 ^ 2"),
        (lambda a, b: a - (b - a) ** (a / 3), "a − (b − a) ^ (a / 3)", "3 − ((−4) − 3) ^ (3 / 3)"),
        (lambda a, b: (a**2) ** (b - 1) - 5, "(a ^ 2) ^ (b − 1) − 5", "(3 ^ 2) ^ ((−4) − 1) − 5"),
    ],
)
def test_a_formula_has_the_brackets_that_it_needs(compute, words, formula):
    quantity = compute(given("a", 3, "a"), given("b", -4, "b"))
    assert (quantity.words, quantity.formula) == (words, formula)
    assert value_of(formula) == pytest.approx(quantity.value)
