"""What the approved agents offer together: the engines of the schedule form."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.catalog import DBMSS

from agents.machines import registry
from agents.models import Agent, AgentStatus


@dataclass
class Offer:
    """One version of a DBMS. `reasons` says per agent why it is not available there.

    `connection`: the agent's name for a server that it did not start; empty for engines that it starts itself.
    `observed_by`: who samples that server, as "agent/observation".
    """

    dbms: str
    name: str
    version: str
    connection: str = ""
    observed_by: str = ""
    agents: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        return engine_key(self.dbms, self.version, self.connection)

    @property
    def available(self) -> bool:
        return bool(self.agents)

    @property
    def label(self) -> str:
        where = f" on connection {self.connection}" if self.connection else ""
        return f"{self.name} {self.version}".rstrip() + where

    @property
    def unverified(self) -> str:
        """Why this engine is not verified against a live server; empty where it is."""
        return DBMSS[self.dbms].unverified

    @property
    def reason(self) -> str:
        return "; ".join(dict.fromkeys(self.reasons))


def engine_key(dbms: str, version: str, connection: str = "") -> str:
    """As "postgresql:15.20", or "postgresql:15.20@name" for a server that the agent did not start."""
    return f"{dbms}:{version}@{connection}" if connection else f"{dbms}:{version}"


def approved_agents() -> list[Agent]:
    return list(Agent.objects.filter(status=AgentStatus.APPROVED).select_related("hardware"))


def offers(agents: list[Agent]) -> list[Offer]:
    """Every engine version that any of these agents reports, in the order of the catalogue, newest version first."""
    found: dict[str, Offer] = {}
    for agent in agents:
        for engine in registry.engines_of(agent):
            entry = DBMSS.get(engine["dbms"])
            if entry is None:
                continue
            named = engine.get("connection", ""), engine.get("observed_by", "")
            offer = Offer(engine["dbms"], entry.name, engine["version"], *named)
            offer = found.setdefault(offer.key, offer)
            if engine["available"]:
                offer.agents.append(agent.name)
            else:
                offer.reasons.append(f"{agent.name}: {engine['reason']}" if len(agents) > 1 else engine["reason"])
    order = list(DBMSS)
    newest_first = sorted(found.values(), key=lambda offer: version_order(offer.version), reverse=True)
    return sorted(newest_first, key=lambda offer: order.index(offer.dbms))


def version_order(version: str) -> list[tuple[int, str]]:
    """Sorts 10.6 before 10.16, and 2.0-beta by its text."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[.\-+_ ]", version)]
