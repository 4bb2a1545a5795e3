"""What an address selects: sets that add up, the baseline's set, short ids of long selections, every filter."""

from __future__ import annotations

from datetime import date
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError
from django.http import QueryDict

from runs.compare import select as of_selection
from runs.compare.compare import compare_selection
from runs.compare.select import LONG_ADDRESS, MAX_RUNS, Selection, read_query, select, set_queries, shortened
from runs.models import Batch, Config, ConfigParameter, Run, RunStorage, StoredSelection
from tests.runs.cells import TOGETHER, machine, make_repeats, make_run

pytestmark = pytest.mark.django_db

STRANGER = AnonymousUser()


def of(*pairs: tuple[str, object]) -> QueryDict:
    return QueryDict(urlencode([(name, str(value)) for name, value in pairs]))


def chosen(*pairs: tuple[str, object], user=STRANGER) -> Selection:
    selection = select(of(*pairs), user)
    assert not selection.problems
    return selection


def test_sets_add_up_and_each_says_what_it_is(article):
    mine = make_run("PostgreSQL 18.1", 900)

    selection = chosen(("set", "publication=tpcb-2010&dbms=postgresql"), ("set", f"run={mine.id}"))

    assert [len(one.ids) for one in selection.sets] == [5, 1]
    assert [words for *_, words in selection.sets[0].choice.filters] == ["100 MB TPC-B test of databases", "PostgreSQL"]
    assert selection.sets[1].choice.named == "1 run"
    assert len(selection.runs) == 6 and mine in selection.runs


def test_the_filters_of_the_address_are_the_first_set_and_narrow_no_other(article):
    mine = make_run("SQLite 3.53", 900)

    selection = chosen(("publication", "tpcb-2010"), ("dbms", "db2-9-7"), ("set", f"run={mine.id}"))

    assert [len(one.ids) for one in selection.sets] == [5, 1]


def test_a_run_of_two_sets_counts_once(article):
    assert len(chosen(("set", "dbms=db2-9-7"), ("set", "publication=tpcb-2010")).runs) == len(
        chosen(("publication", "tpcb-2010")).runs
    )


@pytest.mark.parametrize(("base", "dbms"), [("", "PostgreSQL 8.3"), ("1", "PostgreSQL 8.3"), ("2", "SQLite 3.53")])
def test_the_base_set_is_the_baseline_side(base, dbms, article):
    make_run("SQLite 3.53", 900)
    params = of(("set", "publication=tpcb-2010"), ("set", "dbms=sqlite-3-53"), ("base_set", base))

    comparison = compare_selection(select(params, STRANGER))

    assert comparison.baseline is not None and comparison.baseline.runs[0].dbms_version.name == dbms


@pytest.mark.parametrize(
    ("pairs", "name", "words"),
    [
        ((("set", "dbms=nobody"),), "set", "set 1, dbms: There is no “nobody”."),
        ((("set", "colour=red"),), "set", "set 1, colour: there is no such filter"),
        ((("set", "set=a"),), "set", "set 1, set: there is no such filter"),
        ((("status", "finished"), ("set", "run=x")), "set", "set 2, run: “x” is not the id of a run"),
        ((("status", "finished"), ("base_set", "2")), "base_set", "“2” is not the number of a set"),
        ((("status", "finished"), ("base_set", "x")), "base_set", "“x” is not the number of a set"),
        ((("s", "nothere"),), "s", "no stored selection “nothere”"),
        (tuple(("set", f"repeat={n}") for n in range(13)), "set", "at most 12 sets"),
        ((("setting.\x00", "1"),), "setting.\x00", "no such filter"),
    ],
)
def test_what_is_not_understood_is_said_and_chooses_nothing(pairs, name, words):
    make_run("SQLite 3.53", 900)
    selection = select(of(*pairs), STRANGER)
    assert words in " ".join(selection.problems[name])
    assert selection.runs == []


def test_a_long_selection_gets_a_short_id_that_chooses_the_same_each_time():
    runs = make_repeats("SQLite 3.53", range(1, 61))
    long = of(*[("run", run.id) for run in runs], ("set", "dbms=sqlite-3-53"), ("metric", "tps"))

    short = shortened(long, STRANGER)

    assert len(long.urlencode()) > LONG_ADDRESS > len(short.urlencode())
    assert short["metric"] == "tps"
    assert {run.id for run in select(short, STRANGER).runs} == {run.id for run in runs}
    assert select(short, STRANGER).sets[0].choice.named == "60 runs"
    assert shortened(long, STRANGER) == short and StoredSelection.objects.count() == 1
    assert shortened(short, STRANGER) is short


def test_filters_narrow_a_stored_selection():
    runs = [*make_repeats("SQLite 3.53", range(1, 61)), make_run("MySQL 5.0", 2)]
    short = shortened(of(*[("run", run.id) for run in runs]), STRANGER)
    short["dbms"] = "mysql-5-0"
    assert [run.id for run in select(short, STRANGER).runs] == [runs[-1].id]


def test_a_short_id_shows_nobody_more_than_they_may_see(contributor):
    hidden = make_repeats("SQLite 3.53", range(1, 61), visibility="private", owner=contributor)
    short = shortened(of(*[("run", run.id) for run in hidden]), contributor)

    assert select(short, STRANGER).runs == []
    assert len(select(short, contributor).runs) == 60


def long_list(number: int, runs: int = 60) -> QueryDict:
    return of(*[("run", UUID(int=1000 * number + at)) for at in range(runs)])


def test_of_what_strangers_make_the_newest_stay_and_all_that_somebody_has_read_who_is_logged_in(viewer, monkeypatch):
    monkeypatch.setattr(of_selection, "MOST_OF_STRANGERS", 2)
    ids = [shortened(long_list(number), viewer if number == 1 else STRANGER)["s"] for number in range(3)]
    select(QueryDict(f"s={ids[0]}"), viewer)
    again = shortened(long_list(2), viewer)["s"]

    ids += [shortened(long_list(number), STRANGER)["s"] for number in range(3, 8)]

    assert again == ids[2]
    assert set(StoredSelection.objects.values_list("pk", flat=True)) == {*ids[:3], *ids[-2:]}
    assert "no stored selection" in select(QueryDict(f"s={ids[3]}"), STRANGER).problems["s"][0]


@pytest.mark.parametrize(
    "params",
    [
        of(("run", "x" * 3_000)),
        of(*[("cell", f"no cell {number}") for number in range(300)]),
        of(("q", "x" * 3_000)),
        long_list(1, runs=1_500),
    ],
    ids=["no run", "no cells", "words", "more than are compared"],
)
def test_what_is_no_list_of_runs_is_not_stored(params):
    assert shortened(params, STRANGER) is params
    assert not StoredSelection.objects.exists()


def test_an_address_stays_long_where_nothing_can_be_written(monkeypatch):
    def full(*_, **__):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(StoredSelection, "save", full)
    params = long_list(1)
    assert shortened(params, STRANGER) is params


def test_a_query_that_is_cut_is_cut_between_its_fields():
    runs = read_query(long_list(1, runs=1_300).urlencode()).getlist("run")
    assert len(runs) > MAX_RUNS and {len(run) for run in runs} == {36}


@pytest.mark.parametrize("query", ["dbms=sqlite-3-53", "medium=ssd", "above=5", "setting.fsync=on"])
def test_a_set_counts_what_its_reader_may_list(contributor, viewer, query):
    run = make_run("SQLite 3.53", 900, visibility="private", owner=contributor)
    make_run("SQLite 3.53", 800)
    for each in Run.objects.all():
        data_on(each, "ssd")
    Run.objects.update(effective_settings=[["fsync", "on"]])
    for user, count in ((STRANGER, 1), (viewer, 1), (contributor, 2)):
        selection = select(of(("set", query)), user)
        assert (selection.problems, len(selection.runs)) == ({}, count)
    assert run in select(of(("set", query)), contributor).runs


def data_on(run: Run, medium: str) -> None:
    profile = machine()
    disk = profile.storage.filter(medium=medium).first() or profile.add_device(name=medium, medium=medium)
    RunStorage.objects.create(run=run, role="data", device=disk)


def test_it_filters_by_what_the_data_lay_on():
    on = {medium: make_run("SQLite 3.53", value) for value, medium in enumerate(("hdd", "ssd", "nvme"), 1)}
    for medium, run in on.items():
        data_on(run, medium)
    assert chosen(("medium", "ssd")).runs == [on["ssd"]]
    assert set(chosen(("medium", "ssd"), ("medium", "nvme")).runs) == {on["ssd"], on["nvme"]}


def test_it_filters_by_a_setting_in_force_else_as_given():
    told, given, other = make_run("SQLite 3.53", 1), make_run("SQLite 3.53", 2), make_run("SQLite 3.53", 3)
    config = Config.objects.create(slug="on", name="on")
    ConfigParameter.objects.create(config=config, position=1, name="synchronous", value="FULL")
    Run.objects.filter(pk=told.pk).update(effective_settings=[["synchronous", "FULL"], ["page_size", "4096"]])
    Run.objects.filter(pk=given.pk).update(config=config)
    Run.objects.filter(pk=other.pk).update(config=config, effective_settings=[["synchronous", "OFF"]])

    assert set(chosen(("setting.synchronous", "FULL")).runs) == {told, given}
    assert chosen(("setting.synchronous", "OFF")).runs == [other]


def test_it_filters_by_a_value_above_and_below():
    runs = [make_run("SQLite 3.53", value) for value in (100, 200, 300)]
    assert chosen(("above", 150), ("below", 250)).runs == [runs[1]]
    assert set(chosen(("above.tps", 200)).runs) == set(runs[1:])
    assert chosen(("below.tps", 100)).runs == [runs[0]]
    assert chosen(("above.nothing", 1)).runs == []


def test_it_filters_by_label_tag_and_date():
    run = make_run("SQLite 3.53", 1, measured_on=date(2026, 11, 2))
    make_run("SQLite 3.53", 2, measured_on=date(2026, 10, 1), batch_id=Batch.objects.create().pk)
    Batch.objects.filter(pk=TOGETHER).update(label="nightly", tags="ci arm")
    for pair in (("label", "nightly"), ("tag", "ci"), ("measured_from", "2026-11-01")):
        assert chosen(pair).runs == [run]


def test_ticks_of_the_list_bring_no_filter_of_its_page():
    make_run("SQLite 3.53", 1)
    assert [query.urlencode() for query in set_queries(of(("page", 2), ("ordering", "-value"), ("status", "finished")))]
    assert len(chosen(("page", 2), ("ordering", "-value"), ("status", "finished")).runs) == 1
