"""Which machines there are: registering, approving, when they were last heard of; what they offer."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

from benchagent.catalog import DBMSS
from benchagent.protocol import ConfinementFacts, HardwareFacts, Poll, Registration
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agents import enqueueing
from agents.models import ONLINE_WITHIN, Agent, AgentStatus, EnrolmentCode, Job, Reservation
from agents.refusals import BadMessage, FieldErrors, Refusal
from runs.access.changes import record
from runs.formatting import version_order
from runs.machines import upsert_hardware
from runs.models import digest_secret
from runs.models.choices import RunState
from runs.models.visible import Person

TOKEN_PREFIX = "bsa_"
MAX_LABELS = 20
LABEL = re.compile(r"[\w.:-]{1,40}")
SEEN_EVERY = timedelta(seconds=5)
MAX_PENDING = 20
# Everything that an agent reports about its machine, as JSON; 60 engines and 40 disks take 40 kB.
MAX_FACTS_BYTES = 256 * 1024
FACTS = ("facts", "engines", "places", "observations", "confinement", "errands")
NOT_TOLD: ConfinementFacts = {"confined": False, "words": "the agent does not tell what its jobs may reach"}


def register(*, message: Registration) -> tuple[Agent, str]:
    """A new agent and its token, which is not stored; with a code that was made for an agent this one. Raises Refusal.

    Approved with a valid one-time code, unless its jobs are not confined: that needs an operator's yes.
    """
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    name = message["name"].strip()[:200] or message["hardware"]["hostname"][:200] or "unnamed agent"
    with transaction.atomic():
        code = message.get("code", "").strip()
        invited = EnrolmentCode.redeem(code) if code else None
        confinement = message.get("confinement", NOT_TOLD)
        approved = invited is not None and confinement["confined"]
        if not invited and not settings.OPEN_REGISTRATION:
            why = "the one given is unknown, used or older than an hour" if code else "none was given"
            raise Refusal(
                403,
                f"This server takes agents with a one-time code only, and {why}: an operator makes one on the agents "
                f"page; start the agent with --code-file FILE.",
            )
        if not invited and Agent.objects.filter(status=AgentStatus.PENDING).count() >= MAX_PENDING:
            raise Refusal(429, "Too many agents wait for approval already.")  # registering needs no login here
        agent = invited.agent if invited else None
        slug = Agent.free_slug(name)
        # Two of one host name are told apart where names are shown.
        agent = agent or Agent(slug=slug, name=slug if Agent.objects.filter(name=name).exists() else name)
        agent.status = AgentStatus.APPROVED if approved else AgentStatus.PENDING
        agent.token_digest = digest_secret(secret)
        agent.facts = message["hardware"]
        agent.engines = list(message["engines"])
        agent.places = list(message.get("places", []))
        agent.observations = list(message.get("observations", []))
        agent.confinement = confinement
        agent.agent_version = message["agent_version"][:40]
        agent.last_seen_at = timezone.now()
        _check_size(agent)
        agent.save()
        if approved:
            _settle_hardware(agent)
    enqueueing.enqueue(enqueueing.SWEEP)
    return agent, secret


def _settle_hardware(agent: Agent) -> None:
    """Make its reported facts the hardware profile that its results refer to; damaged ones come with its next poll."""
    if not agent.facts:
        return
    before, facts = agent.hardware, cast(HardwareFacts, agent.facts)
    hostname = before.details.get("hostname") if before else None
    agent.hardware = upsert_hardware(facts=facts, name=agent.name, agent=agent.slug)
    agent.save(update_fields=["hardware"])
    if hostname is not None:
        record(target=agent, field="host name", old=hostname, new=facts["hostname"], by=None)
    given, machine = facts.get("machine_id", ""), agent.hardware.details.get("machine_id", "")
    if machine != given and (before is None or before.details.get("machine_id") != machine):
        why = "another machine has this id and other parts: this one is taken for a copy of its image"
        record(target=agent, field="machine", old=given[:8], new=machine, by=None, reason=why)


def _check_size(agent: Agent) -> None:
    size_bytes = len(json.dumps([getattr(agent, name) for name in FACTS]))
    if size_bytes > MAX_FACTS_BYTES:
        raise Refusal(
            413,
            f"What the agent tells of its machine and engines takes {size_bytes // 1024} kB; "
            f"at most {MAX_FACTS_BYTES // 1024} kB are kept.",
        )
    for number, engine in enumerate(agent.engines):
        if not VERSION.fullmatch(engine["version"]):
            raise BadMessage(f"engines[{number}].version", "must be 1 to 120 printable ASCII characters")


def update(agent: Agent, *, poll: Poll) -> None:
    """Take what a poll reports. Writes only what changed, and the time at most every few seconds.

    Raises Refusal where that is too much.
    """
    back = not agent.is_online
    reported: dict[str, Any] = {
        "engines": poll.get("engines"),
        "places": poll.get("places"),
        "observations": poll.get("observations"),
        "confinement": poll.get("confinement"),
        # One that tells of its engines and of no errands is too old for them.
        "errands": poll.get("errands", {} if "engines" in poll else None),
        "agent_version": poll["agent_version"][:40],
        "facts": poll.get("hardware"),
    }
    changed = [name for name, value in reported.items() if value is not None and value != getattr(agent, name)]
    if "confinement" in changed and agent.confinement.get("confined") and agent.status == AgentStatus.APPROVED:
        reported["status"] = agent.status if reported["confinement"]["confined"] else AgentStatus.PENDING
        changed.append("status")
    for name in changed:
        setattr(agent, name, reported[name])
    if changed:
        _check_size(agent)
        with transaction.atomic():
            agent.save(update_fields=changed)
            if "facts" in changed and agent.status == AgentStatus.APPROVED:
                _settle_hardware(agent)
    if poll.get("leaving"):
        # What it was given and has not begun goes back into the queue, and nothing more is given to it.
        agent.change(last_seen_at=timezone.now() - ONLINE_WITHIN)
        enqueueing.enqueue(enqueueing.SWEEP)
        return
    touch(agent)
    if changed or back:
        enqueueing.enqueue(enqueueing.SWEEP)


def touch(agent: Agent) -> None:
    """Note that the agent was heard of, at most every `SEEN_EVERY`."""
    now = timezone.now()
    stale = Q(last_seen_at=None) | Q(last_seen_at__lt=now - SEEN_EVERY)
    if agent.last_seen_at is None or agent.last_seen_at < now - SEEN_EVERY:
        Agent.objects.filter(stale, pk=agent.pk).update(last_seen_at=now)


def approve(agent: Agent, *, by: Person = None) -> None:
    with transaction.atomic():
        edit(agent, by=by, status=AgentStatus.APPROVED)
        _settle_hardware(agent)
    enqueueing.enqueue(enqueueing.SWEEP)


def disable(agent: Agent, *, by: Person = None) -> None:
    """Give it no more runs. What it is doing goes on, and its result is taken."""
    edit(agent, by=by, status=AgentStatus.DISABLED)


def retire(agent: Agent, *, by: Person) -> None:
    """It is gone for good: its token opens nothing any more. What it has measured stays, and what it measures now is
    taken. Runs that waited for it since their experiment began there, and not since a plan named it, may go elsewhere.
    """
    with transaction.atomic():
        edit(agent, by=by, status=AgentStatus.RETIRED)
        agent.change(token_digest=digest_secret(secrets.token_urlsafe(32)))
        waiting = Job.objects.filter(requested_agent=agent, run__state=RunState.QUEUED)
        plans = waiting.filter(run__experiment__isnull=False).values_list("pk", "run__experiment__plan")
        freed = [pk for pk, plan in plans if not plan.get("agent") and not plan.get("each")]
        Job.objects.filter(pk__in=freed).update(requested_agent=None)
    enqueueing.enqueue(enqueueing.SWEEP)


def describe(agent: Agent, *, by: Person, name: str, labels: Iterable[str]) -> None:
    """Its address stays. Raises FieldErrors for a name that another agent has and for labels that are none."""
    if Agent.objects.filter(name=name).exclude(pk=agent.pk).exists():
        raise FieldErrors(name=f"Another agent is called {name}.")
    wanted = sorted(set(labels))
    if wrong := [label for label in wanted if not LABEL.fullmatch(label)]:
        raise FieldErrors(labels=f"Not a label: {', '.join(wrong)}. A label is 1 to 40 letters, digits and . _ : -")
    if len(wanted) > MAX_LABELS:
        raise FieldErrors(labels=f"At most {MAX_LABELS} labels.")
    edit(agent, by=by, name=name, labels=wanted)


def edit(agent: Agent, *, by: Person, **values: Any) -> None:
    """Set these columns; who changed what is kept."""
    with transaction.atomic():
        for name, value in values.items():
            record(target=agent, field=name, old=getattr(agent, name), new=value, by=by)
        agent.change(**values)


def remove(agent: Agent) -> bool:
    """Forget an agent that was never approved, or that is retired: its token opens nothing. False: it is neither."""
    gone = AgentStatus.PENDING, AgentStatus.RETIRED
    return Agent.objects.filter(pk=agent.pk, status__in=gone).delete()[0] > 0


def forget_stale() -> None:
    """Housekeeping: codes and reservations that are over, agents that nobody approved and that are gone for a week."""
    now = timezone.now()
    EnrolmentCode.objects.filter(expires_at__lt=now - timedelta(days=7)).delete()
    Reservation.objects.filter(ends_at__lt=now - timedelta(days=7)).delete()
    Agent.objects.filter(status=AgentStatus.PENDING, last_seen_at__lt=now - timedelta(days=7)).delete()


# The engines


@dataclass(frozen=True)
class Engine:
    """`connection`: the agent's name for a server that it did not start; on it nothing is set."""

    dbms: str
    version: str
    connection: str = ""

    @property
    def key(self) -> str:
        """As "postgresql:15.20", or "postgresql:15.20@name" for a server that the agent did not start."""
        return f"{self.dbms}:{self.version}" + (f"@{self.connection}" if self.connection else "")

    @property
    def label(self) -> str:
        name = DBMSS[self.dbms].name if self.dbms in DBMSS else self.dbms
        where = f" on connection {self.connection}" if self.connection else ""
        return f"{name} {self.version}".rstrip() + where


@dataclass
class Offer:
    """`agents` have the engine. `reasons` says per agent why it is not available there.

    `observed_by`: who samples the server of its connection, as "agent/observation".
    """

    engine: Engine
    observed_by: str = ""
    agents: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def unverified(self) -> str:
        """Why this engine is not verified against a live server; empty where it is."""
        return DBMSS[self.engine.dbms].unverified

    @property
    def reason(self) -> str:
        return "; ".join(dict.fromkeys(self.reasons))


def approved_agents() -> list[Agent]:
    rows = Agent.objects.filter(status=AgentStatus.APPROVED).with_reservations()
    return list(rows.select_related("hardware"))


def offers(agents: list[Agent]) -> list[Offer]:
    """Every engine version that any of these agents reports, in the order of the catalogue, newest version first."""
    by_engine: dict[Engine, Offer] = {}
    for agent in agents:
        for facts in agent.engines:
            if facts["dbms"] not in DBMSS:
                continue
            engine = Engine(facts["dbms"], facts["version"], facts.get("connection", ""))
            offer = by_engine.setdefault(engine, Offer(engine, facts.get("observed_by", "")))
            if facts["available"]:
                offer.agents.append(agent.name)
            else:
                offer.reasons.append(f"{agent.name}: {facts['reason']}" if len(agents) > 1 else facts["reason"])
    order = list(DBMSS)
    newest_first = sorted(by_engine.values(), key=lambda offer: version_order(offer.engine.version), reverse=True)
    return sorted(newest_first, key=lambda offer: order.index(offer.engine.dbms))


def newest(agent: Agent, dbms: str, version: str = "") -> Engine | None:
    """The newest version of a DBMS that the agent starts itself and that begins so; None where it has none to use.

    One whose files are still being fetched counts: its runs wait for them.
    """
    versions = [
        facts["version"]
        for facts in agent.engines
        if facts["dbms"] == dbms
        and (facts["available"] or facts.get("pending"))
        and not facts.get("connection")
        and (not version or facts["version"] == version or facts["version"].startswith((f"{version}.", f"{version} ")))
    ]
    # A build that somebody has named by its text (16.1-head) counts after 16.1.
    return Engine(dbms, max(versions, key=lambda each: (version_order(each), -len(each)))) if versions else None


VERSION = re.compile(r"[ -~]{1,120}")


# The storages


@dataclass(frozen=True)
class SecondStorage:
    """Where the articles' second disk stands in re-runs.

    `same_disk`: it lies on a physical disk that the agent's own storage lies on too.
    """

    name: str
    emulated: bool = False
    same_disk: bool = False

    @classmethod
    def of(cls, agent: Agent, preferred: str = "") -> SecondStorage | None:
        """That of the name, else the first; None where the machine has no second storage."""
        usable = {storage["name"]: storage for storage in agent.places if not storage["problem"]}
        own = usable.pop("default", None)
        if not usable:
            return None
        name = preferred if preferred in usable else next(iter(usable))
        shared = own is not None and not set(own["disks"]).isdisjoint(usable[name]["disks"])
        return cls(name, emulated=bool(usable[name]["emulated"]), same_disk=shared)

    @property
    def words(self) -> str:
        return f"{self.name} (emulated)" if self.emulated else self.name

    @property
    def nature(self) -> str:
        """What to know of a comparison with it; empty of a disk of its own."""
        words = ("emulated" if self.emulated else "", "same physical disk" if self.same_disk else "")
        return ", ".join(word for word in words if word)
