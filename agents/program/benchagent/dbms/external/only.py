"""The adapter of a DBMS that the agent cannot start: it is worked with through a connection, or not at all."""

from __future__ import annotations

from benchagent.catalog import DBMSS
from benchagent.dbms.base import Adapter, EngineContext, Instance, JobError, ProvisionRequest
from benchagent.protocol import EngineFacts


class OnlyExternal(Adapter):
    def __init__(self, slug: str) -> None:
        self.slug = slug

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        """None: connections are found by `external.discover`."""
        return []

    def provision(self, request: ProvisionRequest) -> Instance:
        raise JobError(
            f"{DBMSS[self.slug].name} cannot be started by the agent: name a server with `benchagent connections add`"
        )
