from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext

from agents import tasks
from runs import results
from runs.history import alerts, filing
from runs.history.causes import around
from runs.history.overview import Row
from runs.history.watching import BenchmarkSeries, watch
from runs.history.words import change_words
from runs.models import Alert, Benchmark, Change, ChangePoint, TellingRule
from runs.models.choices import AlertState, ChangeKind
from runs.telling import messages
from tests.runs.history.nights import DISK, file, night, nights, with_latency

pytestmark = pytest.mark.django_db
STEP = 14


def with_step(level: float, *, last: int = 22, **changes):
    """Nights 1 to `last` of 22, the step at `STEP`."""
    return [*nights(range(1, min(STEP, last + 1)), **changes), *nights(range(STEP, last + 1), level=level, **changes)]


@pytest.mark.parametrize(("level", "side"), [(0.94, "worse"), (1.06, "better")])
def test_a_batch_off_the_band_is_a_suspicion_until_three_in_a_row_confirm_it(contributor, level, side):
    file(with_step(level, last=STEP), contributor, at_once=STEP)
    point = ChangePoint.objects.get(state="suspected")
    assert point.alert.state == "new"
    file(nights([STEP + 1], level=level), contributor)
    assert not ChangePoint.objects.filter(state="confirmed").exists()
    file(nights([STEP + 2], level=level), contributor)
    point.refresh_from_db()
    assert (point.state, point.side, point.at.commit) == ("confirmed", side, f"{STEP:040x}")
    assert point.alert.state == "confirmed"
    assert point.change["value"] == pytest.approx(level - 1, abs=0.02)


def test_a_metric_beside_the_main_one_is_watched_and_has_alerts_of_its_own(contributor):
    """Was: 25 % of p99 latency were told nowhere, as the rate had not moved."""
    slower = [with_latency(night(number), 1.25) for number in range(STEP, 23)]
    file([*map(with_latency, nights(range(1, STEP))), *slower], contributor, at_once=4)
    main, beside = Benchmark.objects.order_by("is_beside")
    assert (main.metric.name, beside.metric.name) == ("tps", "latency_p99_ms")
    assert beside.name == f"{main.name}, p99 latency"
    point = ChangePoint.objects.get()
    assert (point.benchmark, point.side, point.at.commit) == (beside, "worse", f"{STEP:040x}")
    assert (point.alert.state, point.change["value"]) == ("confirmed", pytest.approx(0.25))
    assert alerts.title(point.alert).startswith(f"{beside.name} on alpha since")
    assert filing.keep_up() == 0


def test_one_bad_night_is_refuted_by_the_next_ones_and_closes_its_alert(contributor):
    file([*nights(range(1, STEP)), night(STEP, level=0.9), *nights(range(STEP + 1, 19))], contributor, at_once=STEP)
    assert {point.state for point in ChangePoint.objects.filter(at__commit=f"{STEP:040x}")} == {"refuted"}
    alert = Alert.objects.get(changes__at__commit=f"{STEP:040x}")
    assert (alert.state, Change.objects.filter(target_type="alert", target_id=str(alert.pk))[0].by) == ("noise", None)


def test_what_somebody_has_only_seen_is_closed_by_itself_where_it_proves_to_be_none(contributor):
    """Was: an acknowledged alert of nothing stood in the inbox for good."""
    file([*nights(range(1, STEP)), night(STEP, level=0.9)], contributor, at_once=STEP)
    assert alerts.move(Alert.objects.get(), "acknowledged", by=contributor)
    file(nights(range(STEP + 1, 19)), contributor, at_once=STEP)
    assert Alert.objects.get().state == "noise"


def test_a_step_three_nights_after_a_bad_one_is_suspected_and_confirmed_as_any_other(contributor):
    """Was: no suspicion so near to one that had proved to be none."""
    levels = {STEP: 0.9} | dict.fromkeys(range(STEP + 3, 23), 0.9)
    file([night(number, level=levels.get(number, 1.0)) for number in range(1, STEP + 3)], contributor, at_once=STEP)
    file([night(STEP + 3, level=0.9)], contributor)
    states = dict(ChangePoint.objects.values_list("at__commit", "state"))
    assert states == {f"{STEP:040x}": "refuted", f"{STEP + 3:040x}": "suspected"}
    file([night(number, level=0.9) for number in range(STEP + 4, STEP + 7)], contributor)
    point = ChangePoint.objects.get(state="confirmed")
    assert (point.at.commit, point.alert.state) == (f"{STEP + 3:040x}", "confirmed")
    assert [alert.state for alert in Alert.objects.exclude(pk=point.alert.pk)] == ["noise"]


@pytest.mark.parametrize(("later", "open_alerts", "at_once"), [(1, 0, 1), (3, 1, 1), (3, 1, 100)])
def test_a_rejected_suspicion_stays_rejected_where_it_lasts_and_hides_no_step_after_it(
    contributor, later, open_alerts, at_once
):
    """Was: what came within three batches of it was never told, and its level not known; then not where the nights of
    a machine that had been away came at once.
    """
    file(with_step(0.9, last=STEP), contributor, at_once=STEP)
    assert alerts.move(Alert.objects.get(), "noise", by=contributor)
    between = nights(range(STEP + 1, STEP + later))
    file([*between, *nights(range(STEP + later, 23), level=0.9)], contributor, at_once=at_once)
    assert Alert.objects.filter(state="confirmed").count() == open_alerts
    point = ChangePoint.objects.get(state="confirmed")
    assert point.at.commit == f"{STEP + (later if open_alerts else 0):040x}"
    assert not Alert.objects.filter(state="new").exists()


def test_what_a_person_said_stays_where_further_batches_say_no_and_then_yes(contributor):
    """Was: the alert was confirmed again over their word."""
    file(with_step(0.9, last=STEP), contributor, at_once=STEP)
    point = ChangePoint.objects.get()
    alerts.move(point.alert, "noise", by=contributor)
    point.state = "confirmed"
    alerts.attach(point, list(point.benchmark.series.in_order()), was_refuted=True)
    assert Alert.objects.get().state == "noise"


def test_other_branches_and_what_is_past_alarm_nobody(contributor):
    file(with_step(0.9, tested={"branch": "wal"}), contributor, at_once=22)
    assert not ChangePoint.objects.exists()
    file(with_step(0.9, of=80), contributor, at_once=22)
    assert ChangePoint.objects.filter(state="confirmed").count() == 1
    assert not Alert.objects.exists()


def test_changes_at_one_place_of_one_machine_are_one_alert(contributor):
    documents = [
        document
        for workload in ("a", "b", "c")
        for document in with_step(1.0 if workload == "c" else 0.9, workload={"slug": workload, "name": workload})
    ]
    file(documents, contributor, at_once=22)
    (title,) = [alerts.title(alert) for alert in Alert.objects.filter(state="confirmed")]
    assert title.startswith("2 of 3 benchmarks on alpha since 2")


def test_a_rejected_change_stays_rejected_when_the_series_grows(contributor):
    file(with_step(0.94, last=19), contributor, at_once=19)
    alert = Alert.objects.get(state="confirmed")
    assert alerts.move(alert, "noise", by=contributor, reason="the rack was moved")
    file(nights([20, 21, 22], level=0.94), contributor)
    assert not Alert.objects.exclude(state="noise").exists()


def test_a_change_moves_the_baseline_where_it_is_confirmed_or_expected_and_not_where_it_is_noise(contributor):
    def baseline_from() -> int:
        return BenchmarkSeries.of(Benchmark.objects.get()).baseline_from

    file(with_step(0.9, last=STEP + 1), contributor, at_once=STEP + 1)
    assert baseline_from() == 0
    alerts.move(Alert.objects.get(), "expected", by=contributor)
    assert baseline_from() == STEP - 1
    alerts.move(Alert.objects.get(), "confirmed", by=contributor)
    file(nights(range(STEP + 2, 23), level=0.9), contributor)
    assert baseline_from() == STEP - 1
    alerts.move(Alert.objects.get(), "noise", by=contributor)
    assert baseline_from() == 0


def test_a_back_dated_batch_falls_into_its_place_and_changes_nothing(contributor):
    rest = [document for document in with_step(0.94) if document["tested"]["commit"] != f"{10:040x}"]
    file(rest, contributor, at_once=22)
    before = list(ChangePoint.objects.values_list("pk", "state", "at"))
    file([night(10)], contributor)
    assert list(ChangePoint.objects.values_list("pk", "state", "at")) == before
    assert [row.commit for row in Benchmark.objects.get().series.in_order()][9] == f"{10:040x}"


def test_a_step_that_batches_which_come_late_show_elsewhere_is_refuted_with_its_alert(contributor):
    first = [*nights(range(1, 12)), night(12, level=0.95), *nights(range(17, 23), level=0.93)]
    file(first, contributor, at_once=20)
    (misplaced,) = ChangePoint.objects.filter(state="confirmed")
    assert (misplaced.at.commit, misplaced.alert.state) == (f"{12:040x}", "confirmed")
    file([*nights(range(13, 17))], contributor, at_once=4)
    file([*nights(range(17, 23), level=0.93, tested={"build": "again"})], contributor, at_once=6)
    misplaced.refresh_from_db()
    assert (misplaced.state, misplaced.alert.state) == ("refuted", "noise")
    (placed,) = ChangePoint.objects.filter(state="confirmed")
    assert placed.at.commit == f"{17:040x}"


def test_a_private_run_changes_nothing_that_others_see(contributor, operator):
    file(with_step(1.0), contributor, at_once=22)
    before = Benchmark.objects.values().get()
    file(
        [*nights(range(1, 14), level=3, visibility="private"), *nights(range(14, 23), level=2, visibility="private")],
        operator,
        at_once=22,
    )
    assert Benchmark.objects.filter(owner=None).values().get() == before
    assert not Alert.objects.listed_for(contributor).exclude(state="noise").exists()
    assert Alert.objects.listed_for(operator).filter(state="confirmed").count() == 1


def test_noise_that_grows_is_a_change_of_its_own_kind(contributor):
    documents = [night(number, noise=0.004 if number < 12 else 0.04) for number in range(1, 23)]
    file(documents, contributor, at_once=22)
    (point,) = ChangePoint.objects.filter(kind="noise")
    assert (point.side, abs(BenchmarkSeries.of(point.benchmark).index[point.at_id] - 11) <= 3) == ("worse", True)
    assert Benchmark.objects.get().moved < 0.5  # its level has not
    ((_, words),) = Row(point.benchmark, None, None, point).last_changes
    assert "%" not in words, "told as on its page: 4.4 times"


def test_a_machine_that_becomes_noisier_is_one_alert_though_a_batch_between_hides_since_when(contributor):
    for slug, between in (("one", 0.018), ("other", 0.01)):
        named = {"workload": {"slug": slug, "name": slug, "version": "1", "kind": ""}}
        noise = [0.01] * 11 + [between] + [0.025] * 12
        file([night(at, of=24, noise=each, **named) for at, each in enumerate(noise, 1)], contributor, at_once=24)
    places = {point.at.measured_at for point in ChangePoint.objects.filter(kind="noise")}
    assert (len(places), Alert.objects.filter(changes__kind="noise").distinct().count()) == (2, 1)


def test_a_slow_drift_is_told_from_a_step(contributor):
    documents = [night(number, level=1 - 0.001 * number, of=40, noise=0.006) for number in range(1, 41)]
    file(documents, contributor, at_once=40)
    assert set(ChangePoint.objects.filter(state="confirmed").values_list("kind", flat=True)) == {"drift"}


def test_a_drift_is_measured_while_it_goes_on_and_wakes_people_though_it_began_long_ago(contributor):
    levels = [1 - 0.003 * number for number in range(50)]
    file([night(number, level=level, of=50) for number, level in enumerate(levels, 1)], contributor, at_once=35)
    point = ChangePoint.objects.get(state="confirmed")
    assert (point.kind, point.batches_after) == ("drift", 50)
    assert point.change["value"] == pytest.approx(levels[-1] - 1, abs=0.02)
    assert point.benchmark.moved == abs(point.change["value"])
    assert "the 0 batches" not in change_words(point)
    assert (point.alert.state, alerts.title(point.alert)[-12:]) == (AlertState.CONFIRMED, "slowly worse")
    assert [row.commit for side in around(point, 1) for row in side] == [f"{1:040x}", f"{50:040x}"]


def falling(first: int, last: int, *, share: float = 0.003):
    """Nights of which each loses such a share from the 31st on, the last of 60 yesterday."""
    levels = [(number, 1 - share * max(0, number - 30)) for number in range(first, last + 1)]
    return [night(number, level=level, of=60) for number, level in levels]


def test_steps_that_prove_to_be_part_of_a_drift_become_it_and_the_alert_says_so(contributor):
    """Was: steps for good, one after the other, which hid the drift."""
    file(falling(1, 50, share=0.005), contributor, at_once=10)
    first, *others = ChangePoint.objects.filter(state="confirmed").order_by("pk")
    assert {(step.kind, step.alert.state) for step in (first, *others)} == {("step", "confirmed")}
    file(falling(51, 60, share=0.005), contributor, at_once=10)
    drift = ChangePoint.objects.get(state="confirmed")
    assert (drift.pk, drift.kind, drift.alert) == (first.pk, "drift", first.alert)
    assert drift.change["value"] == pytest.approx(-0.15, abs=0.05)
    assert "the 0 batches" not in change_words(drift)
    (noted,) = Change.objects.filter(target_id=str(drift.alert.pk), field="kind")
    assert (noted.old, noted.new, noted.reason) == ("step", "drift", alerts.PART_OF_A_DRIFT)
    assert (drift.alert.state, alerts.title(drift.alert)[-12:]) == ("confirmed", "slowly worse")
    assert {Alert.objects.get(changes=step).state for step in others} == {"noise"}


def test_a_step_that_people_have_judged_stays_one_beside_the_drift(contributor):
    file(falling(1, 50, share=0.005), contributor, at_once=10)
    alert = ChangePoint.objects.filter(state="confirmed").order_by("pk")[0].alert
    alerts.move(alert, "expected", by=contributor)
    file(falling(51, 60, share=0.005), contributor, at_once=10)
    kinds = dict(ChangePoint.objects.filter(state="confirmed").values_list("kind", "alert__state"))
    assert kinds == {"step": "expected", "drift": "confirmed"}


def test_a_rise_after_six_batches_is_told_by_the_next_three(client, contributor):
    """Was: not before six more, as seven batches were needed."""
    file([*nights(range(1, 7), of=9), *nights(range(7, 10), of=9, level=1.1)], contributor)
    (point,) = ChangePoint.objects.filter(state="confirmed")
    assert (point.at.commit, point.side, point.batches_before, point.batches_after) == (f"{7:040x}", "better", 6, 3)
    context = client.get(point.benchmark.get_absolute_url()).context
    assert [change for change, _ in context["changes"]] == [point]


def test_it_files_what_was_stored_before_there_were_benchmarks(contributor):
    file(nights(range(1, 6)), contributor)
    Benchmark.objects.all().delete()
    from runs.models import Batch

    Batch.objects.update(is_filed=False)
    assert filing.keep_up() == 5
    assert Benchmark.objects.get().batches == 5
    assert filing.keep_up() == 0


def test_a_move_of_an_alert_is_noted_once_with_who_made_it(contributor):
    file(with_step(0.9), contributor, at_once=22)
    alert = Alert.objects.get(state="confirmed")
    stale = Alert.objects.get(pk=alert.pk)
    assert alerts.move(alert, "acknowledged", by=contributor, reason="mine")
    assert not alerts.move(stale, "noise", by=contributor)
    note = Change.objects.filter(target_type="alert", target_id=str(alert.pk)).first()
    assert (note.old, note.new, note.by, note.reason) == ("confirmed", "acknowledged", contributor, "mine")
    assert alerts.move(alert, "fixed", by=contributor, fixed_by="commit abc")
    assert alerts.move(alert, "confirmed", by=contributor)  # it came back
    told = Change.objects.filter(target_type="alert", target_id=str(alert.pk))
    assert "commit abc" in [change.new for change in told]
    assert alert.state_changed_at - alert.created_at < timedelta(minutes=5)


def test_a_series_knows_its_versions_without_asking_for_each(contributor, django_assert_num_queries):
    file(nights(range(1, 6)), contributor, at_once=5)
    benchmark = Benchmark.objects.get()
    with django_assert_num_queries(2):
        assert {row.version.name for row in BenchmarkSeries.of(benchmark).rows} == {"PostgreSQL 18.1"}


def test_an_update_asks_as_often_of_a_long_series_and_reads_of_its_batches_only_what_it_judges(contributor):
    """Was: the versions and the runs of 100 batches were read with each upload, a third of its time."""
    asked = []
    for number in (6, 20):
        file(nights(range(number - 5, number), noise=0.001), contributor, at_once=5)
        results.store_uploads(documents=[night(number, noise=0.001)], owner=contributor)
        with CaptureQueriesContext(connection) as queries:
            filing.keep_up()
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 24
    of_series = [each["sql"] for each in queries if 'FROM "runs_seriesbatch"' in each["sql"]]
    assert not any("runs_dbmsversion" in sql for sql in of_series)
    benchmark = Benchmark.objects.get()
    assert (benchmark.batches, benchmark.hardware.name, len(benchmark.recent)) == (12, "alpha", 12)


def test_what_others_change_of_a_benchmark_while_it_is_looked_at_stays(contributor):
    file(nights([1, 2]), contributor)
    held = Benchmark.objects.select_related("metric").get()
    Benchmark.objects.update(name="said meanwhile")
    watch(held)
    assert Benchmark.objects.get().name == "said meanwhile"


def test_an_alert_begins_where_further_batches_place_its_change(contributor):
    file(with_step(0.9, last=STEP + 1), contributor, at_once=STEP + 1)
    point = ChangePoint.objects.get(state="suspected")
    rows = list(point.benchmark.series.in_order())
    alerts.attach(point, rows)
    point.at = rows[STEP - 3]  # two nights earlier
    alerts.attach(point, rows)
    point.alert.refresh_from_db()
    assert point.alert.since == rows[STEP - 3].measured_at


def test_a_step_that_only_later_batches_before_it_explain_is_taken_back(contributor):
    """The night from which on it was slower comes last of all."""
    documents = with_step(0.93, last=26, of=26)
    late = documents[STEP - 1 : STEP + 5]
    file([document for document in documents if document not in late], contributor, at_once=8)
    placed = ChangePoint.objects.get(state="confirmed")
    file(late, contributor)
    placed.refresh_from_db()
    standing = ChangePoint.objects.get(state="confirmed")
    assert (standing.at.commit, standing.change["value"]) == (f"{STEP:040x}", pytest.approx(-0.07, abs=0.02))


def test_what_was_fixed_again_is_told_to_have_ended_everywhere_alike(client, contributor, operator):
    slow = range(STEP, STEP + 6)
    documents = [night(number, of=26, level=0.92 if number in slow else 1.0) for number in range(1, 27)]
    file(documents, contributor)
    first, second = sorted(ChangePoint.objects.filter(state="confirmed"), key=lambda point: point.at.place)
    assert first.alert is not None
    assert alerts.ends_of([first, second]) == {first.pk: second.at.measured_at}
    assert f"{second.at.measured_at:%Y-%m-%d}" in alerts.title(first.alert)
    words = change_words(first, is_last=False)
    told = client.get(f"/api/v1/benchmarks/{first.benchmark_id}/").json()["changes"]
    assert words in [each["words"] for each in told]
    alert = client.get(f"/api/v1/alerts/{first.alert_id}/").json()
    assert ([each["words"] for each in alert["changes"]], alert["title"]) == ([words], alerts.title(first.alert))
    rule = TellingRule(owner=operator, name="all", site_url="http://site")
    assert [each.words for each in messages.AlertMessage.of(first.alert, rule).changes] == [words]
    for page in (first.benchmark.get_absolute_url(), first.alert.get_absolute_url(), "/alerts/feed/"):
        assert words in client.get(page).content.decode(), page


def test_the_list_of_benchmarks_counts_the_alerts_that_the_inbox_shows(client, contributor):
    file(with_step(0.94, last=STEP), contributor, at_once=STEP)
    assert client.get("/benchmarks/").context["alerts_open"] == len(client.get("/alerts/").context["rows"]) == 1


def test_a_closed_alert_that_comes_back_and_the_new_one_name_each_other(client, contributor):
    """Was: neither led to the other."""
    lost = [*range(10, 17), *range(24, 29)]
    file([night(at, of=29, level=0.9 if at in lost else 1.0) for at in range(1, 29)], contributor, at_once=28)
    first, back, again = (point.alert for point in ChangePoint.objects.filter(state="confirmed").order_by("at"))
    assert alerts.told_again(again) == ([], []), "while the first is open"
    alerts.move(first, AlertState.FIXED, by=contributor, fixed_by="abc")
    pages = [client.get(each.get_absolute_url()).text for each in (first, back, again)]
    links = [first.get_absolute_url() in pages[2], again.get_absolute_url() in pages[0]]
    assert (links, again.get_absolute_url() in pages[1]) == ([True, True], False)
    client.force_login(contributor)
    of_api = client.get(f"/api/v1/alerts/{again.pk}/").json()
    assert ([each["id"] for each in of_api["told_before"]], of_api["came_again"]) == ([str(first.pk)], [])


def test_an_alert_says_of_what_proved_to_be_none_that_it_did(client, contributor):
    """Was: beta's suspicion stood there as alpha's step does."""
    file(with_step(0.9), contributor, at_once=22)
    beta = {"name": "beta", "storage": [DISK]}
    file(nights(range(1, 22), hardware=beta), contributor, at_once=22)
    alert = Alert.objects.get()
    row = Benchmark.objects.get(hardware__name="beta").series.newest_first()[0]
    ChangePoint.objects.create(
        benchmark=row.benchmark, at=row, alert=alert, state="refuted", side="worse", change={"value": -0.1}
    )
    told = client.get(alert.get_absolute_url()).context["changes"]
    assert [words.startswith("Not confirmed: throughput") for _, words in told] == [False, True]
    of_api = client.get("/api/v1/alerts/").json()["results"][0]["changes"]
    assert {each["words"][:13]: each["state"] for each in of_api}["Not confirmed"] == "refuted"


def test_how_good_suspicions_were_is_said_without_what_there_was_none_of():
    """Was: "0 of them rejected by people", "0 wait for further batches; found within a day (median)"."""
    told = render_to_string("alerts/_quality.html", {"quality": alerts.Quality(90, 3, 2, 0, 1, 0, 0.4)})
    assert "Suspicions of the last 90 days: 3. Confirmed by further batches: 2. Not confirmed: 1. Half" in told
    assert "within a day after their first batch came" in told and " 0" not in told
    told = render_to_string("alerts/_quality.html", {"quality": alerts.Quality(90, 5, 2, 1, 1, 1, None)})
    assert "people rejected 1" in told and "taken back by later batches: 1. Waiting for further batches: 1." in told


def test_what_is_filed_and_was_not_looked_at_is_looked_at_within_the_hour(contributor, monkeypatch):
    """Of many batches the worker looks at their series last; a kill in between left a loss untold until the next."""
    monkeypatch.setattr(filing, "watch", lambda benchmark: None)
    file([*nights(range(1, 15)), *nights(range(15, 23), level=0.8)], contributor, at_once=22)
    monkeypatch.undo()
    assert not ChangePoint.objects.exists()
    tasks.tidy_up()
    assert [point.side for point in ChangePoint.objects.filter(kind=ChangeKind.STEP)] == ["worse"]
