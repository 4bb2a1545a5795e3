from __future__ import annotations

from importlib import import_module
from uuid import UUID

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.exceptions import ValidationError

from runs import machines, results
from runs.access.rules import change_visibility
from runs.compare.compare import compare
from runs.compare.guard import differences
from runs.history import filing, identity, joining
from runs.models import Batch, Benchmark, ChangePoint, Conditions, Config, HardwareProfile, Run, SeriesBatch, Upload
from runs.results import editing, purge
from tests.runs.builders import hardware_facts
from tests.runs.history.nights import DISK, file, measured, night, nights

pytestmark = pytest.mark.django_db


def test_it_is_one_series_across_kernels_versions_of_the_dbms_and_settings(contributor):
    newer = {"name": "alpha", "kernel": "6.12", "cpu_model": "EPYC", "ram_bytes": 2**36, "storage": [DISK]}
    documents = [
        night(1), night(2, hardware=newer), night(3, dbms={"name": "PostgreSQL", "version": "18.2"}),
        night(4, config=[{"name": "work_mem", "value": "8MB"}]),
        night(5, workload={"slug": "oltp", "name": "OLTP", "version": "2", "kind": ""}),
        night(6, tested={"branch": "main"}),
    ]  # fmt: skip
    file(documents, contributor)
    assert Benchmark.objects.get().batches == 6
    assert HardwareProfile.objects.count() == 2


def test_batches_that_came_together_are_read_by_the_queries_of_one(contributor):
    """Was: each had its own, a quarter of what filing costs."""
    results.store_uploads(documents=nights(range(1, 11)), owner=contributor)
    with CaptureQueriesContext(connection) as asked:
        filing.keep_up()
    assert sum('FROM "runs_measurement"' in each["sql"] for each in asked) == 1
    (benchmark,) = Benchmark.objects.all()
    rows = benchmark.series.in_order().select_related("run")
    assert [row.commit for row in rows] == [f"{number:040x}" for number in range(1, 11)]
    assert all(row.run.batch_id == row.batch_id for row in rows)


def test_batches_of_one_day_and_one_request_stand_as_they_were_sent(contributor):
    """Was: by their ids."""
    documents = [night(1, level=number, id=str(UUID(int=9 - number)), label=str(number)) for number in range(1, 6)]
    for each in documents:
        each["measured_on"] = each.pop("started_at")[:10]
    file(documents, contributor, at_once=5)
    assert [row.label for row in Benchmark.objects.get().series.in_order()] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    "change",
    [
        {"factors": {"scale_factor": 100, "terminals": 32}},
        {"dbms": {"name": "MariaDB", "version": "11"}},
        {"hardware": {"name": "beta", "storage": [DISK]}},
        {"hardware": {"name": "alpha", "storage": [DISK | {"model": "new"}]}},
        {"tested": {"branch": "wal"}},
        {"visibility": "private"},
        {"workload": "tpcb"},
        {"dataset": {"rows": 1_000_000}},
    ],
    ids=str,
)
def test_it_is_another_benchmark_where_what_stays_the_same_differs(contributor, change):
    file([night(1), night(2, **change)], contributor)
    assert [benchmark.batches for benchmark in Benchmark.objects.all()] == [1, 1]


def test_the_same_nights_on_ten_times_the_rows_are_another_benchmark_that_is_called_by_them(contributor):
    """Was: one series of both, and −20 % on the day of the swap."""
    documents = [
        night(number, level=0.8 if number > 11 else 1.0, dataset={"rows": 1_000_000 if number > 11 else 100_000})
        for number in range(22)
    ]
    file(documents, contributor, at_once=22)
    named = {each.name.rpartition(", ")[2]: each.batches for each in Benchmark.objects.all()}
    assert named == {"100,000 rows": 12, "1,000,000 rows": 10}
    assert not ChangePoint.objects.exists()


def test_a_benchmark_of_before_sizes_told_benchmarks_apart_keeps_its_address(contributor, monkeypatch):
    """An earlier version filed all sizes in one; migration 0044 has them filed anew."""
    documents = [night(number, dataset={"rows": 1_000_000 if number > 2 else 100_000}) for number in range(4)]
    with monkeypatch.context() as earlier:
        earlier.setattr(identity, "data_sizes", lambda run: {})
        earlier.setattr(identity, "data_facets", lambda run: [])
        file(documents, contributor)
    before = Benchmark.objects.get()
    Batch.objects.update(is_filed=False)
    filing.keep_up()
    kept = Benchmark.objects.get(pk=before.pk)
    assert (kept.name.rpartition(", ")[2], kept.batches) == ("100,000 rows", 3)
    assert Benchmark.objects.exclude(pk=before.pk).get().batches == 1


def of_windows(*lengths: tuple[int, range]):
    """Nights whose window is so long."""
    return [
        night(number, level=0.67 if seconds >= 600 else 1.0,
              factors={"scale_factor": 100, "terminals": 16, "duration_s": seconds, "warm_up_s": 30})
        for seconds, numbers in lengths for number in numbers
    ]  # fmt: skip


def test_a_window_beyond_the_span_of_a_comparison_begins_a_series(client, contributor):
    """Was: one series, "−33.4 % worse", confirmed on its page and in an alert, of nothing but a longer window."""
    file(of_windows((10, range(1, 9)), (60, range(9, 11)), (600, range(11, 22))), contributor, at_once=21)
    first, other = Benchmark.objects.order_by("created_at", "name")
    assert (first.batches, other.batches) == (10, 11)
    assert (other.name, other.line) == (f"{first.name}, measured window 600 s", first.line)
    assert not ChangePoint.objects.exists()
    assert other.get_absolute_url() in client.get(first.get_absolute_url()).content.decode()
    file([night(22, factors={"scale_factor": 100, "terminals": 16, "duration_s": 700})], contributor)
    assert Benchmark.objects.get(pk=other.pk).batches == 12
    with pytest.raises(ValidationError, match="too differently"):
        joining.join(other, first, by=contributor)
    assert not joining.candidates(other).exists()


def test_a_series_of_before_windows_told_series_apart_keeps_its_address(contributor, monkeypatch):
    """An earlier version filed all windows in one; a migration has those beyond the span filed anew."""
    with monkeypatch.context() as earlier:
        earlier.setattr(identity, "_procedure", lambda run: {})
        file(of_windows((10, range(1, 9)), (600, range(9, 22))), contributor, at_once=21)
    before = Benchmark.objects.get()
    assert before.changes.exists()
    import_module("runs.migrations.0048_procedures_of_benchmarks").tell_procedures(apps, None)
    assert Batch.objects.filter(is_filed=False).count() == 13
    filing.keep_up()
    kept = Benchmark.objects.get(pk=before.pk)
    assert (kept.batches, kept.procedure) == (8, {"duration_s": 10, "warm_up_s": 30})
    assert (Benchmark.objects.exclude(pk=before.pk).get().batches, ChangePoint.objects.count()) == (13, 0)


def test_facts_of_before_load_generators_were_causes_are_those_of_now(contributor):
    driver = {"name": "pgbench", "version": "16.4", "isolation": "read committed"}
    (document,) = of_windows((10, range(1, 2)))
    file([document | {"driver": driver}], contributor)
    row = Conditions.objects.get()
    told = row.facts
    kinds = ("procedure:", "isolation:", "load generator:")
    row.facts = {name: text for name, text in told.items() if not name.startswith(kinds)} | {
        "durability:Tool": "pgbench", "durability:Isolation level": "read committed", "driver:Name": "pgbench",
        "driver:Version": "16.4", "driver:Isolation": "read committed", "procedure:Measured window": "10",
        "procedure:Warm-up": "30.0",
    }  # fmt: skip
    row.save()
    import_module("runs.migrations.0048_procedures_of_benchmarks").tell_load_generators(apps, None)
    row.refresh_from_db()
    assert row.facts == told


def test_it_knows_a_machine_by_its_id_whatever_it_is_called_and_whoever_sends(contributor, operator):
    named = [{"name": name, "machine_id": "4711", "storage": [DISK]} for name in ("alpha", "beta")]
    file([night(1, hardware=named[0])], contributor)
    file([night(2, hardware=named[1])], operator)
    assert Benchmark.objects.get().batches == 2
    # Without its id it is the machine of that name of who sends it, else one of its own.
    file([night(3, hardware={"name": "alpha", "storage": [DISK]})], contributor)
    assert Benchmark.objects.get().batches == 3
    file([night(4, hardware={"name": "alpha", "storage": [DISK]})], operator)
    assert Benchmark.objects.count() == 2


def test_an_upload_with_another_mainboard_begins_a_series_that_a_person_joins(contributor):
    """Was: an event in the series of the old one."""
    first, other = (
        {"name": "alpha", "motherboard": board, "storage": [DISK]} for board in ("Supermicro X11", "Supermicro H13")
    )
    unknown = {"name": "alpha", "storage": [DISK]}
    sent = [unknown, first, first | {"kernel": "6.12"}, other, other | {"kernel": "6.12"}, first | {"kernel": "7.0"}]
    file([night(number, hardware=hardware) for number, hardware in enumerate(sent, 1)], contributor)
    old, new = Benchmark.objects.order_by("created_at")
    assert (old.batches, new.batches) == (4, 2)
    joining.join(new, old, by=contributor)
    file([night(7, hardware=other | {"kernel": "7.0"})], contributor)
    assert SeriesBatch.objects.filter(benchmark=old).count() == 7


def test_an_upload_with_another_processor_and_no_mainboard_begins_a_series(contributor):
    first, other = ({"name": "alpha", "cpu_model": cpu, "storage": [DISK]} for cpu in ("Xeon 6230", "EPYC 9354"))
    sent = [first, first | {"kernel": "6.12"}, other, other | {"kernel": "6.12"}, first | {"kernel": "7.0"}]
    file([night(number, hardware=hardware) for number, hardware in enumerate(sent, 1)], contributor)
    assert [each.batches for each in Benchmark.objects.order_by("created_at")] == [3, 2]


def test_an_agent_with_a_new_kernel_is_the_same_machine_and_with_another_mainboard_another(db):
    profiles = [
        machines.upsert_hardware(facts=hardware_facts(**facts), name="Bench", agent="bench")
        for facts in ({}, {"kernel": "6.12"}, {"hostname": "renamed", "os": "Debian 13"}, {"motherboard": "new"})
    ]
    keys = [identity.machine_of(profile, None).key for profile in profiles]
    assert keys[0] == keys[1] == keys[2] != keys[3]


def test_it_orders_by_commit_then_version_then_date_and_never_by_when_it_came(contributor):
    file([night(number) for number in (3, 1, 2)], contributor)
    benchmark = Benchmark.objects.get()
    assert measured(benchmark) == sorted(measured(benchmark))
    file([night(4, dbms={"name": "PostgreSQL", "version": "9.6"})], contributor)
    assert measured(benchmark)[0] == max(measured(benchmark))
    backwards = [night(10 - number, tested={"branch": "b", "commit_number": str(number)}) for number in (1, 2, 3)]
    file(backwards, contributor, at_once=3)
    by_commit = measured(Benchmark.objects.get(branch="b"))
    assert by_commit == sorted(by_commit, reverse=True)


def test_it_orders_by_parents_whenever_a_commit_was_measured_or_sent(contributor):
    """b is measured after its child c, the parent of d is not known, and e is a merge of a and d."""
    told = {1: ("a", "x"), 2: ("c", "b"), 3: ("d", "y"), 4: ("b", "a"), 5: ("e", "a d")}
    documents = {
        number: night(number, tested={"commit": commit, "parents": of}) for number, (commit, of) in told.items()
    }
    file([documents[number] for number in (5, 2, 1, 3, 4)], contributor)
    (series,) = Benchmark.objects.all()
    assert [row.commit for row in series.series.in_order()] == ["a", "b", "c", "d", "e"]
    assert [row.commit for row in series.series.newest_first()] == ["e", "d", "c", "b", "a"]


@pytest.mark.parametrize("arrival", ["01234", "43210", "20413"])
@pytest.mark.parametrize("at_once", [1, 5])
def test_what_has_no_number_stands_behind_the_newest_commit_measured_before_it(contributor, arrival, at_once):
    """Was: before all that have numbers, where its nights of -15 % made the others better than it was."""
    told = [{"commit_number": "10"}, {"commit_number": "30"}, {}, {"commit_number": "20"}, {}]
    documents = [night(at + 1, tested={"commit": "abcde"[at], **each}) for at, each in enumerate(told)]
    file([documents[int(at)] for at in arrival], contributor, at_once=at_once)
    assert [row.commit for row in Benchmark.objects.get().series.in_order()] == ["a", "d", "b", "c", "e"]


def test_parents_in_a_circle_are_no_order_and_end(contributor):
    file([night(n, tested={"commit": "ab"[n - 1] * 9, "parents": "ba"[n - 1] * 9}) for n in (1, 2)], contributor)
    assert sorted(row.commit_number for row in Benchmark.objects.get().series.all()) == [1, 2]


def test_what_a_batch_varies_are_benchmarks_of_their_own(contributor):
    together = "11111111-1111-1111-1111-111111111111"
    documents = [
        night(1, batch=together, level=value, config=[{"name": "work_mem", "value": f"{value}MB"}])
        for value in (4, 8, 16)
    ]
    file(documents[:1], contributor)
    assert Benchmark.objects.get().batches == 1
    file(documents[1:], contributor)
    assert [benchmark.batches for benchmark in Benchmark.objects.all()] == [1, 1, 1]


def test_benchmarks_that_differ_in_one_setting_are_called_by_it(contributor):
    """Was: "PostgreSQL: fsync not given" beside "synchronous_commit=off (5da89188)"."""
    together = "11111111-1111-1111-1111-111111111111"
    settings = [
        [{"name": "shared_buffers", "value": "128MB"}, {"name": "synchronous_commit", "value": value}]
        for value in ("on", "off")
    ]
    documents = [night(1, batch=together, level=at + 1, config=each) for at, each in enumerate(settings)]
    file(documents, contributor, at_once=2)
    names = sorted(benchmark.name.rpartition(", ")[2] for benchmark in Benchmark.objects.all())
    assert names == ["synchronous_commit=off", "synchronous_commit=on"]
    one, other = compare(runs=list(Run.objects.present().for_lists())).groups
    (told,) = [each for each in differences(one.conditions, other.conditions) if each.label == "Configuration"]
    assert {told.a, told.b} == {"synchronous_commit=off", "synchronous_commit=on"}


def test_settings_in_force_that_a_batch_varies_are_batches_of_their_own(contributor):
    """Was: the worker filed nothing any more, of whatever batch."""
    together = "11111111-1111-1111-1111-111111111111"
    documents = [
        night(1, batch=together, level=at, effective_settings=[["shared_buffers", f"{at}GB"]]) for at in (1, 16, 64)
    ]
    file(documents, contributor)
    (series,) = Benchmark.objects.all()
    before = {*series.series.values_list("pk", "part")}
    Batch.objects.update(is_filed=False)
    filing.keep_up()
    assert {*series.series.values_list("pk", "part")} == before and len(before) == 3


def test_commits_of_one_upload_are_batches_of_their_own(contributor):
    together = "11111111-1111-1111-1111-111111111111"
    file([night(number, batch=together) for number in (1, 2, 3)], contributor, at_once=3)
    assert Benchmark.objects.get().batches == 3
    assert Batch.objects.count() == 1


def test_a_large_batch_is_filed_in_parts_and_again_where_that_fails(contributor, monkeypatch):
    monkeypatch.setattr(filing, "MOST_RUNS", 5)
    monkeypatch.setattr(filing, "AT_ONCE", 1)
    together = "11111111-1111-1111-1111-111111111111"
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(filing, "_take_out", lambda stored: 1 / 0)
        file([night(number, batch=together) for number in (1, 2, 3)], contributor, at_once=3)
    assert not Batch.objects.get().is_filed
    filing.keep_up()
    assert (Benchmark.objects.get().batches, Batch.objects.get().is_filed) == (3, True)


def test_many_batches_are_filed_in_parts_and_again_where_that_fails(contributor, monkeypatch):
    """Was: one transaction of all that wait, as after a merge of machines, during which nobody else could write."""
    monkeypatch.setattr(filing, "READ_AT_ONCE", 2)
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(filing, "watch", lambda benchmark: 1 / 0)
        file(nights(range(1, 6)), contributor, at_once=5)
    assert Batch.objects.filter(is_filed=False).count() == 5
    pauses = []
    monkeypatch.setattr(filing, "pause_for_writers", pauses.append)
    assert filing.keep_up() == 5
    assert (Benchmark.objects.get().batches, Batch.objects.filter(is_filed=False).count()) == (5, 0)
    assert not SeriesBatch.objects.filter(is_watched=False).exists()
    assert len(pauses) == 3 + 1 + 1, "after each part, after the look, and before what waits next"


def test_what_is_taken_out_leaves_the_series_and_comes_back(contributor, administrator):
    file(nights([1, 2, 3]), contributor)
    benchmark, run = Benchmark.objects.get(), Run.objects.order_by("measured_at", "repeat").first()

    def counted() -> list[int]:
        filing.keep_up()
        return [len(row.values) for row in benchmark.series.in_order()]

    editing.invalidate(run, reason="disturbed", by=contributor)
    assert counted() == [2, 3, 3]
    editing.validate(run, by=contributor)
    assert counted() == [3, 3, 3]
    editing.delete(run, by=contributor)
    assert counted() == [2, 3, 3]
    editing.restore(run, by=contributor)
    assert counted() == [3, 3, 3]
    assert run.upload is not None
    purge.purge(run.upload, by=administrator)
    assert counted() == [3, 3]


def test_what_becomes_private_leaves_the_series_of_others(contributor):
    file(nights([1, 2, 3]), contributor)
    change_visibility(target=Upload.objects.all()[0], visibility="private", by=contributor)
    filing.keep_up()
    assert {(each.visibility, each.owner, each.batches) for each in Benchmark.objects.all()} == {
        ("public", None, 2), ("private", contributor, 1),
    }  # fmt: skip


def test_renaming_breaks_no_series(contributor):
    settings = [{"name": "work_mem", "value": "8MB"}]
    file([night(1, config=settings)], contributor)
    Config.objects.update(name="Renamed")
    profile = HardwareProfile.objects.get()
    machines.edit_facts(profile, facts={"name": "renamed"}, by=contributor)
    machines.edit_device(profile.storage.get(), facts={"name": "renamed"}, by=contributor)
    again = night(2, config=settings, hardware=profile.slug, storage=[{"role": "data", "device": "renamed"}])
    file([again], contributor)
    assert Benchmark.objects.get().batches == 2


def test_a_series_is_joined_to_the_old_one_by_a_person_and_taken_apart_again(contributor):
    file(nights([1, 2]), contributor)
    old = Benchmark.objects.get()
    newer = {"name": "alpha", "storage": [DISK | {"model": "new"}]}
    file(nights([3, 4], hardware=newer), contributor)
    new = Benchmark.objects.exclude(pk=old.pk).get()
    joining.join(new, old, by=contributor)
    file(nights([5], hardware=newer), contributor)
    assert SeriesBatch.objects.filter(benchmark=old).count() == 5
    joining.part(new, by=contributor)
    filing.keep_up()
    assert [Benchmark.objects.get(pk=each.pk).batches for each in (old, new)] == [2, 3]
    Benchmark.objects.filter(pk=old.pk).delete()  # by somebody else, meanwhile
    with pytest.raises(ValidationError):
        joining.join(new, old, by=contributor)


def test_what_goes_by_one_name_is_told_apart_in_lists_and_offered_to_be_joined(client, contributor, operator):
    """Was: two rows that nothing told apart, and the machine's column of a matrix was of either."""
    old, new, other = (
        {"name": name, "machine_id": number, "storage": [DISK]}
        for name, number in (("alpha", "1"), ("alpha", "2"), ("beta", "3"))
    )
    file([*nights([1, 2], hardware=old, level=3), *nights([1, 2, 3], hardware=other)], contributor, at_once=5)
    page = client.get("/benchmarks/")
    assert {row.benchmark.told_apart for row in page.context["rows"]} == {""}
    file(nights([3, 4], hardware=new), contributor)
    for number, profile in enumerate(HardwareProfile.objects.filter(name="alpha").order_by("pk")):
        profile.change(motherboard=f"board {number}")
    client.force_login(operator)
    rows = [row.benchmark for row in client.get("/benchmarks/").context["rows"]]
    told = {row.machine.pk: row.told_apart for row in rows if row.hardware.name == "alpha"}
    assert len({*told.values()}) == 2
    assert all(words.startswith("board ") and " to 20" in words for words in told.values())
    assert {row.told_apart for row in rows if row.hardware.name == "beta"} == {""}
    newest = max((row for row in rows if row.hardware.name == "alpha"), key=lambda row: row.newest_at)
    shown = client.get(newest.get_absolute_url())
    assert shown.context["benchmark"].told_apart == newest.told_apart
    assert shown.context["joinable"][0].hardware.name == "alpha"
    ((_, _, cells),) = client.get("/benchmarks/?view=machines").context["matrix"].rows
    assert newest in [cell.benchmark for cell in cells if cell] and len(cells) == 3, "each machine has its column"
    joining.join(newest, shown.context["joinable"][0], by=operator)
    rows = [row.benchmark for row in client.get("/benchmarks/").context["rows"]]
    assert {row.told_apart for row in rows} == {""}


def test_the_disks_of_a_sweep_tell_its_benchmarks_apart(client, contributor):
    """Seen: "Orders OLTP, Firebird, 2 GB" twice, with the same dates."""
    disks = [DISK, DISK | {"name": "sata"}]
    hardware = {"name": "alpha", "machine_id": "1", "storage": disks}
    for level, disk in enumerate(disks, start=1):
        storage = [{"role": "data", "device": disk["name"]}]
        file(nights([1, 2], level=level, hardware=hardware, storage=storage), contributor)

    told = [row.benchmark.told_apart.partition(", ")[0] for row in client.get("/benchmarks/").context["rows"]]

    assert sorted(told) == sorted(disk["name"] for disk in disks)
    of_api = client.get("/api/v1/benchmarks/").json()["results"]
    assert sorted(row["told_apart"].partition(", ")[0] for row in of_api) == sorted(told)


def test_one_day_is_no_range_of_days(client, contributor):
    """Seen: "sda, 2026-11-21 to 2026-11-21"."""
    for number in ("1", "2"):
        file([night(1, hardware={"name": "alpha", "machine_id": number, "storage": [DISK]})], contributor)
    told = [row.benchmark.told_apart for row in client.get("/benchmarks/").context["rows"]]
    assert [len(words) for words in told] == [len("2026-11-21")] * 2


def everything_of(client) -> list[bytes]:
    return [client.get(path).content for path in ("/benchmarks/", "/api/v1/benchmarks/")]


@pytest.mark.parametrize("way", ["an upload", "a run", "visibility", "purge"])
def test_it_shows_nothing_of_what_is_gone_before_the_worker_comes(client, contributor, administrator, way):
    file([*nights([1, 2]), night(1, workload={"slug": "x", "name": "Secret"})], contributor)
    kept = Benchmark.objects.get(workload__slug="oltp")
    secret = Upload.objects.filter(runs__workload__slug="x").first()
    assert secret is not None
    assert all(b"Secret" in shown for shown in everything_of(client))
    client.force_login(contributor)
    for upload in Upload.objects.filter(pk__in=[secret.pk, kept.series.newest_first()[0].batch_id]):
        if way == "an upload":
            client.post(f"/uploads/{upload.pk}/delete/")
        elif way == "a run":
            for run in upload.runs.all():
                editing.delete(run, by=contributor)
        elif way == "visibility":
            change_visibility(target=upload, visibility="private", by=contributor)
        else:
            purge.purge(upload, by=administrator)
    client.logout()
    assert not any(b"Secret" in shown for shown in everything_of(client))
    kept.refresh_from_db()
    assert (kept.batches, len(kept.recent), kept.newest_at) == (1, 1, kept.series.get().measured_at)


def test_an_upload_that_comes_back_is_in_its_series_again(client, contributor):
    file(nights([1, 2]), contributor)
    client.force_login(contributor)
    for what, batches in (("delete", 1), ("restore", 2)):
        client.post(f"/uploads/{Upload.objects.order_by('received_at')[0].pk}/{what}/")
        filing.keep_up()
        assert Benchmark.objects.get().batches == batches
