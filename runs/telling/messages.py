"""What is told of alerts, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from runs.history.alerts import title
from runs.history.words import change_words
from runs.models import Alert, ChangePoint, TellingRule
from runs.models.choices import ChangeState

MOST_CHANGES = 5


class ChangeTold(BaseModel):
    """`change` as a share of 1, with its interval."""

    benchmark: str
    url: str
    words: str
    kind: str
    state: str
    side: str
    change: float | None
    low: float | None
    high: float | None


class AlertTold(BaseModel):
    id: UUID
    url: str
    title: str
    state: str
    since: str
    changes: list[ChangeTold]


def told(alert: Alert, rule: TellingRule) -> AlertTold:
    standing = alert.changes.exclude(state=ChangeState.REFUTED)
    rows = standing.select_related("benchmark__metric", "benchmark__hardware", "at", "at__version")
    largest = sorted(rows, key=lambda point: -abs(point.change.get("value") or 0))
    return AlertTold(
        id=alert.pk, url=rule.site_url + alert.get_absolute_url(), title=title(alert), state=alert.state,
        since=f"{alert.since:%Y-%m-%d}", changes=[_change(point, rule) for point in largest],
    )  # fmt: skip


def _change(point: ChangePoint, rule: TellingRule) -> ChangeTold:
    benchmark = point.benchmark
    return ChangeTold(
        benchmark=str(benchmark), url=rule.site_url + benchmark.get_absolute_url(), words=change_words(point),
        kind=point.kind, state=point.state, side=point.side,
        change=point.change.get("value"), low=point.change.get("low"), high=point.change.get("high"),
    )  # fmt: skip


def subject(alerts: Sequence[AlertTold]) -> str:
    return f"[Benchsite] {alerts[0].title}" if len(alerts) == 1 else f"[Benchsite] {len(alerts)} alerts"


def text(alerts: Sequence[AlertTold], rule: TellingRule) -> str:
    lines: list[str] = []
    for alert in alerts:
        lines += [f"{alert.title} ({alert.state})", alert.url]
        lines += [f"  {change.benchmark}: {change.words}" for change in alert.changes[:MOST_CHANGES]]
        further = len(alert.changes) - MOST_CHANGES
        lines += [f"  and {further} more"] if further > 0 else []
        lines.append("")
    return "\n".join([*lines, f"Told by the rule “{rule.name}”: {rule.site_url}/telling/"])


def body(alerts: Sequence[AlertTold], rule: TellingRule) -> dict[str, Any]:
    return {"type": "alerts", "rule": rule.name, "alerts": [alert.model_dump(mode="json") for alert in alerts]}
