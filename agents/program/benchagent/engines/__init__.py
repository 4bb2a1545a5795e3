"""Engines that are fetched into the agent's own folder: which there are, how they get there, which are there."""

from __future__ import annotations

from benchagent.engines.installed import BrokenRecord, InstalledEngine, broken_records, installed

__all__ = ["BrokenRecord", "InstalledEngine", "broken_records", "installed"]
