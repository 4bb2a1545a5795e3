"""Pages of benchmarks of which one moved, filed once for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from runs.history import alerts
from runs.models import Alert, Benchmark, ChangePoint, Run, User
from tests.runs.history.nights import DISK, file, measured, night, nights

pytestmark = pytest.mark.django_db
STEP, LAST = 14, 20


@pytest.fixture(scope="module")
def nights_of_two(kept) -> Iterator[None]:
    """Two benchmarks of which one moved, with a new kernel and more CPU, and a branch of it."""
    newer = {"name": "alpha", "kernel": "6.12", "cpu_model": "EPYC", "storage": [{"name": "nvme0", "medium": "nvme"}]}
    older = newer | {"kernel": "6.1"}
    still = nights(range(1, LAST + 1), hardware=older, workload={"slug": "still", "name": "Still"})
    before = nights(range(1, STEP), hardware=older)
    after = nights(range(STEP, LAST + 1), level=0.9, hardware=newer)
    for document, percent in (*((each, 40) for each in before), *((each, 60) for each in after)):
        for number, repeat in enumerate(document["repeats"]):
            repeat["metrics"] = {**repeat["metrics"], "cpu_percent": {"value": percent + number, "unit": "%"}}
    branch = nights(range(1, 4), hardware=older, level=1.3, tested={"branch": "wal"})
    with kept():
        sender = User.objects.create_user(username="nightly", role="contributor")
        file([*still, *before, *after, *branch], sender, at_once=100)
        yield


@pytest.fixture
def moved(nights_of_two, db) -> Benchmark:
    return Benchmark.objects.get(workload__slug="oltp", branch="")


def test_the_list_begins_with_what_moved_and_takes_the_filters_of_runs(client, moved):
    page = client.get("/benchmarks/")
    assert [row.benchmark.workload.slug for row in page.context["rows"]] == ["oltp", "still"]
    assert [bool(row.step) for row in page.context["rows"]] == [True, False]
    page = client.get("/benchmarks/?workload=still&factor.terminals=16&than=days:5")
    assert [row.benchmark.workload.slug for row in page.context["rows"]] == ["still"]
    assert client.get("/benchmarks/?factor.terminals=17").context["filtered"]
    assert client.get("/benchmarks/?than=days:4000").status_code == 200
    # Of the newest batches a list holds thirty at hand.
    assert [client.get(f"/benchmarks/?than={than}").status_code for than in ("yesterday", "last:30")] == [400, 400]
    assert client.get("/benchmarks/?nonsense=1").status_code == 400


def test_what_was_measured_once_stands_behind_what_is_measured_again_and_again(client, moved, contributor):
    """Seen: 58 nights of a machine below nine rows of "first batch"."""
    file([night(LAST, workload={"slug": "once", "name": "Once"})], contributor)
    rows = client.get("/benchmarks/").context["rows"]
    assert [row.benchmark.workload.slug for row in rows] == ["oltp", "still", "once"]


@pytest.mark.parametrize(("than", "batches"), [(f"commit:{3:040x}", 1), ("version:18.1", LAST - 1), ("last:1", 1)])
def test_the_newest_is_set_against_the_baseline_that_was_chosen(client, moved, than, batches):
    (row,) = [row for row in client.get(f"/benchmarks/?than={than}").context["rows"] if row.benchmark == moved]
    expected = 1 if than == "last:1" else 0.9 if batches == 1 else 0.97
    assert row.change.value == pytest.approx(expected, abs=0.05)


def test_a_list_says_of_which_batches_the_baseline_is_where_a_change_lies_among_them(client, moved):
    """Seen: "equivalent" below "against the 10 before it", of the three since a confirmed loss."""
    page = client.get("/benchmarks/")
    of_moved, still = page.context["rows"]
    begin = f"{measured(moved)[STEP - 1]:%Y-%m-%d}"
    assert (of_moved.batches, of_moved.change.verdict, of_moved.level_since) == (LAST - STEP, "equivalent", begin)
    assert (still.batches, still.level_since) == (10, "")
    assert page.text.count(f", against the {LAST - STEP} batches since the change of {begin}<") == 1


@pytest.mark.parametrize("at", ["²", "2026-11-27", "0000-00-00T00:00Z"])
def test_a_batch_whose_stored_time_is_damaged_costs_its_own_line(client, moved, at):
    recent = [{"at": at, "centre": 1000.0}, {"at": "2026-11-27T00:00:00+00:00", "centre": -5.0}, *moved.recent]
    Benchmark.objects.filter(pk=moved.pk).update(recent=recent)
    assert Benchmark.objects.get(pk=moved.pk).recent == moved.recent
    assert client.get("/benchmarks/").status_code == 200


def test_a_benchmark_shows_repeats_band_change_events_and_branches(client, moved):
    spec = client.get(moved.get_absolute_url()).context["figure"].spec
    own, expected, branch = spec["series"]
    assert (len(own["points"]), len(own["dots"])) == (LAST, 3 * LAST)
    assert [x for x, *_ in expected["band"]] == [STEP - 1, LAST]
    assert len(branch["points"]) == 3
    assert [(mark["value"], mark["axis"]) for mark in spec["marks"]] == [(STEP - 1, "x")]
    assert [(event["x"], "6.1 → 6.12" in event["words"]) for event in spec["events"]] == [(STEP - 1, True)]
    assert spec["y"]["zero"] is False


def test_a_new_kernel_stands_once_where_an_older_release_is_measured_once_more(client, contributor):
    """Was: the kernel taken back where the newer release begins, which stands behind all nights of the older one."""
    told = {"storage": [], "workload": {"slug": "both", "name": "Both"}}
    file(
        [
            night(n, hardware={"name": "k", "kernel": "6.1" if n < 4 else "6.6"}, **told,
                  dbms={"name": "PostgreSQL", "version": "16.4" if n in (1, 2, 5) else "17.0"})
            for n in range(1, 7)
        ],
        contributor, at_once=6,
    )  # fmt: skip
    benchmark = Benchmark.objects.get(workload__slug="both")
    spec = client.get(benchmark.get_absolute_url()).context["figure"].spec
    kernels = [event["x"] for event in spec["events"] if "Kernel 6.1 → 6.6" in event["words"]]
    assert (kernels, any("6.6 → 6.1" in event["words"] for event in spec["events"])) == ([4], False)


def test_notes_stand_on_the_axis_and_old_batches_are_folded(client, moved):
    of_batch, of_run = moved.series.in_order()[2:4]
    of_batch.batch.change(note="a disk was replaced " * 9)
    of_run.run.change(note="the load was seen to stall")
    context = client.get(moved.get_absolute_url()).context
    flags = [event for event in context["figure"].spec["events"] if event["kind"] == "note"]
    assert [(flag["x"], len(flag["words"])) for flag in flags] == [(2, 60), (3, len(of_run.run.note))]
    assert [bool(row.note) for row in reversed(context["rows"])] == [index in (2, 3) for index in range(LAST)]
    assert [row.index for row in (*context["unfolded"], *context["folded"])] == [*range(LAST)][::-1]
    assert len(context["unfolded"]) == 10


def test_batches_are_told_by_their_day_in_utc_and_days_stay_days(client, moved):
    """Seen: one night by three dates, in UTC in sentences and in the reader's zone in tables."""
    of_a_day = night(1, level=1.1, measured_on="2026-03-01", hardware=moved.hardware.slug)
    del of_a_day["started_at"]
    file([of_a_day], User.objects.get(username="nightly"))
    html = client.get(moved.get_absolute_url()).content.decode()
    measured_at = max(measured(moved))
    assert f'<time datetime="{measured_at:%Y-%m-%dT%H:%M:%SZ}" data-style="utc">{measured_at:%Y-%m-%d}' in html
    assert '<time datetime="2026-03-01">2026-03-01</time>' in html
    alert = Alert.objects.get(state="confirmed")
    assert f'<time datetime="{alert.after:%Y-%m-%dT%H:%M:%SZ}"' in client.get(alert.get_absolute_url()).content.decode()


def test_a_night_that_failed_is_named_and_one_of_others_is_not(client, moved, contributor):
    """Seen: 59 batches of 60 nights, and not a word of the other."""
    sender = User.objects.get(username="nightly")
    kept = Run.objects.get(pk=moved.series.in_order()[3].run_id)
    assert client.get(moved.get_absolute_url()).context["failed"] == []
    disk = {"name": "nvme0", "medium": "nvme"}
    hardware = {"name": "alpha", "kernel": "6.1", "cpu_model": "EPYC", "storage": [disk]}
    broken = {"outcome": "failed", "message": "terminal 5 lost its connection", "hardware": hardware}
    begun = datetime.fromisoformat(night(4, of=23)["started_at"]).replace(hour=23, minute=54)
    times = [begun + timedelta(minutes=10 * repeat) for repeat in range(3)]
    repeats = [{"metrics": {"tps": 1.0}, "started_at": at.isoformat()} for at in times]
    file(
        [night(4, of=23, **broken | {"repeats": repeats}), night(5, of=23, tested={"branch": "wal"}, **broken)], sender
    )
    file([night(6, of=23, visibility="private", **broken)], sender)
    file([night(7, of=23, **broken)], contributor)
    failed = Run.objects.filter(state="failed", owner=sender, cell_key=kept.cell_key)
    assert failed.count() == 9
    page = client.get(moved.get_absolute_url())
    assert [run.effective_tested["commit"] for run in page.context["failed"]] == [f"{4:040x}"]
    # Was dated by its last repeat, the day after.
    assert [run.measured_at for run in page.context["failed"]] == [begun]
    assert "failed (terminal 5 lost its connection)" in page.content.decode()


def test_two_ticked_batches_are_set_against_each_other(client, moved):
    rows = client.get(moved.get_absolute_url()).context["rows"]
    runs = "&".join(f"run={rows[index].batch.run_id}" for index in (0, -1))
    assert b"6.12" in client.get(f"/runs/diff/?{runs}").content


def test_an_alert_says_what_changed_there_and_where_the_time_went(client, moved):
    page = client.get(Alert.objects.get(state="confirmed").get_absolute_url())
    # Every night has a commit of its own: the kernel changed there alone.
    assert page.context["why"].changed[0] == ("machine", "Kernel 6.1 → 6.12", 1)
    assert page.context["why"].kind == "machine"
    (where,) = page.context["why"].where
    assert where.change.value == pytest.approx(0.49, abs=0.05)
    assert not page.context["why"].is_machine


def test_a_commit_that_each_night_has_anew_is_a_place_and_no_cause(client, contributor):
    machine = {"name": "gamma", "kernel": "6.1", "cpu_model": "EPYC", "storage": [DISK]}
    after = nights(range(11, 15), level=0.9, hardware=machine)
    file([*nights(range(1, 11), hardware=machine), *after], contributor, at_once=14)
    page = client.get(Alert.objects.get(changes__benchmark__hardware__name="gamma").get_absolute_url())
    assert (page.context["why"].kind, page.context["why"].is_place) == ("commit", True)
    assert b"Likeliest" not in page.content
    assert b"<li>Commit 00" in page.content, "its kind stood before it once more: commit Commit"


def test_what_changed_there_alone_is_the_cause_beside_a_commit_that_each_night_has_anew(client, contributor):
    """Was: "Likeliest: commit", as batches of an acceptance without one stood among the nights."""
    machine = {"name": "gamma", "kernel": "6.1", "cpu_model": "EPYC", "storage": [DISK]}
    before, after = nights(range(1, 11), hardware=machine), nights(range(11, 15), level=0.9, hardware=machine)
    before[4]["tested"] = {}
    for number, document in enumerate([*before, *after]):
        document["info"] = {"bios": "F2" if document in after else "F1", "round": f"round {number}"}
    del before[4]["info"]
    file([*before, *after], contributor, at_once=14)
    alert = Alert.objects.get(changes__benchmark__hardware__name="gamma")
    page = client.get(alert.get_absolute_url())
    assert (page.context["why"].kind, page.context["why"].changed[0][1]) == ("info", "Bios F1 → F2")
    assert b"Likeliest: <strong>Bios F1 \xe2\x86\x92 F2</strong>" in page.content


def test_others_at_work_are_the_cause_beside_a_commit_that_each_night_has_anew(client, contributor):
    machine = {"name": "gamma", "kernel": "6.1", "cpu_model": "EPYC", "cpu_threads": 8, "storage": [DISK]}
    before, after = nights(range(1, 11), hardware=machine), nights(range(11, 15), level=0.9, hardware=machine)
    for document, percent in (*((each, 30) for each in before), *((each, 80) for each in after)):
        for number, repeat in enumerate(document["repeats"]):
            cores = {"machine_cpu_percent": (percent + number, "%"), "server_cpu_cores": (2 + number / 50, "cores")}
            metrics = {name: {"value": value, "unit": unit} for name, (value, unit) in cores.items()}
            repeat["metrics"] = {**repeat["metrics"], **metrics}
    file([*before, *after], contributor, at_once=14)
    page = client.get(Alert.objects.get(changes__benchmark__hardware__name="gamma").get_absolute_url())
    assert (page.context["why"].kind, page.context["why"].is_place) == ("machine", False)
    assert not page.context["why"].is_machine


def test_the_inbox_tells_how_good_its_alarms_were(client, moved):
    quality = client.get("/alerts/").context["quality"]
    assert (quality.confirmed, quality.rejected, quality.suspected) == (1, 0, quality.refuted + 1)
    # It was measured days ago and found as soon as it was sent.
    assert quality.days_to_find < 1
    assert client.get(moved.get_absolute_url()).context["quality"] == quality
    alerts.move(Alert.objects.get(state="confirmed"), "noise")
    assert client.get("/alerts/").context["quality"].rejected == 1
    ChangePoint.objects.filter(state="confirmed").update(state="refuted")
    after = client.get("/alerts/").context["quality"]
    assert (after.confirmed, after.withdrawn, after.refuted) == (0, 1, quality.refuted)
    ChangePoint.objects.exclude(confirmed_at=None).update(state="suspected")
    assert (quality.waiting, after.waiting, client.get("/alerts/").context["quality"].waiting) == (0, 0, 1)


def test_an_operator_says_what_an_alert_is(client, operator, moved):
    alert = Alert.objects.get(state="confirmed")
    client.force_login(operator)
    links = ["https://example.org/1", "https://example.org/2"]
    said = {"state": "fixed", "fixed_by": "0a1b2c", "reason": "patched", "note": "fsync", "mine": "1"}
    said["links"] = "\r\n".join(links)
    assert client.post(f"/alerts/{alert.pk}/say/", said).status_code == 302
    alert.refresh_from_db()
    assert (alert.state, alert.fixed_by, alert.note, alert.assignee) == ("fixed", "0a1b2c", "fsync", operator)
    assert alert.links == links
    assert [row for row, _ in client.get("/alerts/?state=fixed&mine=1").context["rows"]] == [alert]
    assert client.get("/alerts/").context["rows"] == []
    told = client.get(alert.get_absolute_url())
    assert "olga-operator takes care" in told.content.decode()
    assert "state confirmed → fixed" in told.content.decode()
    assert f'<a href="{links[1]}"' in told.content.decode()
    client.post(f"/alerts/{alert.pk}/say/", {"note": "fsync", "links": "javascript:alert(1)"})
    client.post(f"/alerts/{alert.pk}/say/", {"note": "fsync"})
    alert.refresh_from_db()
    assert (alert.assignee, alert.links) == (None, links)
    noted = told.context["history"].filter(field="assignee").values_list("old", "new")
    assert list(noted) == [("olga-operator", None), (None, "olga-operator")]


def test_an_alert_leads_to_what_lies_between_the_batches_beside_it(client, operator, viewer, moved):
    alert = Alert.objects.get(state="confirmed")
    point = alert.changes.get()
    before = moved.series.in_order().filter(measured_at__lt=point.at.measured_at).last()
    client.force_login(operator)
    shown = client.get(alert.get_absolute_url())
    assert shown.context["why"].ends == [before.run_id, point.at.run_id]
    assert client.get("/runs/diff/", {"run": shown.context["why"].ends}).status_code == 200
    # Of what was uploaded no agent can measure more: it was offered, and then refused.
    addresses = (alert.get_absolute_url(), moved.get_absolute_url())
    assert not any('formaction="/schedule/between/"' in client.get(each).content.decode() for each in addresses)
    Run.objects.filter(pk__in=shown.context["why"].ends).update(upload=None)
    assert all('formaction="/schedule/between/"' in client.get(each).content.decode() for each in addresses)
    client.force_login(viewer)
    assert "/schedule/between/" not in client.get(alert.get_absolute_url()).content.decode()


@pytest.mark.parametrize(("state", "verdict"), [("expected", "equivalent"), ("noise", "undecided")])
def test_lists_show_at_once_what_a_person_says_of_an_alert(client, operator, moved, state, verdict):
    assert (moved.moved > 0.05, moved.verdict) == (True, "equivalent")
    client.force_login(operator)
    client.post(f"/alerts/{Alert.objects.get(state='confirmed').pk}/say/", {"state": state})
    moved.refresh_from_db()
    assert moved.moved == 0
    assert moved.verdict == verdict


def test_the_api_gives_benchmarks_their_series_and_alerts(client, api_token, moved):
    row = client.get("/api/v1/benchmarks/?workload=oltp").json()["results"][0]
    answer = client.get(f"/api/v1/benchmarks/{row['id']}/").json()
    assert (row["batches"], len(answer["series"]), answer["changes"][0]["state"]) == (LAST, LAST, "confirmed")
    assert answer["expected"]["low"] < answer["series"][-1]["mean"] < answer["expected"]["high"]
    (alert,) = client.get("/api/v1/alerts/?state=confirmed").json()["results"]
    headers = {"Authorization": f"Bearer {api_token('schedule')}"}
    said = client.patch(
        f"/api/v1/alerts/{alert['id']}/", {"state": "expected", "links": ["https://example.org/1"]},
        content_type="application/json", headers=headers,
    ).json()  # fmt: skip
    assert (said["state"], said["links"]) == ("expected", ["https://example.org/1"])
    assert {"kind": "machine", "words": "Kernel 6.1 → 6.12", "benchmarks": 1} in said["caused_by"]
    wrong = client.patch(
        f"/api/v1/alerts/{alert['id']}/", {"assignee": "nobody"}, content_type="application/json", headers=headers
    )
    assert (wrong.status_code, list(wrong.json())) == (400, ["assignee"])
    assert client.get("/api/v1/benchmarks/?than=x").status_code == 400


def test_commits_lead_where_the_site_says(client, settings, moved):
    settings.COMMIT_URLS = {"postgresql": "https://example.org/{commit}"}
    assert client.get(moved.get_absolute_url()).context["rows"][0].commit_url == f"https://example.org/{LAST:040x}"


def test_run_and_batch_lead_to_their_series_and_home_to_open_alerts(client, moved, contributor):
    """Was: after twelve nights "there is one only", and no way to the others."""
    row = moved.series.in_order()[3]
    link = f'href="{moved.get_absolute_url()}"'
    addresses = [f"/runs/{row.runs[-1]}/", f"/batches/{row.batch_id}/"]
    assert [link in client.get(address).content.decode() for address in addresses] == [True, True]
    still = Benchmark.objects.get(workload__slug="still")
    assert still.get_absolute_url() not in client.get(addresses[0]).content.decode()
    count = Alert.objects.open().count()
    assert f"{count} alert{'' if count == 1 else 's'} " in client.get("/").content.decode()
    Alert.objects.update(owner=contributor, visibility="private")
    assert 'href="/alerts/">' not in client.get("/").content.decode().partition("<main")[2]


def test_batches_of_a_branch_stand_where_they_were_measured(client, contributor):
    """Was: all that were measured behind the newest of main, or before its first, on one line."""
    own = {"slug": "branches", "name": "Branches"}
    of_branch = nights([1, 2, 6, 12, 13, 14], of=15, level=1.1, workload=own, tested={"branch": "wal"})
    file([*nights([4, 5, 8, 10], of=15, workload=own), *of_branch], contributor, at_once=10)
    main, wal = Benchmark.objects.filter(workload__slug="branches").order_by("branch")
    spec = client.get(main.get_absolute_url()).context["figure"].spec
    of_main, of_wal = ([x for x, _ in spec["series"][at]["points"]] for at in (0, -1))
    assert of_main == [0, 1, 2, 3]
    assert of_wal == pytest.approx([-2, -1, 1 + 1 / 3, 4, 5, 6])
    days = [each.date().isoformat() for each in measured(wal)]
    assert [dict(spec["x"]["ticks"])[x] for x in (-2, -1, 4, 5, 6, 7)] == [*days[:2], *days[3:], "next"]


def test_the_csv_of_a_chart_tells_time_version_and_commit_of_each_batch(client, moved):
    """Was: "Label", a day."""
    spec = client.get(moved.get_absolute_url()).context["figure"].spec
    told = {column["label"]: dict(column["cells"]) for column in spec["columns"]}
    newest = moved.series.newest_first()[0]
    assert [told[label][LAST - 1] for label in ("Measured at", "Version", "Commit")] == [
        f"{newest.measured_at:%Y-%m-%dT%H:%M:%SZ}", "PostgreSQL 18.1", f"{LAST:040x}",
    ]  # fmt: skip
