"""Which machines there are: registering, approving, what they offer, when they were last heard of."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any, cast

from benchagent.protocol import HardwareFacts, Poll, Registration
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agents import hints
from agents.models import Agent, AgentStatus, EnrolmentCode
from runs import machines
from runs.models import digest_secret

TOKEN_PREFIX = "bsa_"
SEEN_EVERY = timedelta(seconds=5)
MAX_PENDING = 100


class TooManyPending(Exception):
    """So many agents wait for approval that no more are taken: registering needs no login."""


def register(*, message: Registration) -> tuple[Agent, str]:
    """A new agent and its token, which is not stored. Approved with a valid one-time code. Raises TooManyPending."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    name = message["name"].strip()[:200] or message["hardware"]["hostname"][:200] or "unnamed agent"
    with transaction.atomic():
        code = message.get("code", "").strip()
        approved = bool(code) and EnrolmentCode.redeem(code)
        if not approved and Agent.objects.filter(status=AgentStatus.PENDING).count() >= MAX_PENDING:
            raise TooManyPending
        agent = Agent.objects.create(
            slug=Agent.free_slug(name),
            name=name,
            status=AgentStatus.APPROVED if approved else AgentStatus.PENDING,
            token_digest=digest_secret(secret),
            facts=message["hardware"],
            engines=list(message["engines"]),
            places=list(message.get("places", [])),
            observations=list(message.get("observations", [])),
            agent_version=message["agent_version"][:40],
            last_seen_at=timezone.now(),
        )
        if approved:
            _settle_hardware(agent)
    hints.hint(hints.SWEEP)
    return agent, secret


def _settle_hardware(agent: Agent) -> None:
    """Make its reported facts the hardware profile that its results refer to."""
    agent.hardware = machines.upsert_hardware(facts=cast(HardwareFacts, agent.facts), name=agent.name)
    agent.save(update_fields=["hardware"])


def by_token(secret: str) -> Agent | None:
    return Agent.objects.filter(token_digest=digest_secret(secret)).first() if secret else None


def update(agent: Agent, *, poll: Poll) -> None:
    """Take what a poll reports. Writes only what changed, and the time at most every few seconds."""
    back = not agent.is_online
    told: dict[str, Any] = {
        "engines": poll.get("engines"),
        "places": poll.get("places"),
        "observations": poll.get("observations"),
        "agent_version": poll["agent_version"][:40],
        "facts": poll.get("hardware"),
    }
    changed = [name for name, value in told.items() if value is not None and value != getattr(agent, name)]
    for name in changed:
        setattr(agent, name, told[name])
    if changed:
        with transaction.atomic():
            agent.save(update_fields=changed)
            if "facts" in changed and agent.status == AgentStatus.APPROVED:
                _settle_hardware(agent)
    touch(agent)
    if changed or back:
        hints.hint(hints.SWEEP)


def touch(agent: Agent, *, now: datetime | None = None) -> None:
    """Note that the agent was heard of, at most every `SEEN_EVERY`."""
    now = now or timezone.now()
    stale = Q(last_seen_at=None) | Q(last_seen_at__lt=now - SEEN_EVERY)
    if agent.last_seen_at is None or agent.last_seen_at < now - SEEN_EVERY:
        Agent.objects.filter(stale, pk=agent.pk).update(last_seen_at=now)


def approve(agent: Agent) -> None:
    with transaction.atomic():
        agent.status = AgentStatus.APPROVED
        agent.save(update_fields=["status"])
        _settle_hardware(agent)
    hints.hint(hints.SWEEP)


def disable(agent: Agent) -> None:
    """Give it no more runs. What it is doing goes on, and its result is taken."""
    Agent.objects.filter(pk=agent.pk).update(status=AgentStatus.DISABLED)


def forget_stale(*, now: datetime | None = None) -> None:
    """Housekeeping: codes that are over, and agents that nobody approved and that are gone for a week."""
    now = now or timezone.now()
    EnrolmentCode.objects.filter(expires_at__lt=now - timedelta(days=7)).delete()
    Agent.objects.filter(status=AgentStatus.PENDING, last_seen_at__lt=now - timedelta(days=7)).delete()
