"""One folder per DBMS; `catalog.DBMSS` has what entry points offer. What the agent can start has an `ADAPTER`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import import_module

from benchagent.catalog import DBMSS
from benchagent.dbms import external
from benchagent.dbms.base import Adapter, EngineContext, Instance, JobError, ProvisionRequest
from benchagent.dbms.discovery import engine_facts, java_problem
from benchagent.dbms.embedded import jar_group
from benchagent.dbms.external.server import external_server
from benchagent.engines import broken_records
from benchagent.java import JavaToolchain
from benchagent.java.jars import Jar
from benchagent.plugins import LACKING
from benchagent.protocol import EngineFacts

log = logging.getLogger(__name__)


def adapter(slug: str) -> Adapter:
    """Raises `JobError` when this agent does not know the DBMS."""
    if slug not in DBMSS:
        raise JobError(f"this agent knows no DBMS called {slug!r}: {LACKING}")
    if not DBMSS[slug].module:
        return OnlyExternal(slug)
    own: Adapter = import_module(DBMSS[slug].module).ADAPTER
    return own


class OnlyExternal(Adapter):
    """The adapter of a DBMS that runs on servers of others only; `external.discover` finds their connections."""

    def __init__(self, slug: str) -> None:
        self.slug = slug

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        return []

    def provision(self, request: ProvisionRequest) -> Instance:
        raise JobError(
            f"{DBMSS[self.slug].name} cannot be started by the agent: name a server with `benchagent connections add`"
        )


def discover(context: EngineContext) -> list[EngineFacts]:
    """Every engine version on this machine, of every DBMS. One that cannot be looked for hides no other."""
    engines: list[EngineFacts] = []
    for slug in DBMSS:
        try:
            engines += adapter(slug).discover(context)
        except Exception:
            log.exception("looking for %s", slug)
    usable = {(facts["dbms"], facts["version"]) for facts in engines}
    for broken in broken_records(context.engines_dir):
        if broken.dbms in DBMSS and (broken.dbms, broken.version) not in usable:
            engines.append(engine_facts(broken.dbms, broken.version, broken.reason, broken.home))
    try:
        engines += external.discover(context.engines_dir.parent)
    except JobError as error:
        log.warning("%s", error)
    if context.supply is not None and not java_problem(context.toolchain):
        for facts in engines:
            lacking = facts["available"] and context.supply.why_missing(_jars(facts, context.toolchain))
            if lacking:
                facts["available"], facts["reason"], facts["pending"] = False, lacking, True
    return engines


def _jars(facts: EngineFacts, toolchain: JavaToolchain) -> Sequence[Jar]:
    """The engine's own, or those of the driver for its server."""
    slug, version = facts["dbms"], facts["version"]
    if "connection" in facts:
        driver = external_server(slug, version, "").driver
        return jar_group(toolchain, slug, driver, driver=bool(driver)).jars
    return jar_group(toolchain, slug, version if DBMSS[slug].embedded else adapter(slug).driver).jars
