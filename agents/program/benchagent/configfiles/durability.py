"""What a COMMIT promises under the settings in force: the one place for agent and server.

The rules of an engine stand in `benchagent.configfiles.engines`; the classes are `catalog.Durability`.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.catalog import Durability
from benchagent.configfiles.meaning import durability
from benchagent.configfiles.settings import Facts, Given, Promise

__all__ = ["Facts", "Given", "Promise", "durability", "of_effective"]


def of_effective(dbms: str, effective: Mapping[str, str], write_cache: str = "") -> tuple[Durability, str]:
    """Of settings read back from the server, so that nothing is a guess. What cannot be told promises nothing."""
    found = durability(dbms, [Given(name, value) for name, value in effective.items()], Facts(), write_cache)
    return found.durability or Durability.NONE, found.reason
