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
        """The one that is named so, else the first; None where the machine has one storage only."""
        places = {place["name"]: place for place in agent.places if not place["problem"]}
        own = places.pop(DEFAULT, None)
        if not places:
            return None
        name = preferred if preferred in places else next(iter(places))
        place = places[name]
        shared = own is not None and not set(own["disks"]).isdisjoint(place["disks"])
        return cls(name, emulated=bool(place["emulated"]), same_disk=shared)

    @property
    def words(self) -> str:
        return f"{self.name} (emulated)" if self.emulated else self.name

    @property
    def nature(self) -> str:
        """What to know of a comparison with it; empty of a disk of its own."""
        said = ("emulated" if self.emulated else "", "same physical disk" if self.same_disk else "")
        return ", ".join(word for word in said if word)
