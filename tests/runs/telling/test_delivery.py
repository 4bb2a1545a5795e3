from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from aiosmtpd.controller import Controller
from benchagent.dbms.private_server import free_port
from django.test import override_settings
from django.utils import timezone

from benchsite.settings import env_networks
from runs.history import alerts
from runs.models import Alert, Benchmark, Notice, Telling, TellingRule
from runs.models.choices import AlertState
from runs.telling import delivery
from runs.telling.calling import NotReached, post
from tests.runs.history.nights import file, nights

pytestmark = pytest.mark.django_db
LATER = timedelta(minutes=3)


class Hook(HTTPServer):
    """A server that keeps what is posted and answers what it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Keep)
        self.status = 200
        self.got: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Keep(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.status)
        if 300 <= self.server.status < 400:
            self.send_header("Location", self.server.url)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hook(settings, monkeypatch) -> Iterator[Hook]:
    monkeypatch.setenv("TELL_NETWORKS", "127.0.0.0/8")
    settings.TELL_NETWORKS = env_networks("TELL_NETWORKS")
    with Hook() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Mailbox:
    def __init__(self) -> None:
        self.mails: list[Any] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.mails.append(envelope)
        return "250 OK"


@pytest.fixture
def mailbox(settings) -> Iterator[Mailbox]:
    box = Mailbox()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    controller = Controller(box, hostname=settings.EMAIL_HOST, port=settings.EMAIL_PORT)
    controller.start()
    yield box
    controller.stop()


def rule_of(owner, **more) -> TellingRule:
    given = {"name": "nights", "way": "webhook", "target": "", "secret": delivery.new_secret()} | more
    return TellingRule.objects.create(owner=owner, site_url="http://bench.example", **given)


def slower(contributor, level: float = 0.9, **more) -> Alert:
    file([*nights(range(1, 14), **more), *nights(range(14, 23), level=level, **more)], contributor, at_once=22)
    return Alert.objects.get(state=AlertState.CONFIRMED)


def tell(after: timedelta = LATER) -> int:
    delivery.keep_up()
    return delivery.keep_up(now=timezone.now() + after)


def test_a_confirmed_alert_is_posted_once_and_signed(contributor, operator, hook):
    rule = rule_of(operator, target=hook.url)
    alert = slower(contributor)
    assert (tell(), tell(), tell(timedelta(days=2))) == (1, 0, 0)
    ((headers, body),) = hook.got
    told = json.loads(body)["alerts"][0]
    assert (told["id"], told["state"], told["url"]) == (
        str(alert.pk), "confirmed", f"http://bench.example/alerts/{alert.pk}/",
    )  # fmt: skip
    assert told["changes"][0]["change"] == pytest.approx(-0.1, abs=0.02)
    assert told["changes"][0]["side"] == "worse"
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(rule.secret.removeprefix("whsec_"))
    made = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{made}"
    assert rule.secret.encode() not in body


@pytest.mark.parametrize(("of_own", "told"), [(True, 1), (False, 0)])
@pytest.mark.parametrize("fact", ["metric", "benchmark"])
def test_a_rule_of_a_metric_or_a_benchmark_tells_of_no_other(contributor, operator, hook, fact, of_own, told):
    slower(contributor)
    benchmark = Benchmark.objects.get()
    own = benchmark if fact == "benchmark" else benchmark.metric
    other = type(own).objects.get(pk=own.pk)
    other.pk = None if fact == "metric" else uuid4()
    other.__dict__.update({"unit": "other"} if fact == "metric" else {"key": "other"})
    other._state.adding = True
    other.save()
    rule_of(
        operator, target=hook.url, created_at=timezone.now() - timedelta(days=1), **{fact: own if of_own else other}
    )
    assert tell() == told


def test_it_is_mailed_with_what_changed_and_where_to_look(contributor, operator, mailbox):
    rule_of(operator, way="mail", target="dba@bench.example")
    alert = slower(contributor)
    assert tell() == 1
    (mail,) = mailbox.mails
    text = mail.content.decode()
    assert mail.rcpt_tos == ["dba@bench.example"]
    assert alert.get_absolute_url() in text
    assert "Subject: [Benchsite]" in text


def test_what_does_not_arrive_is_tried_again_and_at_last_given_up(contributor, operator, hook):
    rule_of(operator, target=hook.url)
    slower(contributor)
    hook.status = 503
    assert tell() == 0
    telling = Telling.objects.get()
    assert (telling.attempts, telling.problem) == (1, "127.0.0.1 answered 503")
    assert delivery.keep_up(now=telling.due_at - timedelta(seconds=1)) == 0
    assert len(hook.got) == 1
    hook.status = 200
    assert delivery.keep_up(now=telling.due_at) == 1
    telling.refresh_from_db()
    assert (telling.told_at is not None, telling.problem) == (True, "")
    hook.status = 500
    Telling.objects.update(told_at=None, attempts=len(delivery.RETRIES) - 1)
    delivery.keep_up(now=telling.due_at + timedelta(days=1))
    assert delivery.keep_up(now=telling.due_at + timedelta(days=9)) == 0
    assert Telling.objects.get().given_up_at is not None


def test_a_retry_stays_the_message_it_was_whatever_else_is_told_by_then(operator, hook):
    rule, now = rule_of(operator, target=hook.url, tells_lab=True), timezone.now()
    hook.status = 503
    for number, minutes in enumerate((0, 0.5, 2, 8, 40)):
        Notice.objects.create(key=f"stalled {number}", title=f"The queue {number}", path="/queue/", at=now)
        delivery.keep_up(now=now + timedelta(minutes=minutes))
    tried = {(headers["webhook-id"], told_titles(body)) for headers, body in hook.got}
    assert sorted(titles for _, titles in tried) == [(f"The queue {number}",) for number in range(5)]
    assert len({pk for pk, _ in tried}) == 5 < len(hook.got)
    assert rule.tellings.values("message").distinct().count() == 5


def told_titles(body: bytes) -> tuple[str, ...]:
    return tuple(notice["title"] for notice in json.loads(body)["notices"])


@pytest.mark.parametrize(
    ("more", "told"),
    [({}, 1), ({"least_percent": 9}, 1), ({"least_percent": 12}, 0), ({"is_paused": True}, 0)],
)  # fmt: skip
def test_a_rule_tells_what_it_asks_for(contributor, operator, hook, more, told):
    rule_of(operator, target=hook.url, **more)
    slower(contributor)
    assert tell() == told


def test_what_became_better_is_told_to_who_asks_for_every_change(contributor, operator, hook):
    rule_of(operator, target=hook.url)
    rule_of(operator, target=hook.url, name="all", worse_only=False)
    slower(contributor, level=1.1)
    assert tell() == 1
    assert [json.loads(body)["rule"] for _, body in hook.got] == ["all"]


def test_a_daily_rule_tells_everything_in_one_message_in_the_morning(contributor, operator, hook):
    rule_of(operator, target=hook.url, daily=True)
    alert = slower(contributor)
    Alert.objects.create(state="confirmed", after=alert.after, since=alert.since, latest=alert.latest)
    Telling.objects.all().delete()
    delivery.keep_up()
    assert {telling.due_at.hour for telling in Telling.objects.all()} <= {7}
    assert tell(timedelta(minutes=1)) == 0 or timezone.now().hour == 6
    delivery.keep_up(now=timezone.now() + timedelta(days=1))
    assert len(hook.got) == 1


def test_nobody_is_told_of_what_he_may_not_see(contributor, operator, hook):
    rule_of(operator, target=hook.url)
    slower(contributor, visibility="private")
    assert tell() == 0
    rule_of(contributor, target=hook.url, name="own")
    Alert.objects.update(state_changed_at=timezone.now())
    assert tell() == 1
    assert alerts.title(Alert.objects.get(state="confirmed"))


@override_settings(TELL_NETWORKS=[])
@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "192.168.1.1", "[::ffff:127.0.0.1]", "0.0.0.0",
     "[fe80::1]", "[fd00::1]", "2130706433", "224.0.0.1"],
)  # fmt: skip
def test_it_calls_nothing_that_only_this_server_reaches(host):
    with pytest.raises(NotReached, match="TELL_NETWORKS"):
        post(f"https://{host}/", b"{}", {})


@override_settings(TELL_NETWORKS=[])
@pytest.mark.parametrize(
    ("url", "why"),
    [("http://example.com/", "Only https"), ("https://user:pw@example.com/", "user name"), ("ftp://x/", "form"),
     ("x", "form"), ("https://[/", "form")],
)  # fmt: skip
def test_it_calls_nothing_but_a_plain_address_of_https(url, why):
    with pytest.raises(NotReached, match=why):
        post(url, b"{}", {})


def test_it_follows_no_redirect(hook):
    hook.status = 302
    with pytest.raises(NotReached, match="302"):
        post(hook.url, b"{}", {})
    assert len(hook.got) == 1


@pytest.mark.parametrize(
    ("daily", "judged"), [(False, AlertState.NOISE), (True, AlertState.NOISE), (True, AlertState.EXPECTED)]
)
def test_nobody_is_woken_by_what_was_judged_before_it_was_told(contributor, operator, hook, daily, judged):
    """Was: a daily rule told the suspicions of the night that the morning had refuted, or called expected."""
    rule_of(operator, target=hook.url, tells_new=True, daily=daily)
    file([*nights(range(1, 14)), *nights([14], level=0.9)], contributor, at_once=14)
    delivery.keep_up()
    assert Telling.objects.get().state == AlertState.NEW
    alerts.move(Alert.objects.get(), judged)
    assert tell(timedelta(days=2)) == 0
    assert hook.got == []
    alerts.move(Alert.objects.get(), AlertState.CONFIRMED)
    assert tell(timedelta(days=4)) > 0
