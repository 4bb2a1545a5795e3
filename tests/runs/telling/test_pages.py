from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from uuid import uuid4

import pytest

from runs.history.words import change_words
from runs.models import Alert, Benchmark, TellingRule, User
from tests.runs.history.nights import DISK, file, night, nights

pytestmark = pytest.mark.django_db
PATH = "/telling/"
RULE = {"name": "nights", "way": "webhook", "target": "https://hooks.example/x", "least_percent": "3"}


def test_a_webhook_gets_a_key_that_is_shown_once(client, operator):
    client.force_login(operator)
    answer = client.post(PATH, RULE)
    rule = TellingRule.objects.get()
    assert rule.secret in answer.content.decode()
    assert rule.secret not in client.get(PATH).content.decode()
    assert (rule.owner, rule.site_url, rule.least_percent) == (operator, "http://testserver", 3)


def test_a_machine_is_chosen_and_told_by_its_name(client, operator):
    file(nights(range(1, 3)), operator)
    benchmark = Benchmark.objects.get()
    client.force_login(operator)
    assert f'<option value="{benchmark.machine_id}">{benchmark.hardware.name}</option>' in page(client)
    assert client.post(PATH, RULE | {"machine": benchmark.machine_id}).status_code == 200
    assert f"every change by 3 % or more on {benchmark.hardware.name}" in page(client)


def test_machines_of_one_name_are_told_apart(client, operator):
    alpha = {"name": "alpha", "kernel": "6.1", "cpu_model": "EPYC", "storage": [DISK]}
    file(nights(range(1, 3), hardware=alpha | {"motherboard": "X11DPi"}), operator)
    file(nights(range(3, 5), hardware=alpha | {"motherboard": "H13SSL"}), operator)
    client.force_login(operator)
    names = [str(name) for _, name in client.get(PATH).context["form"].fields["machine"].choices]
    # As lists of runs and comparisons call them.
    assert names == ["any", "alpha (H13SSL)", "alpha (X11DPi)"]


def test_a_rule_that_can_tell_nothing_is_refused(client, operator):
    """Was: kept, though no benchmark is of both."""
    other = {"slug": "load", "name": "Load", "version": "1", "kind": ""}
    loads = [night(number, workload=other) for number in (1, 2)]
    for document in loads:
        document["repeats"] = [{"metrics": {"load_s": 2.0}}]
    file([*nights(range(1, 3)), *loads], operator, at_once=4)
    rate, load = Benchmark.objects.order_by("-metric__name")
    client.force_login(operator)
    answer = client.post(PATH, RULE | {"metric": rate.metric_id, "workload": load.workload_id})
    assert (answer.status_code, [*answer.context["form"].errors]) == (422, ["metric"])
    assert not TellingRule.objects.exists()
    assert client.post(PATH, RULE | {"metric": load.metric_id, "workload": load.workload_id}).status_code == 200


def test_a_benchmark_is_chosen_on_its_page_and_a_metric_in_the_form(client, operator):
    """Was: rules stood under Alerts only and were of a machine, a workload or a DBMS."""
    file(nights(range(1, 3)), operator)
    benchmark = Benchmark.objects.get()
    client.force_login(operator)
    path = f"{PATH}?benchmark={benchmark.pk}"
    assert f'href="{path}#new-rule"' in client.get(benchmark.get_absolute_url()).content.decode()
    html = client.get(path).content.decode()
    assert f'<option value="{benchmark.pk}" selected>{benchmark.on_machine}</option>' in html
    given = RULE | {"benchmark": str(benchmark.pk), "metric": str(benchmark.metric_id)}
    assert client.post(path, given).status_code == 200
    rule = TellingRule.objects.get()
    assert (rule.benchmark, rule.metric) == (benchmark, benchmark.metric)
    assert f'throughput, of <a href="{benchmark.get_absolute_url()}">{benchmark.on_machine}</a>' in page(client)
    for unknown in ("nonsense", str(uuid4())):
        assert client.get(f"{PATH}?benchmark={unknown}").status_code == 404
        answer = client.post(PATH, RULE | {"benchmark": unknown})
        assert (answer.status_code, [*answer.context["form"].errors]) == (422, ["benchmark"])
    Benchmark.objects.update(visibility="private", owner=User.objects.create_user("eve"))
    assert client.get(path).status_code == 404
    assert client.post(PATH, given).status_code == 422


def page(client) -> str:
    return client.get(PATH).content.decode()


@pytest.mark.parametrize(
    ("given", "field"),
    [({"target": "http://hooks.example/"}, "target"), ({"target": "x"}, "target"), ({"way": "mail"}, "target"),
     ({"target": "https://10.0.0.1/x"}, "target"), ({"target": "https://[::1]/"}, "target"),
     ({"name": ""}, "name"), ({"way": "pigeon"}, "way"), ({"least_percent": "101"}, "least_percent")],
)  # fmt: skip
def test_it_names_the_field_that_is_wrong(client, operator, given, field):
    client.force_login(operator)
    answer = client.post(PATH, RULE | given)
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert not TellingRule.objects.exists()


def test_a_person_pauses_tests_and_deletes_a_rule_of_his_own_only(client, operator):
    client.force_login(operator)
    client.post(PATH, RULE | {"way": "mail", "target": "dba@bench.example"})
    path = f"{PATH}{TellingRule.objects.get().pk}/"
    assert "EMAIL_HOST is not set" in client.get(PATH).content.decode()
    assert "EMAIL_HOST is not set" in client.post(path, {"action": "test"}, follow=True).content.decode()
    client.post(path, {"action": "pause"})
    assert TellingRule.objects.get().is_paused
    client.force_login(User.objects.create_user("oscar", role="operator"))
    assert client.post(path, {"action": "delete"}).status_code == 404
    client.force_login(operator)
    client.post(path, {"action": "delete"})
    assert not TellingRule.objects.exists()


def test_the_feed_and_the_badge_show_what_the_reader_may_see(client, contributor):
    file([*nights(range(1, 14)), *nights(range(14, 23), level=0.9)], contributor, at_once=22)
    alert = Alert.objects.get(state="confirmed")
    # A suspicion that was not confirmed.
    Alert.objects.create(state="noise", after=alert.after, since=alert.since, latest=alert.latest)
    feed = ElementTree.fromstring(client.get("/alerts/feed/").content)
    assert [entry.text for entry in feed.findall("{*}entry/{*}id")] == [f"urn:uuid:{alert.pk}"]
    assert change_words(alert.changes.get()) in feed.findtext("{*}entry/{*}summary")
    assert feed.find("{*}author/{*}name") is not None, "required by RFC 4287"
    benchmark = Benchmark.objects.get()
    answer = client.get(f"{benchmark.get_absolute_url()}badge.svg")
    assert answer["Content-Type"] == "image/svg+xml"
    assert len(ElementTree.fromstring(answer.content).findall(".//{*}text")) == 2
    Alert.objects.update(visibility="private", owner=contributor)
    Benchmark.objects.update(visibility="private", owner=contributor)
    assert not ElementTree.fromstring(client.get("/alerts/feed/").content).findall("{*}entry")
    assert client.get(f"{benchmark.get_absolute_url()}badge.svg").status_code == 404


@pytest.mark.parametrize(
    ("state", "told"),
    [("confirmed", "worse since"), ("acknowledged", "worse since"), ("expected", ""), ("noise", "")],
)  # fmt: skip
def test_the_badge_shows_the_change_that_is_open_until_a_person_has_settled_it(client, contributor, state, told):
    """Was: "undecided" from the fourth night after a step on, as half of the batches before it lay on either side."""
    file([*nights(range(1, 14)), *nights(range(14, 20), level=0.9)], contributor, at_once=22)
    Alert.objects.update(state=state)
    benchmark = Benchmark.objects.get()
    drawn = client.get(f"{benchmark.get_absolute_url()}badge.svg").content.decode()
    assert ("%" in drawn, "worse since" in drawn, "undecided" in drawn) == (bool(told), bool(told), False)
