"""What the approved agents offer together: the engines of the schedule form."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.catalog import DBMSS

from agents.models import Agent, AgentStatus


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
    return list(Agent.objects.filter(status=AgentStatus.APPROVED).select_related("hardware"))


def offers(agents: list[Agent]) -> list[Offer]:
    """Every engine version that any of these agents reports, in the order of the catalogue, newest version first."""
    known: dict[Engine, Offer] = {}
    for agent in agents:
        for facts in agent.engines:
            if facts["dbms"] not in DBMSS:
                continue
            engine = Engine(facts["dbms"], facts["version"], facts.get("connection", ""))
            offer = known.setdefault(engine, Offer(engine, facts.get("observed_by", "")))
            if facts["available"]:
                offer.agents.append(agent.name)
            else:
                offer.reasons.append(f"{agent.name}: {facts['reason']}" if len(agents) > 1 else facts["reason"])
    order = list(DBMSS)
    newest_first = sorted(known.values(), key=lambda offer: version_order(offer.engine.version), reverse=True)
    return sorted(newest_first, key=lambda offer: order.index(offer.engine.dbms))


def newest(agent: Agent, dbms: str, version: str = "") -> Engine | None:
    """The newest version of a DBMS that the agent starts itself and that begins so; None where it has none to use."""
    versions = [
        facts["version"]
        for facts in agent.engines
        if facts["dbms"] == dbms
        and facts["available"]
        and not facts.get("connection")
        and (not version or facts["version"] == version or facts["version"].startswith((f"{version}.", f"{version} ")))
    ]
    return Engine(dbms, max(versions, key=version_order)) if versions else None


def version_order(version: str) -> list[tuple[int, str]]:
    """Sorts 10.6 before 10.16, and 2.0-beta by its text."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[.\-+_ ]", version)]
