"""Rules find what is to be told; what is due is sent, and tried again where it did not arrive.

The worker comes by every minute: the rows are the truth, so that a lost message or a crash costs a minute, not a
telling. A try is taken by a conditional update before anything is sent, so that two workers never send the same.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Q
from django.utils import timezone

from runs.models import Alert, Notice, Telling, TellingRule
from runs.models.choices import OPEN_ALERTS, AlertState, ChangeState
from runs.models.telling import TellingWay
from runs.telling import chat, messages
from runs.telling.calling import NotReached, post
from runs.telling.forms import FACTS

# Changes of one cause come one after the other: so long is waited for the others of an alert.
GATHERED = timedelta(minutes=2)
DAILY_AT_HOUR = 7
SECRET_PREFIX = "whsec_"
NO_MAIL = "This server sends no mail: EMAIL_HOST is not set."
RETRIES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))


def new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(24)).decode()


def keep_up(*, now: datetime | None = None) -> int:
    """Queue what is new and send what is due. Returns how many tellings arrived."""
    now = now or timezone.now()
    for rule in TellingRule.objects.filter(is_paused=False, owner__is_active=True).select_related("owner"):
        _queue(rule, now)
        if rule.tells_lab:
            _queue_notices(rule, now)
    due = Telling.objects.filter(told_at=None, given_up_at=None, due_at__lte=now, rule__is_paused=False)
    # Nobody is woken by what has proved to be none meanwhile, or what a person has judged: noise, expected, fixed.
    due = due.filter(Q(alert=None) | Q(alert__state__in=OPEN_ALERTS))
    by_message: dict[tuple[TellingRule, uuid.UUID | None], list[Telling]] = defaultdict(list)
    for telling in due.select_related("rule__owner", "alert", "notice").order_by("due_at", "id"):
        by_message[telling.rule, telling.message].append(telling)
    return sum(_send(rule, tellings, message or uuid.uuid4(), now) for (rule, message), tellings in by_message.items())


def _queue(rule: TellingRule, now: datetime) -> None:
    states = [AlertState.CONFIRMED, *([AlertState.NEW] if rule.tells_new else [])]
    fresh = Alert.objects.listed_for(rule.owner).filter(state__in=states, state_changed_at__gte=rule.created_at)
    known = set(rule.tellings.values_list("alert_id", "state"))
    due_at = now + GATHERED
    if rule.daily:
        due_at = now.replace(hour=DAILY_AT_HOUR, minute=0, second=0, microsecond=0)
        due_at += timedelta(days=due_at <= now)
    Telling.objects.bulk_create(
        [
            Telling(rule=rule, alert=alert, state=alert.state, due_at=due_at)
            for alert in fresh
            if (alert.pk, alert.state) not in known and _fits(rule, alert)
        ],
        ignore_conflicts=True,
    )


def _queue_notices(rule: TellingRule, now: datetime) -> None:
    fresh = Notice.objects.visible_to(rule.owner).filter(at__gte=rule.created_at).exclude(tellings__rule=rule)
    if rule.way != TellingWay.WEBHOOK:
        # A pipeline shows what is in progress; no person is written to for that.
        fresh = fresh.exclude(key__startswith=Notice.BEGUN)
    Telling.objects.bulk_create(
        [Telling(rule=rule, notice=notice, due_at=now) for notice in fresh], ignore_conflicts=True
    )


def _fits(rule: TellingRule, alert: Alert) -> bool:
    """Whether one of its changes is what the rule asks for."""
    points = alert.changes.exclude(state=ChangeState.REFUTED)
    for fact in FACTS:
        wanted = getattr(rule, f"{fact}_id")
        points = points.filter(**{f"benchmark__{fact}": wanted}) if wanted else points
    points = points.filter(benchmark=rule.benchmark_id) if rule.benchmark_id else points
    return any(
        (not rule.worse_only or point.side == "worse") and 100 * point.size >= rule.least_percent for point in points
    )


def _send(rule: TellingRule, tellings: Sequence[Telling], message: uuid.UUID, now: datetime) -> int:
    """One message of all that a rule has to tell, or one of before again. Returns how many tellings arrived."""
    taken = [telling for telling in tellings if _claim(telling, message, now)]
    readable = set(
        Alert.objects.listed_for(rule.owner)
        .filter(pk__in=[each.alert_id for each in taken if each.alert_id])
        .values_list("pk", flat=True)
    )
    shown = [telling.alert for telling in taken if telling.alert and telling.alert_id in readable]
    of_lab = Notice.objects.visible_to(rule.owner).filter(pk__in=[each.notice_id for each in taken if each.notice_id])
    notices = list(of_lab.select_related("experiment").order_by("at"))
    if not (shown or notices):
        return 0
    problem = send(rule, shown, notices, message=message)
    for telling in taken:
        if not problem:
            telling.told_at, telling.problem = timezone.now(), ""
        else:
            telling.problem = problem[:500]
            telling.given_up_at = timezone.now() if telling.attempts >= len(RETRIES) else None
        telling.save(update_fields=["told_at", "problem", "given_up_at"])
    return 0 if problem else len(taken)


def _claim(telling: Telling, message: uuid.UUID, now: datetime) -> bool:
    """The next try is this worker's; where it ends here, another follows at its time, as the same message."""
    rows = Telling.objects.filter(pk=telling.pk, attempts=telling.attempts, told_at=None)
    again_at = now + RETRIES[min(telling.attempts, len(RETRIES) - 1)]
    telling.attempts += 1
    return rows.update(attempts=telling.attempts, due_at=again_at, message=message) == 1


def send(
    rule: TellingRule, alerts: Sequence[Alert], notices: Sequence[Notice] = (), *, message: uuid.UUID | None = None
) -> str:
    """Send one message of these, or without any a test. Returns why it did not arrive; empty where it did."""
    content = messages.Message.of(alerts, notices, rule)
    try:
        if rule.way == TellingWay.MAIL:
            _mail(rule, content)
        elif rule.way == TellingWay.CHAT:
            chat.post(rule.target, *_message(rule, content))
        else:
            _call(rule, content, message or uuid.uuid4())
    except NotReached as error:
        return str(error)
    return ""


def _mail(rule: TellingRule, content: messages.Message) -> None:
    if not settings.EMAIL_HOST:
        raise NotReached(NO_MAIL)
    try:
        EmailMessage(*_message(rule, content), to=[rule.target]).send()
    except (SMTPException, OSError) as error:
        raise NotReached(f"The mail server did not take it: {type(error).__name__}") from error


def _message(rule: TellingRule, content: messages.Message) -> tuple[str, str]:
    """Subject and text."""
    return messages.subject(content), messages.text(content, rule)


def _call(rule: TellingRule, content: messages.Message, message: uuid.UUID) -> None:
    """Signed as the Standard Webhooks specification has it (standardwebhooks.com)."""
    body = json.dumps(messages.body(content, rule), separators=(",", ":")).encode()
    message_id, stamp = f"msg_{message.hex}", str(int(time.time()))
    key = base64.b64decode(rule.secret.removeprefix(SECRET_PREFIX))
    signed = hmac.new(key, f"{message_id}.{stamp}.".encode() + body, hashlib.sha256)
    headers = {
        "Content-Type": "application/json", "User-Agent": "Benchsite", "webhook-id": message_id,
        "webhook-timestamp": stamp, "webhook-signature": f"v1,{base64.b64encode(signed.digest()).decode()}",
    }  # fmt: skip
    post(rule.target, body, headers)
