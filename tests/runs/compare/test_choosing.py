"""How the compare page chooses: facets with counts, sets and what could be added, the newest comparison."""

from __future__ import annotations

import re
from datetime import date, timedelta
from html import unescape
from urllib.parse import unquote
from uuid import UUID

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.utils import timezone

from runs.charts import compare as bars
from runs.compare.choosing import cut_apart
from runs.compare.select import LONG_ADDRESS, MAX_RUNS, choose, select
from runs.listing import facets
from runs.models import (
    Batch,
    Experiment,
    HardwareProfile,
    Publication,
    Report,
    Run,
    RunStorage,
    StoredSelection,
    Workload,
)
from tests.runs.cells import TOGETHER, machine, make_repeats, make_run
from tests.runs.pages import page

pytestmark = pytest.mark.django_db

STRANGER = AnonymousUser()


def counted(query: str = "", user=STRANGER) -> dict[str, dict[str, int]]:
    """Filter -> value in words -> runs."""
    given = QueryDict(query)
    shown = facets.facets_of(given, choose(given, user).rows).shown
    return {facet.name: {option.text: option.count for option in facet.options} for facet in shown}


def links(html: str) -> dict[str, str]:
    """Words of a link of the chooser -> where it leads."""
    aside = html[html.index('id="chooser"') : html.index("</aside>")]
    rows = re.findall(r'<a [^>]*?href="(\?[^"]*)"[^>]*>(.*?)</a>', aside, re.DOTALL)
    return {" ".join(re.sub(r"<[^>]*>", " ", text).split()): unescape(href) for href, text in rows}


def test_it_counts_each_value_among_the_runs_that_the_other_filters_leave():
    make_run("PostgreSQL 18.1", 1, factors={"terminals": 1})
    make_run("PostgreSQL 18.1", 2, factors={"terminals": 4})
    make_run("PostgreSQL 9.6", 3, factors={"terminals": 4})
    make_run("SQLite 3.53", 4, factors={"terminals": 4})

    assert counted()["dbms"] == {"PostgreSQL": 3, "SQLite": 1}
    assert counted("factor.terminals=4") == {
        "dbms": {"PostgreSQL": 2, "SQLite": 1}, "factor.terminals": {"1": 1, "4": 3},
    }  # fmt: skip
    assert counted("dbms=postgresql")["dbms"] == {
        "PostgreSQL": 3, "PostgreSQL 9.6": 1, "PostgreSQL 18.1": 2, "SQLite": 1,
    }  # fmt: skip
    assert list(counted("dbms=postgresql")["dbms"])[1:3] == ["PostgreSQL 9.6", "PostgreSQL 18.1"]


def test_thousands_of_versions_and_groups_make_no_long_page(client, monkeypatch):
    for number in range(9):
        for repeat in range(1 + (number == 2)):
            make_run(f"PostgreSQL 18.{number}", 10 * number + repeat)
    monkeypatch.setattr(facets, "MOST_LEVELS", 4)
    monkeypatch.setattr(bars, "MOST_BARS", 5)
    shown = [f"PostgreSQL 18.{number}" for number in (2, 6, 7, 8)]
    assert [*counted("dbms=postgresql")["dbms"]] == ["PostgreSQL", *shown]
    assert "PostgreSQL 18.0" in counted("dbms=postgresql-18-0")["dbms"]

    (figure,) = client.get("/compare/?dbms=postgresql").context["drawing"].parts
    assert len(figure.spec["groups"]) == 5
    told = client.get("/api/v1/answers/?dbms=postgresql").json()
    assert told["counts"] == {"selected": 10, "drawn": 6, "unnumbered": 0, "left_out": 4}
    assert len(told["left_out"]) == 4


def test_it_counts_tags_of_run_and_batch_once_and_disks_of_the_data():
    runs = [make_run("SQLite 3.53", value, tags="nightly" if value == 1 else "") for value in (1, 2)]
    other = make_run("SQLite 3.53", 3, batch=Batch.objects.create(tags="arm"))
    Batch.objects.filter(pk=TOGETHER).update(tags="ci nightly")
    disk = machine().add_device(name="d", medium="ssd")
    spinning = machine().add_device(name="e", medium="hdd")
    for run, device in ((runs[0], disk), (runs[1], disk), (other, spinning)):
        RunStorage.objects.create(run=run, role="data", device=device)

    assert counted()["tag"] == {"#arm": 1, "#ci": 2, "#nightly": 2}
    assert counted()["medium"] == {"HDD": 1, "SSD": 2}
    assert counted("medium=ssd")["medium"] == {"HDD": 1, "SSD": 2}


@pytest.mark.parametrize("who", ["stranger", "viewer", "owner"])
def test_it_counts_and_names_only_what_its_reader_may_list(contributor, viewer, who):
    user = {"stranger": STRANGER, "viewer": viewer, "owner": contributor}[who]
    open_machine, secret = machine(), HardwareProfile.objects.create(slug="secret", name="Secret machine")
    make_run("SQLite 3.53", 1, on=open_machine)
    make_run("MySQL 5.0", 1, on=open_machine)
    for visibility in ("private", "unlisted"):
        make_run("Oracle 10R2", 2, on=secret, visibility=visibility, owner=contributor, tags="secret")

    shown = counted(user=user)

    assert ("Oracle" in shown["dbms"]) == (who == "owner")
    assert ("hardware" in shown) == ("tag" in shown) == (who == "owner")
    if who == "owner":
        assert shown["hardware"] == {"Bench One": 2, "Secret machine": 2}


def test_many_runs_are_counted_in_the_newest_only(monkeypatch, client):
    monkeypatch.setattr(facets, "COUNTED", 3)
    now = timezone.now()
    for age in range(5):
        make_run("SQLite 3.53" if age < 2 else "MySQL 5.0", age + 1, created_at=now - timedelta(hours=age))
    assert counted()["dbms"] == {"MySQL": 1, "SQLite": 2}
    html = page(client, "/compare/?status=finished&edit=1")
    assert "2+" in html and "Counted in the newest" in html


def test_a_click_adds_and_removes_a_filter_of_the_set_and_keeps_the_controls(client, article):
    mine = make_run("SQLite 3.53", 900)

    html = page(client, f"/compare/?set=publication%3Dtpcb-2010&set=run%3D{mine.id}&edit=1&order=best")
    narrowed = links(html)["MySQL 5"]

    selection = select(QueryDict(narrowed[1:]), STRANGER)
    assert [len(each.ids) for each in selection.sets] == [5, 1]
    assert "order=best" in narrowed
    back = links(page(client, f"/compare/{narrowed}"))["MySQL 5"]
    assert len(select(QueryDict(back[1:]), STRANGER).sets[0].ids) == 30


def test_a_version_narrows_its_dbms_and_only_it(client):
    for system in ("PostgreSQL 18.1", "PostgreSQL 9.6", "SQLite 3.53"):
        make_run(system, 1)
    both = links(page(client, "/compare/?dbms=postgresql&dbms=sqlite&edit=1"))
    assert links(page(client, f"/compare/{both['PostgreSQL 9.6 1']}"))["PostgreSQL 2"] == "?dbms=sqlite&edit=1"
    assert "dbms=sqlite&dbms=postgresql-9-6" in both["PostgreSQL 9.6 1"]


def test_filters_are_counted_for_whoever_chooses_and_not_for_whoever_reads(client, monkeypatch):
    make_run("SQLite 3.53", 1)
    with monkeypatch.context() as patched:
        patched.delattr("runs.compare.choosing.facets_of")
        html = page(client, "/compare/?dbms=sqlite")
    there = links(page(client, f"/compare/{links(html)['Choose runs, narrow or add']}"))
    assert "?dbms=sqlite" in there.values() and "?edit=1" in there.values()


def test_sets_are_removed_and_one_becomes_the_baseline_side(client, article):
    mine = make_run("SQLite 3.53", 900)
    html = page(client, f"/compare/?set=publication%3Dtpcb-2010&set=run%3D{mine.id}&base_set=2")

    there = links(html)

    assert "base_set" not in there["not the baseline"] and "base_set=1" in there["as baseline"]
    assert there["remove"] == "?publication=tpcb-2010"


def test_from_a_run_the_article_of_the_same_dbms_is_offered_and_added(client, article):
    mine = make_run("PostgreSQL 18.1", 900)

    there = links(page(client, f"/compare/?run={mine.id}&edit=1"))

    added = there["PostgreSQL of “100 MB TPC-B test of databases”, 5 runs of TPC-B profile"]
    assert len(select(QueryDict(added[1:]), STRANGER).runs) == 6
    assert "all of “100 MB TPC-B test of databases”, 28 runs of TPC-B profile" in there


def test_what_has_the_workload_of_the_comparison_is_offered_before_what_has_not(client, article):
    """Seen: an article of another workload, with which nothing has a ratio, before what was measured."""
    kind = Workload.objects.get().kind
    of = Workload.objects.create(slug="other", name="Other", kind=kind, primary_metric="tps")
    other = Publication.objects.create(slug="older", title_en="An older article", published_on=date(2001, 1, 1))
    make_run("PostgreSQL 8.3", 100, publication=other, of=of)
    make_run("PostgreSQL 8.3", 110, batch=Batch.objects.create(label="nightly"))
    mine = make_run("PostgreSQL 18.1", 900)

    offers = dict(client.get(f"/compare/?run={mine.id}&edit=1").context["chooser"].offers)

    assert [*offers] == ["Measured or uploaded", "Published", "Published of another workload"]
    (_, added), (_, whole) = [(link.text, link.query) for link in offers["Published of another workload"]]
    assert [link.text for link in offers["Published of another workload"]] == [
        "PostgreSQL of “An older article”, 1 run of Other", "all of “An older article”, 1 run of Other",
    ]  # fmt: skip
    assert [len(select(QueryDict(query), STRANGER).runs) for query in (added, whole)] == [2, 2]


def test_other_batches_are_offered_by_their_label_and_dbms_but_nothing_hidden(client, contributor):
    mine = make_run("SQLite 3.53", 1)
    make_run("MySQL 5.0", 1, batch=Batch.objects.create(label="nightly"))
    make_run("MySQL 5.0", 1, batch=Batch.objects.create(label="hidden"), visibility="private", owner=contributor)

    there = links(page(client, f"/compare/?run={mine.id}&edit=1"))

    assert "nightly: MySQL 5.0" in there and not any("hidden" in words for words in there)


def test_typed_filters_become_part_of_the_address(client):
    make_run("SQLite 3.53", 900)
    for typed, filter in (
        ("add=above.tps&value=100", "above.tps=100"), ("add=setting&value=fsync+%3D+on", "setting.fsync=on"),
        ("add=q&value=bench", "q=bench"), ("add=&value=", ""),
    ):  # fmt: skip
        response = client.get(f"/compare/?status=finished&order=best&{typed}")
        assert response.status_code == 302
        assert filter in response["Location"] and "order=best" in response["Location"]


def test_nothing_chosen_shows_the_newest_batch_with_several_cells(client, article):
    for name, systems in (("old", ("SQLite 3.53", "MySQL 5.0")), ("one", ("SQLite 3.53", "SQLite 3.53"))):
        experiment = Experiment.objects.create(slug=name, name=name)
        for system in systems:
            make_run(system, 1, experiment=experiment)
    old = Experiment.objects.get(slug="old")
    response = client.get("/compare/")
    assert (response.status_code, response["Location"]) == (302, f"/compare/?batch={old.pk}")


def test_nothing_chosen_sets_the_newest_batch_against_the_one_before(client):
    now = timezone.now()
    first, second = Batch.objects.create(), Batch.objects.create()
    make_run("SQLite 3.53", 1, batch=first, created_at=now - timedelta(days=1))
    make_run("SQLite 3.53", 1, batch=second)
    selection = select(QueryDict(client.get("/compare/")["Location"].partition("?")[2]), STRANGER)
    assert [each.query["batch"] for each in selection.sets] == [str(second.pk), str(first.pk)]


def test_nothing_chosen_shows_an_article_where_nothing_was_measured_that_the_reader_sees(client, contributor, article):
    for system in ("SQLite 3.53", "MySQL 5.0"):
        make_run(system, 1, visibility="private", owner=contributor)
    assert "publication=tpcb-2010" in client.get("/compare/")["Location"]
    client.force_login(contributor)
    assert client.get("/compare/")["Location"] == f"/compare/?batch={TOGETHER}"


def test_an_empty_instance_says_what_to_do(client):
    html = page(client, "/compare/")
    assert "No runs to compare yet" in html and 'href="/schedule/"' in html and 'href="/imports/"' in html


@pytest.mark.parametrize("logged_in", [False, True])
def test_ticks_become_an_address_and_many_a_short_one(client, viewer, logged_in):
    runs = make_repeats("SQLite 3.53", range(1, 61))
    if logged_in:
        client.force_login(viewer)
    few = client.post("/compare/ticked/", {"run": [str(run.id) for run in runs[:2]], "order": "best"})
    many = client.post("/compare/ticked/", {"run": [str(run.id) for run in runs]})

    assert few["Location"].count("run=") == 2
    assert len(many["Location"]) < LONG_ADDRESS
    assert StoredSelection.objects.get().kept == logged_in
    assert len(select(QueryDict(many["Location"].partition("?")[2]), STRANGER).runs) == Run.objects.count()


def test_as_many_runs_as_can_be_compared_are_ticked_at_once(client):
    ticked = [str(UUID(int=number)) for number in range(MAX_RUNS)]
    many = client.post("/compare/ticked/", {"run": ticked, "csrfmiddlewaretoken": "x"})
    assert many.status_code == 302 and len(many["Location"]) < LONG_ADDRESS


def test_a_long_address_leads_to_a_short_one_that_says_the_same_and_no_link_of_its_page_names_all_runs(client):
    runs = [*make_repeats("SQLite 3.53", range(1, 41)), *make_repeats("MySQL 5.0", range(1, 41))]
    named = "&".join(f"run={run.id}" for run in runs)
    response = client.get(f"/compare/?{named}&set=dbms%3Dsqlite-3-53&view=bars&baseline=x&metric=tps&metric=load_s")

    address = response["Location"]
    assert re.fullmatch(
        r"/compare/\?set=s%3D[a-z2-7]{12}&set=dbms%3Dsqlite-3-53&view=bars&baseline=x&metric=tps&metric=load_s", address
    )
    assert client.get(f"/compare/?{named}")["Location"] in f"/compare/?{unquote(address).partition('set=')[2]}"

    html = page(client, client.get(f"/compare/?{named}")["Location"])
    addresses = re.findall(r'(?:href|src|action|hx-get|value)="([^"]*)"|src=&quot;([^"]*)&quot;', html)
    assert not [given for given in addresses if "".join(given).count("run=") > 2]
    assert len(html) < 300_000


def test_exports_and_frames_answer_a_long_address_as_it_is(client):
    runs = make_repeats("SQLite 3.53", range(1, 61))
    named = "&".join(f"run={run.id}" for run in runs)
    short = client.get(f"/compare/?{named}")["Location"].partition("?")[2]
    StoredSelection.objects.all().delete()
    asked = ("/compare/?format=json&", "/compare.csv?", "/embed/compare/?", "/api/v1/compare/?")

    long = [client.get(f"{path}{named}") for path in asked]
    assert [answer.status_code for answer in long] == [200] * 4
    assert not StoredSelection.objects.exists()

    client.get(f"/compare/?{named}")
    for answer, path in zip(long, asked, strict=True):
        there = client.get(f"{path}{short}").content
        assert there == answer.content or (b"embed" in path.encode() and len(there) < len(answer.content))


@pytest.mark.parametrize("path", ["/compare.csv", "/embed/compare/"])
def test_what_is_not_understood_is_named_without_a_page_around_it(client, path):
    """Was, in a frame: "the runs are not public, or none is chosen"."""
    make_run("SQLite 3.53", 5)
    answer = client.get(f"{path}?dbms=sqlite&teme=dark")
    assert (answer.status_code, "teme: there is no such filter" in answer.content.decode()) == (400, True)


def test_the_tray_hears_which_runs_a_short_id_compares_and_nothing_of_hidden_ones(client, contributor):
    shown = make_repeats("SQLite 3.53", range(1, 41))
    hidden = make_repeats("MySQL 5.0", range(1, 31), visibility="private", owner=contributor)
    named = "&".join(f"run={run.id}" for run in [*shown, *hidden])

    html = page(client, client.get(f"/compare/?{named}")["Location"])

    told = re.search(r'data-compared="([^"]*)"', html)
    assert told and sorted(told[1].split()) == sorted(str(run.id)[-12:] for run in shown)
    assert not [run for run in hidden if str(run.id)[-12:] in html]


def test_a_report_keeps_the_short_id_of_a_stranger(client, contributor):
    runs = make_repeats("SQLite 3.53", range(1, 61))
    short = client.get("/compare/?" + "&".join(f"run={run.id}" for run in runs))["Location"].partition("?")[2]
    assert not StoredSelection.objects.get().kept
    client.force_login(contributor)
    client.post("/reports/new/", {"title": "Sixty", "query": short, "visibility": "public", "note": ""})
    assert StoredSelection.objects.get().kept and Report.objects.get().query.startswith(short)


def test_what_is_no_selection_is_not_stored(client, viewer):
    client.force_login(viewer)
    client.post("/compare/ticked/", {"run": ["x" * 3000]})
    client.get("/compare/?run=" + "x" * 3000)
    assert not StoredSelection.objects.exists()


def test_a_choice_is_saved_without_words_and_read_as_a_list_again(client, contributor):
    make_run("SQLite 3.53", 1)
    client.force_login(contributor)
    saving = re.search(r'href="(/reports/new/[^"]*)"', page(client, "/runs/?dbms=sqlite-3-53&ordering=-value"))
    kept = unescape(saving[1]).partition("?")[2]
    client.post("/reports/new/", {"title": "SQLite", "query": kept, "visibility": "public", "note": ""})
    assert 'href="/runs/?dbms=sqlite-3-53"' in page(client, "/reports/sqlite/")
    assert "/reports/new/" not in page(client, "/runs/")


@pytest.mark.parametrize(("labels", "words"), [(("spring", "spring"), "batch spring"), (("one", "two"), "batch 20")])
def test_a_batch_that_nobody_named_is_called_as_its_runs_are(client, labels, words):
    """Seen: "batch 2026-11-26 13:30" above the runs of a sweep whose documents all said "spring comparison"."""
    for scale, label in enumerate(labels):
        make_run("PostgreSQL 18.1", 5, factors={"scale_factor": scale}, label=label)
    assert re.search(rf"<a [^>]*>{words}", page(client, f"/compare/?batch={TOGETHER}"))


def test_labels_that_would_be_cut_to_the_same_are_not_cut():
    """Was: "…GB, wal_compression=off" eighteen times."""
    names = [
        f"PostgreSQL: shared_buffers={buffers}, max_wal_size={wal}, wal_compression={packed}, random_page_cost=1.1"
        for buffers in ("128MB", "4GB", "16GB") for wal in ("1GB", "64GB") for packed in ("off", "on")
    ]  # fmt: skip
    shown = cut_apart(names)
    assert len(set(shown)) == len(names)
    assert cut_apart(["a" * 200, "b"]) == [f"{'a' * 59}…", "b"]
