"""One folder per DBMS; `catalog.DBMSS` lists them. Each folder offers its adapter as ``ADAPTER``."""

from __future__ import annotations

from importlib import import_module

from benchagent.catalog import DBMSS
from benchagent.dbms.base import Adapter, EngineContext, JobError
from benchagent.protocol import EngineFacts


def adapter(slug: str) -> Adapter:
    """Raises `JobError` when this agent does not know the DBMS."""
    if slug not in DBMSS:
        raise JobError(f"this agent knows no DBMS called {slug!r}")
    found: Adapter = import_module(DBMSS[slug].module).ADAPTER
    return found


def discover(context: EngineContext) -> list[EngineFacts]:
    """Every engine version on this machine, of every DBMS."""
    return [facts for slug in DBMSS for facts in adapter(slug).discover(context)]
