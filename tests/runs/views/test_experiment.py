"""The page of an experiment: its matrix, filling up."""

from __future__ import annotations

import re
from html import unescape
from itertools import product

import pytest
from django.http import QueryDict
from django.utils import timezone
from django.utils.html import escape

from benchsite.management.commands.experiments import labels
from runs.charts.base import Multiples
from runs.charts.experiment import curves, overview
from runs.compare.compare import compare
from runs.models import Experiment, Run, StorageDevice
from tests.runs.cells import add_number, all_runs, machine, make_run
from tests.runs.pages import page

MB = 1_000_000
pytestmark = pytest.mark.django_db

URL = "/experiments/two-engines/"


@pytest.fixture
def experiment(db) -> Experiment:
    experiment = Experiment.objects.create(slug="two-engines", name="Two engines", note="Why it was made.")
    states = [("finished", 100), ("finished", 200), ("failed", 7), ("measuring", None), ("queued", None)]
    for place, (state, value) in enumerate(states, start=1):
        make_run(
            ("Derby 10.6", "H2 2.4")[place % 2], value, experiment=experiment, state=state, order_index=place,
            repeat=(place + 1) // 2, message="The disk is full" if state == "failed" else "",
        )  # fmt: skip
    return experiment


def test_it_shows_each_run_with_its_state_or_value(client, experiment):
    html = page(client, URL)
    for run in experiment.runs.all():
        assert f'data-run="{run.id}"' in html
    for state in ("failed", "measuring", "queued"):
        assert f'data-state="{state}"' in html
    assert 'title="The disk is full"' in html
    assert "Why it was made." in html


def test_a_cell_of_fewer_repeats_has_its_durability_in_its_column(client, db):
    """Seen: "survives power loss" beneath "Repeat 5" of a cell of four, where another was repeated six times."""
    uneven = Experiment.objects.create(slug="uneven", name="Uneven")
    for repeat, system in enumerate(("Derby 10.6", "H2 2.4", "H2 2.4", "H2 2.4"), start=1):
        make_run(system, 100.0 + repeat, experiment=uneven, repeat=repeat)
    table = page(client, "/experiments/uneven/").partition('class="data matrix"')[2].partition("</table>")[0]
    cells = [len(re.findall(r"<t[dh]\b", row)) for row in table.split("</tr>")[:-1]]
    assert cells == [6, 6, 6]


def test_only_who_may_change_it_is_offered_to_edit_it(client, operator, experiment):
    batch = experiment.runs.first().batch
    assert f'href="/batches/{batch.pk}/">Label, tags, note<' in page(client, URL)
    client.force_login(operator)
    assert f'href="/batches/{batch.pk}/edit/">Edit label, tags, note<' in page(client, URL)


def test_a_failed_runs_number_enters_no_median(client, experiment):
    html = page(client, URL)
    assert 'data-value="100.0"' in html
    assert 'data-value="7.0"' not in html


def test_it_answers_a_poll_only_when_something_has_changed(client, experiment):
    seen = re.search(r"\?seen=(\w+)", page(client, URL))
    assert client.get(f"{URL}?seen={seen[1]}").status_code == 204

    Run.objects.filter(state="queued").update(state="cancelled")
    part = page(client, f"{URL}?seen={seen[1]}")

    assert part.lstrip().startswith('<div class="stack" id="experiment-runs"')
    assert seen[1] not in part
    assert "<html" not in part


def test_what_else_its_runs_answer_is_asked_as_on_a_page_that_compares_them(client, db):
    """Was: of two systems on three numbers of terminals no question at all."""
    swept = Experiment.objects.create(slug="swept", name="Swept")
    for terminals, system in product((1, 4, 8), ("H2 2.4", "Derby 10.6")):
        make_run(system, 100.0 * terminals, experiment=swept, factors={"terminals": terminals})
    asked = re.findall(r'class="chip ask" href="([^"]*)">([^<]*)<', page(client, "/experiments/swept/"))
    compared = re.findall(r'class="chip ask" href="([^"]*)">([^<]*)<', page(client, "/compare/?experiment=swept"))
    assert asked and [words for _, words in asked] == [words for _, words in compared]
    assert {href.partition("&")[0] for href, _ in asked} == {"/compare/?experiment=swept"}
    assert client.get(unescape(asked[0][0])).status_code == 200


def test_a_setting_that_is_not_in_force_as_given_is_named_once(client, experiment):
    """Was: a word in one cell of the table of each run's page."""
    experiment.runs.update(ignored_settings=["journal_mode=WALL given, journal_mode=delete in force"])
    html = page(client, URL)
    assert html.count("Not in force as given: journal_mode=WALL given, journal_mode=delete in force.") == 1


def test_what_is_still_to_come_has_no_empty_panel(client, db):
    swept = Experiment.objects.create(slug="swept", name="Swept")
    for terminals, size in product((1, 8), (1, 10, 100)):
        is_open = {"value": None, "state": "queued"} if terminals == 8 else {"value": 1000 / size}
        factors = {"scale_factor": size, "terminals": terminals}
        make_run("H2 2.4", **is_open, experiment=swept, factors=factors)
    drawn = page(client, "/compare/?experiment=swept&panels=factor:terminals")
    assert drawn.count('data-chart="lines"') == 1


def test_it_stops_polling_when_all_have_ended(client, experiment):
    Run.objects.filter(state__in=["queued", "measuring"]).update(state="cancelled")
    assert "?seen=" not in page(client, URL)


def test_what_it_says_first_names_no_winner_without_a_verdict(client, experiment):
    assert "No winner" not in page(client, URL)  # There are runs to come.
    Run.objects.filter(state__in=["queued", "measuring"]).update(state="cancelled")
    said = (
        "No winner by throughput is named, with fewer than 3 repeats a group: Derby 10.6 (200 TPS) and "
        "H2 2.4 (100 TPS). "
        "Derby 10.6: 1 of 2 repeats has no number: cancelled. "
        "H2 2.4: 2 of 3 repeats have no number: failed: The disk is full; cancelled."
    )
    assert f'<p class="lead" data-answer>{said}</p>' in page(client, URL)


def test_it_warns_of_few_repeats_before_it_says_how_much_was_lost(client, db):
    html = page(client, sweep((3, 6, 9)))
    assert html.index("Fewer than 3 repeats") < html.index('id="tps-curve"')


def test_it_leads_to_compare_and_list(client, experiment):
    html = page(client, URL)
    for url in ("/compare/?experiment=two-engines", "/runs/?experiment=two-engines"):
        assert f'href="{url}"' in html
        assert client.get(url).status_code == 200


def test_it_says_when_its_runs_were_deleted(client, experiment):
    Run.objects.update(deleted_at=experiment.created_at)
    assert "This experiment has no runs" in page(client, URL)


def test_an_unknown_experiment_is_not_found(client, db):
    assert client.get("/experiments/no-such/").status_code == 404


def sweep(sizes: tuple[int, ...], *, asked: bool = False) -> Experiment:
    """Rates that fall with the size, twice as fast on the slow disk. `asked`: queries at the largest only."""
    experiment = Experiment.objects.create(slug="sizes", name="Sizes")
    for place, (warehouses, disk) in enumerate((size, disk) for size in sizes for disk in ("fast", "slow")):
        rate = max(1, 100 - warehouses * (5 if disk == "fast" else 10))
        factors = {"warehouses": warehouses, "disk": disk, "memory_limit_mb": 516}
        if asked and warehouses == max(sizes):
            factors["queries"] = "yes"
        run = make_run("Firebird 3.0", rate, factors=factors, experiment=experiment, order_index=place)
        add_number(run, (warehouses * 86 + (disk == "slow")) * MB, name="db_size_bytes", unit="bytes")
        add_number(run, 8, name="load_mb_per_s", unit="MB/s")
    return experiment


def drawn() -> list[Multiples]:
    return curves(compare(all_runs(), QueryDict("order=best")))


def test_a_sweep_of_sizes_is_drawn_as_curves_with_the_memory_as_a_line(client, db):
    html = page(client, sweep((3, 6, 9)))
    assert 'id="tps-curve"' in html
    assert 'id="load-curve"' in html
    (over_size, load) = drawn()
    assert over_size.title == "Throughput over size of the database"
    assert load.title == "Data load rate over size of the database"
    (spec,) = (figure.spec for figure in over_size.figures)
    assert spec["type"] == "lines"
    assert [one["label"] for one in spec["series"]] == ["fast", "slow"]
    bars = overview(all_runs())["figure"].spec["groups"]
    assert {(name, bar["color"]) for bar in bars for name in ("fast", "slow") if name in bar["label"]} == {
        (one["label"], one["color"]) for one in spec["series"]
    }
    assert spec["series"][1]["points"] == [(259.0, 70.0), (517.0, 40.0), (775.0, 10.0)]
    assert spec["marks"] == [{"axis": "x", "value": 516.0, "label": "memory limit 516 MB"}]
    assert [column.label for column in over_size.table.columns][-2:] == [
        "Against the first level", "Against the level before",
    ]  # fmt: skip
    assert [cell.text for cell in over_size.table.rows[4]][-2:] == ["−42.9\u202f%", "−42.9\u202f%"]
    fast, slow = (curve.sentences for curve in over_size.curve_words)
    assert fast[:2] == [
        "−35.3\u202f% from 258 to 774 MB.",
        "−23.4\u202f% per doubling (−63.0 to +58.8), one fit over 3 levels.",
    ]
    assert slow[:2] == ["−85.7\u202f% from 259 to 775 MB.", "3 levels are not enough to tell the change per doubling."]
    assert all(escape(sentence) in html for sentence in (*fast, *slow, over_size.words_note))


def test_a_factor_that_follows_from_the_size_cuts_no_curve_and_a_wide_range_has_a_log_axis(client, db):
    sweep((1, 3, 9, 18), asked=True)
    (over_size, _) = drawn()
    (spec,) = (figure.spec for figure in over_size.figures)
    assert spec["type"] == "lines"
    assert [(one["label"], len(one["points"])) for one in spec["series"]] == [("fast", 4), ("slow", 4)]
    assert spec["x"]["scale"] == "log"


def test_a_storage_that_was_loaded_once_says_nothing_of_sizes(client, db):
    experiment = sweep((3, 6, 9))
    slow = Run.objects.filter(experiment=experiment, factors__name="disk", factors__text="slow")
    for run in slow.exclude(factors__name="warehouses", factors__number=3):
        run.measurements.filter(metric__name="load_mb_per_s").delete()
    (_, load) = drawn()
    (spec,) = (figure.spec for figure in load.figures)
    assert spec["type"] == "lines"
    assert [(one["label"], [y for _, y in one["points"]]) for one in spec["series"]] == [
        ("fast", [8, 8, 8]), ("slow", [8, None, None]),
    ]  # fmt: skip
    assert [curve.series for curve in load.curve_words] == ["fast"]


def test_two_sizes_make_no_curve(client, db):
    sweep((3, 6))
    assert drawn() == []


def test_the_storage_that_needs_no_name_has_words(client, db):
    experiment = Experiment.objects.create(slug="two-disks", name="Two disks")
    for place in ("", "slow"):
        make_run("Firebird 3.0", 7, factors={"data_storage": place}, experiment=experiment)
    assert "agent&#x27;s own storage" in page(client, experiment)


def gbak() -> Experiment:
    """Four methods as an agent stores them, the last onto an emulated disk."""
    experiment = Experiment.objects.create(slug="gbak", name="gbak by four methods")
    device = StorageDevice.objects.create(hardware=machine(), name="slow disk", emulated=True)
    for place, method in enumerate(("gbak_tcp", "gbak_local", "gbak_services", "gbak_services_same")):
        target = "" if method == "gbak_services_same" else "slow"
        factors = {"dataset_mb": 950, "data_origin": "restored", "verbose": "off", "method": method}
        run = make_run(
            "Firebird 3.0", 100 + place, factors={**factors, "backup_storage": target},
            experiment=experiment, order_index=place,
        )  # fmt: skip
        if target:
            run.storage.create(role="backup", device=device)
    return experiment


def test_people_read_words_where_a_run_stores_slugs(client, db):
    html = page(client, gbak())
    shown = re.sub(r"<script.*?</script>|<[^>]*>", " ", html, flags=re.DOTALL)
    assert not re.findall(r"\w+_\w+", shown)
    for words in ("gbak, Services API, same disk", "restored copy", "-v off", "slow (emulated)", "agent's own storage"):
        assert words in unescape(shown)


def test_charts_are_labelled_with_words_and_keep_their_keys(db):
    gbak()
    groups = compare(all_runs()).groups
    assert [group.label for group in groups] == [
        "gbak over TCP", "gbak, local", "gbak, Services API", "gbak, Services API, same disk",
    ]  # fmt: skip
    assert [group.key for group in groups] == ["gbak_tcp", "gbak_local", "gbak_services", "gbak_services_same"]
    assert groups[0].factors["Backup method"] == "gbak_tcp"


def test_the_command_names_the_engine_and_what_its_experiment_varies(db):
    experiment = gbak()
    run = experiment.runs.get(factors__text="gbak_tcp")
    found = labels(compare(all_runs()))[run.pk]
    assert found == "Firebird 3.0 · gbak over TCP · backup on slow (emulated)"


def test_the_list_tells_of_each_its_state_who_and_how_many_runs(client, operator, experiment):
    Experiment.objects.filter(pk=experiment.pk).update(created_by=operator)
    done = Experiment.objects.create(slug="done", name="All done")
    for state in ("finished", "finished", "cancelled"):
        make_run("H2 2.4", 100, experiment=done, state=state)
    Experiment.objects.create(slug="hidden", name="Hidden one", visibility="private")
    html = page(client, "/experiments/")
    first, second = (re.sub(r"\s+", " ", row) for row in html.split("<tbody>")[1].split("</tr>")[:2])
    assert 'href="/experiments/done/"' in first and ">Cancelled in part<" in first
    assert "2 finished, 1 cancelled" in first
    assert 'data-state="measuring"' in second and "of olga-operator" in second
    assert "1 queued, 1 measuring, 2 finished, 1 failed" in second
    assert "Hidden one" not in html


def test_the_list_does_without_what_was_deleted_and_is_never_bare(client, experiment):
    nothing = Experiment.objects.create(slug="nothing", name="None could be run")
    assert str(nothing) in page(client, "/experiments/"), "gaps are told on its page"
    nothing.delete()
    experiment.runs.update(deleted_at=timezone.now())
    assert "<h2>No experiments yet</h2>" in page(client, "/experiments/")


@pytest.mark.parametrize("url", ["/", "/queue/", "/agents/", URL])
def test_the_list_is_led_to_from_where_people_look(client, experiment, url):
    assert 'href="/experiments/"' in page(client, url)


def test_a_disturbed_repeat_is_named_in_the_matrix(client, experiment):
    """Was: a warning said that some group was disturbed, and no repeat of it was marked."""
    run = experiment.runs.filter(state="finished").first()
    run.checks = [{"name": "machine_alone", "ok": False, "detail": "Others took 3 of 8 cores."}]
    run.save()
    (cell,) = (cell for cell in page(client, URL).split("<td") if f'data-run="{run.pk}"' in cell)
    assert 'data-doubt="disturbed" title="Others took 3 of 8 cores."' in cell
