"""Engines that are fetched into the agent's own folder: which there are, how they get there, which are there."""

from __future__ import annotations

from benchagent.engines.installed import InstalledEngine, installed

__all__ = ["InstalledEngine", "installed"]
