"""Pages of benchmarks that each test files for itself, or of none."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from runs.answers.words.gaps import lacking_words
from runs.compare.asked import Missing
from runs.listing.filters import RunFilter
from runs.models import Alert, Benchmark, ChangePoint, Metric, Run
from tests.runs.history.nights import file, night, nights, with_latency

pytestmark = pytest.mark.django_db
STEP, LAST = 14, 20


def test_an_empty_site_says_what_to_do(client, db):
    assert b"No benchmarks yet" in client.get("/benchmarks/").content
    assert client.get("/alerts/").context["rows"] == []


def test_what_is_past_when_it_is_found_is_no_alarm_and_counts_in_no_quality(client, contributor):
    file([*nights(range(1, STEP), of=80), *nights(range(STEP, 22), level=0.9, of=80)], contributor, at_once=22)
    assert ChangePoint.objects.filter(state="confirmed").exists()
    assert client.get("/alerts/").context["quality"].suspected == 0


def test_a_machine_that_moved_in_all_it_runs_is_the_cause(client, contributor):
    systems = [{"name": name, "version": "1"} for name in ("PostgreSQL", "MariaDB", "SQLite")]
    documents = [
        night(number, level=1 if number < STEP else 0.9, dbms=dbms, workload={"slug": slug, "name": slug})
        for number in range(1, LAST + 1)
        for dbms, slug in zip(systems, "abc", strict=True)
    ]
    file(documents, contributor, at_once=100)
    # Was: what is measured once, long after, took the diagnosis back ("3 of 7 benchmarks").
    sweep = [{"factors": {"scale_factor": 100, "terminals": level}} for level in (1, 2, 4, 8)]
    # Nor does what could not have shown it: once before, and since then.
    levels, before = ([night(number, **each) for each in sweep] for number in (LAST + 1, STEP - 3))
    for more in ([], levels, before):
        file(more, contributor, at_once=100)
        page = client.get(Alert.objects.get(state="confirmed").get_absolute_url())
        assert page.context["why"].is_machine
        assert page.context["title"].startswith("3 of 3 benchmarks on alpha")


def test_the_inbox_begins_with_what_nobody_has_seen(client, db):
    for state in ("acknowledged", "new", "fixed", "confirmed"):
        Alert.objects.create(state=state, **dict.fromkeys(("after", "since", "latest"), timezone.now()))
    rows = client.get("/alerts/?all=1").context["rows"]
    assert [row.state for row, _ in rows] == ["confirmed", "new", "acknowledged", "fixed"]


def test_a_benchmark_whose_noise_hides_five_per_cent_says_so(client, contributor):
    file([night(number, noise=0.12) for number in range(1, 14)], contributor, at_once=20)
    told = client.get(Benchmark.objects.get().get_absolute_url()).context
    assert (told["is_blind"], told["repeats_needed"] > 3) == (True, True)
    assert told["figure"].spec["y"]["span"][0] > 0
    assert not ChangePoint.objects.filter(state="confirmed").exists()


def test_counts_of_one_are_singular(client, contributor, operator):
    file([night(1), night(1, hardware={"name": "beta"}, storage=[])], contributor, at_once=2)
    client.force_login(operator)
    page = client.get(Benchmark.objects.get(hardware__name="beta").get_absolute_url())
    assert " on alpha, 1 batch</option>" in page.content.decode()
    assert lacking_words(Missing("more_repeats", count=1)) == "about 1 more repeat a group"


def test_it_refuses_a_parameter_that_it_does_not_know(client, contributor):
    """Was: `metric=latency_p99_ms` was answered with throughput, without an error."""
    file(nights([1, 2]), contributor)
    address = Benchmark.objects.get().get_absolute_url()
    for path in (f"/api/v1{address}", address):
        answer = client.get(path, {"metric": "latency_p99_ms"})
        assert (answer.status_code, b"metric" in answer.content) == (400, True)
    assert client.get(f"/api/v1{address}", {"than": "last:10"}).status_code == 200
    assert client.get(address, {"batches": "1000"}).status_code == 200


def test_it_links_the_benchmark_or_the_question_of_each_other_metric(client, contributor):
    documents = nights(range(1, 8))
    for number, document in enumerate(documents):
        for at, repeat in enumerate(document["repeats"]):
            repeat["metrics"]["latency_p95_ms"] = (12 if number < 4 else 18) + 0.1 * at + 0.05 * number
    file([with_latency(document) for document in documents], contributor, at_once=7)
    main, beside = Benchmark.objects.order_by("is_beside")
    (label, address), *others = client.get(main.get_absolute_url()).context["other_metrics"]
    assert label == Metric.objects.get(name="latency_p95_ms").label
    told = client.get(f"/api/v1/answers/?{address.partition('?')[2]}").json()
    assert told["metric"] == "latency_p95_ms" and {claim["kind"] for claim in told["claims"]} == {"step"}
    assert others == [(beside.metric.label, beside.get_absolute_url())], "of what is watched the page itself"


@pytest.mark.parametrize("wrong", ["since=2026-11-01", "state=open"])
def test_alerts_refuse_a_filter_that_is_none_by_its_name(client, wrong):
    name = wrong.partition("=")[0]
    page, answer = client.get(f"/alerts/?{wrong}"), client.get(f"/api/v1/alerts/?{wrong}")
    assert (page.status_code, [*page.context["problems"]]) == (400, [name])
    assert (answer.status_code, [*answer.json()]) == (400, [name])


def test_it_refuses_a_text_that_is_no_id_wherever_one_is_read(client, contributor, operator):
    file(nights([1, 2]), contributor)
    benchmark = Benchmark.objects.get()
    for path in ("/benchmarks/", "/api/v1/benchmarks/"):
        failed = [name for name in RunFilter.base_filters if client.get(path, {name: "²"}).status_code >= 500]
        assert failed == []
    client.force_login(operator)
    client.post(f"{benchmark.get_absolute_url()}join/", {"to": "²"})
    benchmark.refresh_from_db()
    assert benchmark.joined_to is None
    rule = {"name": "a", "way": "mail", "target": "a@example.org", "machine": "²", "workload": "²", "dbms": "²"}
    page = client.post("/telling/", rule)
    assert (page.status_code, {"machine", "workload", "dbms"} <= page.context["form"].errors.keys()) == (422, True)


def test_the_page_of_a_branch_asks_since_when_in_place_of_alerts(client, operator):
    """Was: it offered to tell of changes, called the main branch "never an alarm", and said nothing of −15 %."""
    branch = {"tested": {"branch": "release-8.0"}}
    before, after = nights(range(1, 10), level=1.02, **branch), nights(range(10, 14), level=0.87, **branch)
    file([*nights(range(1, 14)), *before, *after], operator, at_once=40)
    client.force_login(operator)
    page = client.get(Benchmark.objects.get(branch="release-8.0").get_absolute_url())
    html = page.content.decode()
    assert ("never an alarm" in html, "Tell me of changes" in html) == (False, False)
    assert page.context["since_when"].replace("&", "&amp;") in html
    told = client.get(page.context["since_when"]).content.decode()
    assert re.search(r"Throughput −1[45]", told)
    html = client.get(Benchmark.objects.get(branch="").get_absolute_url()).content.decode()
    assert ("never an alarm" in html, "Tell me of changes" in html) == (True, True)


@pytest.mark.parametrize(("disturbed", "told"), [(2, "disturbed (2 of 3)<"), (3, "disturbed<")])
def test_a_batch_that_others_disturbed_says_so(client, contributor, disturbed, told):
    """Seen: "−75.8 %", "6.58 ×" on the list and the page, and nowhere that each repeat was disturbed."""
    file(nights(range(1, 4)), contributor)
    benchmark = Benchmark.objects.get()
    newest = benchmark.series.newest_first()[0]
    alone = {"name": "machine_alone", "ok": False, "detail": "disturbed: 88 % of the CPU"}
    for run in Run.objects.filter(pk__in=newest.runs[:disturbed]):
        run.checks = [*run.checks, alone]
        run.save()

    for address in ("/benchmarks/", benchmark.get_absolute_url()):
        assert client.get(address).content.decode().count(told) == 1
