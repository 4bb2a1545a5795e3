"""Factors with which no job works on a server of others, since something there would be set, copied or started anew."""

from __future__ import annotations

from benchagent.catalog.factors import KNOBS
from benchagent.dbms.base import Adapter, JobError
from benchagent.machine.datasets import FRESH
from benchagent.workloads.base import Factors

LEAVING_ALONE = {"data_origin": ("", FRESH), "cache_state": ("", "warm")}


def refuse_changes(adapter: Adapter, factors: Factors, version: str) -> None:
    """Raises `JobError`. `version` of the server: a knob may have nothing to set there."""
    names = [name for name in (*(knob.name for knob in KNOBS), *LEAVING_ALONE) if name in factors]
    wanted = {name: value for name in names if (value := factors.text(name)) not in LEAVING_ALONE.get(name, ("",))}
    if changing := [
        f"{name}={value}"
        for name, value in wanted.items()
        if name in LEAVING_ALONE or adapter.knob(name, value, version)
    ]:
        words = "nothing is set, copied or started anew on a server that the agent did not start"
        raise JobError(f"{words}: {', '.join(changing)}")
