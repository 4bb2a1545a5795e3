"""Repeats are pooled within what was measured together; the same cell measured at another time is another group."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import product
from uuid import UUID, uuid4

import pytest
from django.http import QueryDict

from runs import results
from runs.compare.compare import compare
from runs.compare.comparison import Comparison
from runs.compare.facts import MOMENT, name_cells
from runs.compare.grouping import rising
from runs.models import Batch, Run
from runs.run.facets import Facet
from tests.runs.builders import store_upload
from tests.runs.cells import all_runs, batch, make_run

pytestmark = pytest.mark.django_db

OCTOBER, NOVEMBER = [1489, 1497, 1520], [1352, 1377, 1391]


def document(number: int, values: list[int], **changes: object) -> dict[str, object]:
    return {
        "schema_version": 1,
        "id": str(UUID(int=number)),
        "workload": {"slug": "tpcb", "name": "TPC-B profile"},
        "dbms": {"name": "PostgreSQL", "version": "16.4"},
        "hardware": {"name": "bench-1", "cpu_model": "Two quiet cores"},
        "factors": {"terminals": 8, "scale_factor": 10},
        "repeats": [{"metrics": {"tps": value}} for value in values],
        **changes,
    }


def two_uploads(**of_the_second: object) -> None:
    store_upload(document=document(1, OCTOBER, measured_on="2026-10-20"))
    store_upload(document=document(2, NOVEMBER, measured_on="2026-11-20", **of_the_second))


def sizes(comparison: Comparison) -> dict[str, int]:
    return {group.label: group.n for group in comparison.groups}


def test_two_uploads_a_month_apart_are_two_groups_and_the_regression_is_seen():
    two_uploads()
    comparison = compare(all_runs())
    assert sizes(comparison) == {"2026-10-20": 3, "2026-11-20": 3}
    against = comparison.groups[1].against
    assert against.verdict.kind == "worse", "one group of six with one median said nothing of it"
    assert [group.median for group in comparison.groups] == [1497, 1377]
    assert comparison.pooled == ""


def test_versions_of_one_request_stand_in_their_order_however_they_were_sent():
    versions = ["18.0", "18beta1", "9.6", "10.1"]
    documents = [
        document(number, OCTOBER, dbms={"name": "PostgreSQL", "version": version}, measured_on="2026-10-20")
        for number, version in enumerate(versions, 1)
    ]
    assert not any(outcome.errors for outcome in results.store_uploads(documents=documents))
    shown = [group.runs[0].dbms_version.version for group in compare(all_runs()).groups]
    assert shown == ["9.6", "10.1", "18beta1", "18.0"]


@pytest.mark.parametrize("first", [1, 2])
def test_batches_of_one_day_and_one_request_count_in_the_order_in_which_they_were_sent(first):
    """Was: in that of their ids, so that every other improvement was told as a regression."""
    sent = {first: ("before", OCTOBER), 3 - first: ("after", NOVEMBER)}
    documents = [
        document(number, values, label=label, measured_on="2026-10-20") for number, (label, values) in sent.items()
    ]
    assert not any(outcome.errors for outcome in results.store_uploads(documents=documents))
    comparison = compare(all_runs())
    assert [group.label for group in comparison.groups] == ["before", "after"]
    assert comparison.baseline == comparison.groups[0]
    assert [group.facts[MOMENT] for group in comparison.groups] == ["2026-10-20 #1", "2026-10-20 #2"]


def test_two_experiments_are_two_groups():
    for number, values in enumerate((OCTOBER, NOVEMBER), 1):
        together = batch(UUID(int=number), label=f"night {number}")
        for value in values:
            make_run("PostgreSQL 16.4", value, batch=together)
    assert sizes(compare(all_runs())) == {"night 1": 3, "night 2": 3}


@pytest.mark.parametrize(
    ("first", "second", "labels"),
    [
        ({"label": "before"}, {"label": "after"}, ["before", "after"]),
        ({"label": "tuned", "tested": {"commit": "1a2b3c4d5e6f"}}, {"label": "tuned", "tested": {"build": "17"}},
         ["tuned · 1a2b3c4d5e", "tuned · 17"]),
        ({"tested": {"build": "16"}}, {"label": "nightly"}, ["16", "nightly"]),
        ({"tested": {"branch": "main"}}, {"tested": {"branch": "main"}}, ["main · 2026-10-20", "main · 2026-11-20"]),
    ],
)  # fmt: skip
def test_a_batch_is_named_by_its_label_else_its_version_else_its_date(first, second, labels):
    for number, (said, day) in enumerate(((first, 10), (second, 11)), 1):
        together = batch(UUID(int=number), **said)
        make_run("PostgreSQL 16.4", 100 + number, batch=together, measured_on=date(2026, day, 20))
    assert [group.label for group in compare(all_runs()).groups] == labels


@pytest.mark.parametrize(
    ("measured", "stands"),
    [
        ([], []), ([1], [1]), ([1, 2, 3], [1, 2, 3]), ([1, 2, 30, 4], [1, 2, 3, 4]),
        ([5, 6, 1, 2, 3], [0.998, 0.999, 1, 2, 3]),
        ([1, 2, 3, 0], [1, 2, 3, 3.001]), ([1, 9, 9, 4], [1, 2, 3, 4]),
    ],
)  # fmt: skip
def test_batches_stand_in_the_order_of_their_series_most_where_they_were_measured(measured, stands):
    assert rising(measured) == pytest.approx(stands)


@pytest.mark.parametrize(
    ("measured_on", "stored"),
    [(date(2026, 11, 20), "2026-11-20 · "), (date(2026, 10, 1), "2026-10-01 · stored 2026-11-20 ")],
)
def test_two_batches_of_a_day_are_told_apart_by_when_they_were_stored(measured_on: date, stored: str):
    for number in (1, 2):
        together = batch(UUID(int=number), created_at=datetime(2026, 11, 20, 10 + number, 5, tzinfo=UTC))
        make_run("PostgreSQL 16.4", 100 + number, batch=together, measured_on=measured_on)
    labels = [group.label for group in compare(all_runs()).groups]
    assert labels == [f"{stored}{time}" for time in ("11:05:00", "12:05:00")]


def test_two_batches_that_were_stored_in_one_second_are_numbered():
    for number in (1, 2):
        together = batch(UUID(int=number), created_at=datetime(2026, 11, 20, 11, 5, 0, number, tzinfo=UTC))
        make_run("PostgreSQL 16.4", 100 + number, batch=together, measured_on=date(2026, 11, 20))
    labels = [group.label for group in compare(all_runs()).groups]
    assert labels == ["2026-11-20 · 11:05:00", "2026-11-20 · 11:05:00 #2"]


def test_batches_that_were_stored_in_one_second_are_no_series_of_their_own():
    """Was: two sizes that were measured again, each in a batch of its own, were a curve if one second saw both come."""
    for number, sizes_gb in enumerate(((8, 16), (8,), (16,))):
        at = datetime(2026, 11, 20, 11, 5, min(number, 1), number, tzinfo=UTC)
        together = batch(UUID(int=number + 1), created_at=at)
        for size_gb in sizes_gb:
            factors = {"size_gb": size_gb}
            make_run("PostgreSQL 16.4", 100, batch=together, measured_on=date(2026, 11, 20), factors=factors)
    assert len({*compare(all_runs()).columns["batch"]}) == 3


def test_a_run_that_says_something_else_than_its_batch_is_not_pooled_with_it():
    for value, said in ((100, {}), (101, {}), (120, {"tested": {"commit": "ffff"}}), (90, {"label": "cold"})):
        make_run("PostgreSQL 16.4", value, batch=batch(label="night", tested={"commit": "1a2b"}), **said)
    assert sizes(compare(all_runs())) == {
        "night · 1a2b": 2, "night · ffff": 1, "cold": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("grouping", "groups"),
    [
        ("batch", {"a · 1 · 2026-11-01": 2, "a · 1 · 2026-11-02": 1, "b": 1}),
        ("label", {"a": 3, "b": 1}),
        ("version", {"PostgreSQL 16.4": 4}),
        ("date", {"2026-11-01": 2, "2026-11-02": 2}),
        ("all", {"PostgreSQL 16.4": 4}),
    ],
)
def test_a_reader_may_pool_by_something_else_and_the_comparison_says_so(grouping, groups):
    measured = [("a", 1, 1), ("a", 1, 1), ("a", 2, 2), ("b", 3, 2)]
    for label, of, day in measured:
        together = batch(UUID(int=of), label=label, tested={"build": "1"})
        make_run("PostgreSQL 16.4", 100, batch=together, measured_on=date(2026, 11, day))
    comparison = compare(all_runs(), QueryDict(f"group={grouping}"))
    assert sizes(comparison) == groups
    assert comparison.grouping == grouping
    assert bool(comparison.pooled) == (grouping != "batch")


def test_batches_that_only_say_when_a_cell_was_stored_are_no_fact():
    """Seen: 36 cells, each a request of its own: the second of its storing stood as a fact, and no two had it alike."""
    for number, (system, terminals) in enumerate(product(("H2 2.5", "SQLite 3.54"), (1, 8, 64)), 1):
        make_run(system, 100, batch=batch(UUID(int=number)), factors={"scale_factor": 1, "terminals": terminals})
    comparison = compare(all_runs())
    assert "Batch" not in {fact.label for fact in comparison.varying}
    make_run("H2 2.5", 90, batch=batch(UUID(int=9)), factors={"scale_factor": 1, "terminals": 8})
    Batch.objects.filter(pk=UUID(int=9)).update(created_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert "Batch" in {fact.label for fact in compare(all_runs()).varying}


def test_what_varies_is_said_once_and_many_values_are_counted():
    for number in range(1, 15):
        make_run("H2 2.5", 100, batch=batch(UUID(int=number), label=f"night {number}"))
    (words,) = compare(all_runs()).varying_words.items()
    assert words[0] == "Batch" and words[1].endswith("night 12 and 2 more")


def test_names_that_have_parts_are_told_apart():
    """Seen: "nightly · 4f1 · main · 2026-09-19 · nightly · 4f2 · main · 2026-09-20", which is two batches."""
    for number in (1, 2):
        tested = {"commit": f"4f{number}", "branch": "main"}
        make_run("H2 2.5", 100, batch=batch(UUID(int=number), label="nightly"), tested=tested)
    assert compare(all_runs()).varying_words["Batch"] == "nightly · 4f1 · main; nightly · 4f2 · main"


def test_two_factors_with_the_same_levels_are_both_said_to_vary():
    for scale, terminals in product((1, 4), (1, 4)):
        make_run("H2 2.5", 100, factors={"scale_factor": scale, "terminals": terminals})
    assert compare(all_runs()).varying_words == {"Scale factor": "1 · 4", "Terminals": "1 · 4"}


def test_a_build_of_one_dbms_names_no_batch_of_several():
    """Seen: of two batches, one was called by the day on which H2 was built, as if it had been measured then."""
    for number in (1, 2):
        together = batch(UUID(int=number))
        make_run("H2 2.5", 100, batch=together, tested={"dbms_build": "2026-09-23"})
        make_run("SQLite 3.54", 100, batch=together)
    comparison = compare(all_runs())
    assert not any("2026-09-23" in group.label for group in comparison.groups), [g.label for g in comparison.groups]


def test_two_builds_of_a_dbms_name_two_batches_and_a_run_without_one_stays_with_its_batch():
    for number, build in ((1, "1901046"), (2, "1909999")):
        together = batch(UUID(int=number))
        make_run("Derby 10.16", 100, batch=together, tested={"dbms_build": build})
        make_run("Derby 10.16", None, batch=together, state="failed", message="no room")
    comparison = compare(all_runs())
    assert [(group.label, len(group.all_runs)) for group in comparison.groups] == [("1901046", 2), ("1909999", 2)]
    assert "DBMS build" in {fact.label for fact in comparison.varying}


def test_what_says_no_label_stays_with_its_batch():
    for number in (1, 2):
        make_run("PostgreSQL 16.4", 100, batch=batch(UUID(int=number)), measured_on=date(2026, 11, number))
    assert len(compare(all_runs(), QueryDict("group=label")).groups) == 2


def test_every_run_has_a_batch():
    assert not Run._meta.get_field("batch").null


def test_an_empty_factor_is_no_difference_to_none():
    """A comparison of the two was an error of the server."""
    terminals = [Facet("factor:terminals", "Terminals", value, value, f"{value} terminals", value) for value in "12"]
    empty = Facet("factor:script_text", "Script text", "", "", "", "")
    naming = name_cells([{terminals[0].field: terminals[0]}, {terminals[1].field: terminals[1], empty.field: empty}])
    assert naming.labels == ["1 terminals", "2 terminals"]
    assert naming.common == []


def test_a_commit_is_said_in_its_first_letters_and_kept_as_it_is():
    commits = ["1f8b27f713d455f0ab33815481be11f9", "e8bb64c78fae53d4ac3edbf1c6b84ce2"]
    for commit in commits:
        make_run("PostgreSQL 16.4", 5, batch=batch(uuid4()), tested={"commit": commit})
    (fact,) = (fact for fact in compare(all_runs()).varying if fact.field == "tested:commit")
    assert [fact.words[commit] for commit in commits] == ["1f8b27f713", "e8bb64c78f"]
    assert sorted(fact.values) == commits
