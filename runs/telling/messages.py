"""What is told of alerts, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from runs.history.alerts import ends_of, title, with_changes
from runs.history.words import change_words
from runs.models import Alert, ChangePoint, Notice, TellingRule

MOST_CHANGES = 5
MOST_OF_SUBJECT = 100


class ChangeMessage(BaseModel):
    """`change` as a share of 1, with its interval."""

    benchmark: str
    machine: str
    url: str
    words: str
    kind: str
    state: str
    side: str
    change: float | None
    low: float | None
    high: float | None

    @property
    def on_machine(self) -> str:
        return f"{self.benchmark} on {self.machine}" if self.machine else self.benchmark

    @classmethod
    def of(cls, point: ChangePoint, rule: TellingRule, *, is_last: bool) -> ChangeMessage:
        benchmark = point.benchmark
        return cls(
            benchmark=str(benchmark), machine=benchmark.hardware.name if benchmark.hardware else "",
            url=rule.site_url + benchmark.get_absolute_url(),
            words=change_words(point, is_last=is_last), kind=point.kind, state=point.state, side=point.side,
            change=point.change.get("value"), low=point.change.get("low"), high=point.change.get("high"),
        )  # fmt: skip


class AlertMessage(BaseModel):
    id: UUID
    url: str
    title: str
    state: str
    since: str
    changes: list[ChangeMessage]

    @classmethod
    def of(cls, alert: Alert, rule: TellingRule) -> AlertMessage:
        alert = with_changes(Alert.objects.filter(pk=alert.pk)).get()
        largest = sorted(alert.standing(), key=lambda point: -point.size)
        ends = ends_of(largest)
        return cls(
            id=alert.pk, url=rule.site_url + alert.get_absolute_url(), title=title(alert, ends), state=alert.state,
            since=f"{alert.since:%Y-%m-%d}",
            changes=[ChangeMessage.of(point, rule, is_last=point.pk not in ends) for point in largest],
        )  # fmt: skip


class NoticeMessage(BaseModel):
    """`status` of its experiment, in progress or ended, and the commit that it tests; empty of what is none."""

    url: str
    title: str
    status: str
    commit: str

    @classmethod
    def of(cls, notice: Notice, rule: TellingRule) -> NoticeMessage:
        plan = notice.experiment.plan if notice.experiment else {}
        commit = plan.get("tested", {}).get("commit", "")
        return cls(url=rule.site_url + notice.path, title=notice.title, status=notice.status, commit=commit)


class Message(BaseModel):
    """What one message tells: of benchmarks and of the lab; nothing is a test."""

    alerts: list[AlertMessage] = []
    notices: list[NoticeMessage] = []

    @classmethod
    def of(cls, alerts: Sequence[Alert], notices: Sequence[Notice], rule: TellingRule) -> Message:
        return cls(
            alerts=[AlertMessage.of(alert, rule) for alert in alerts],
            notices=[NoticeMessage.of(each, rule) for each in notices],
        )

    @property
    def titles(self) -> list[str]:
        return [alert.title for alert in self.alerts] + [notice.title for notice in self.notices]


def subject(message: Message) -> str:
    titles = message.titles
    if not titles:
        return "[Benchsite] A test"
    if len(titles) == 1:
        return f"[Benchsite] {shorten(titles[0], MOST_OF_SUBJECT, placeholder=' …')}"
    return f"[Benchsite] {len(titles)} {'events' if message.notices else 'alerts'}"


def text(message: Message, rule: TellingRule) -> str:
    lines: list[str] = []
    for notice in message.notices:
        lines += [notice.title, notice.url, ""]
    for alert in message.alerts:
        lines += [f"{alert.title} ({alert.state})", alert.url]
        lines += [f"  {change.on_machine}: {change.words}" for change in alert.changes[:MOST_CHANGES]]
        more = len(alert.changes) - MOST_CHANGES
        lines += [f"  and {more} more"] if more > 0 else []
        lines.append("")
    return "\n".join([*lines, f"Told by the rule “{rule.name}”: {rule.site_url}/telling/"])


def body(message: Message, rule: TellingRule) -> dict[str, Any]:
    """`type`: alerts, lab, or test; a message of both is one of alerts, and has notices beside them."""
    kind = "alerts" if message.alerts else "lab" if message.notices else "test"
    fields = message.model_dump(mode="json")
    return {"type": kind, "rule": rule.name} | (fields if message.notices else {"alerts": fields["alerts"]})
