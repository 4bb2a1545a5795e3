"""The second storage of a machine: where the articles' second disk stands in re-runs."""

from __future__ import annotations

from dataclasses import dataclass

from agents.models import Agent

DEFAULT = "default"


@dataclass(frozen=True)
class SecondStorage:
    """`same_disk`: it lies on a physical disk that the agent's own storage lies on too."""

    name: str
    emulated: bool = False
    same_disk: bool = False

    @classmethod
    def of(cls, agent: Agent, preferred: str = "") -> SecondStorage | None:
        """That of the name, else the first; None where the machine has no second storage."""
        usable = {storage["name"]: storage for storage in agent.places if not storage["problem"]}
        own = usable.pop(DEFAULT, None)
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
        said = ("emulated" if self.emulated else "", "same physical disk" if self.same_disk else "")
        return ", ".join(word for word in said if word)
