"""Machines, plans and the agent's side of the protocol, for tests of the agents app."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from benchagent.protocol import API_ROOT, PROTOCOL_VERSION
from django.test import Client
from django.utils import timezone

from agents import enqueueing, machines
from agents.machines import Engine
from agents.models import Agent, AgentStatus, EnrolmentCode
from agents.plans import schedule
from agents.plans.plan import Plan

FACTORS = {"scale_factor": 1, "terminals": 2, "warm_up_s": 2, "duration_s": 5}
EMBEDDED = ("sqlite:3.50.1", "derby:10.16.1.1", "hsqldb:2.7.4", "h2:2.3.232")

HARDWARE: dict[str, Any] = {
    "hostname": "bench1",
    "os": "Debian 12",
    "kernel": "6.1",
    "cpu_model": "Example 3000",
    "cpu_cores": 2,
    "cpu_threads": 4,
    "ram_bytes": 8 * 2**30,
    "motherboard": None,
    "virtualisation": None,
    "storage": [
        {
            "name": "sda", "medium": "SSD", "model": None, "bus": "SATA", "capacity_bytes": 10**12,
            "file_system": "ext4", "mount_point": "/", "mount_options": "rw", "scheduler": None,
            "write_cache": None, "raid": None, "emulated": False,
        }
    ],
}  # fmt: skip

RESULT: dict[str, Any] = {
    "metrics": [{"name": "tps", "value": 812.5, "phase": "run"}],
    "durability": {"durability": "power_loss", "reason": "synchronous = FULL"},
    "effective_settings": [["synchronous", "2"]],
    "ignored_settings": [],
    "storage": [{"role": "data", "device": "sda", "path": "/data"}],
    "product": "SQLite 3.50.1",
    "driver": {"name": "loadgen", "version": "0.1.0"},
    "dataset": {"seed": 1, "rows": 100_000},
    "command_lines": ["java …"],
    "checks": [{"name": "balances", "ok": True, "detail": "they add up"}],
    "warnings": [],
    "per_terminal": [2000, 2062],
    "histogram": None,
}


def facts_of(engine: str, reason: str = "") -> dict[str, Any]:
    dbms, version = engine.split(":")
    return {"dbms": dbms, "version": version, "available": not reason, "reason": reason, "path": "/x"}


def registration(name: str = "bench1", engines: tuple[str, ...] = EMBEDDED, **more: Any) -> dict[str, Any]:
    return {
        "protocol": PROTOCOL_VERSION,
        "agent_version": "0.1.0",
        "confinement": {"confined": True, "words": "jobs run as user nobody"},
        "name": name,
        "hardware": {**deepcopy(HARDWARE), "hostname": name},
        "engines": [facts_of(engine) for engine in engines],
        **more,
    }


def plan_of(*engines: str, repeats: int = 1, **more: Any) -> Plan:
    chosen = tuple(Engine(*engine.split(":")) for engine in engines or ("sqlite:3.50.1",))
    return Plan(workload="tpcb", engines=chosen, factors=FACTORS, repeats=repeats, **more)


@dataclass
class Machine:
    """An agent as the server sees it: what it sends and gets."""

    agent: Agent
    token: str
    client: Client

    def post(self, path: str, body: Any = None, token: str | None = None):
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        return self.client.post(API_ROOT + path, body or {}, content_type="application/json", headers=headers)

    def poll(self, **more: Any):
        return self.post("/poll/", {"protocol": PROTOCOL_VERSION, "agent_version": "0.1.0", **more})

    def claim(self, run_id: Any):
        return self.post(f"/jobs/{run_id}/claim/")

    def batch(self, run_id: Any, job_token: str, seq: int, *items: dict[str, Any]):
        return self.post(f"/jobs/{run_id}/batch/", {"seq": seq, "items": list(items)}, token=job_token)

    def heartbeat(self, run_id: Any, job_token: str):
        return self.post(f"/jobs/{run_id}/heartbeat/", token=job_token)


def state_item(state: str) -> dict[str, Any]:
    return {"kind": "state", "state": state, "at": timezone.now().timestamp()}


def samples_item(*values: float | None, chunk: int = 0, t0_s: float = 0.0) -> dict[str, Any]:
    return {
        "kind": "samples", "metric": "tps", "chunk": chunk, "t0_s": t0_s, "interval_s": 1.0, "values": list(values),
    }  # fmt: skip


def log_item(text: str, offset: int = 0) -> dict[str, Any]:
    return {"kind": "log", "offset": offset, "text": text}


def finish_item(outcome: str = "finished", message: str = "", **result: Any) -> dict[str, Any]:
    at = timezone.now().timestamp()
    return {"kind": "finish", "outcome": outcome, "message": message, "at": at, "result": {**RESULT, **result}}


@pytest.fixture(autouse=True)
def hinted(request, monkeypatch) -> list[tuple[str, tuple[Any, ...]]]:
    """Hints that were given; they reach no broker (but in the test that starts one)."""
    given: list[tuple[str, tuple[Any, ...]]] = []
    if "real_hints" not in request.fixturenames:
        monkeypatch.setattr(enqueueing.sender, "put", given.append)
    return given


@pytest.fixture
def place() -> dict[str, Any]:
    """A storage as an agent tells of it."""
    return {
        "name": "default", "device": "sda", "disks": [], "medium": None, "model": None, "bus": None, "emulated": "",
        "capacity_bytes": 10**9, "free_bytes": 10**9, "problem": "",
    }  # fmt: skip


@pytest.fixture
def machine(client, settings):
    """`machine("bench1", "sqlite:3.50.1", …)` -> a registered, approved, online agent."""

    def make(name: str = "bench1", *engines: str, approved: bool = True) -> Machine:
        settings.OPEN_REGISTRATION = not approved
        more = {"code": EnrolmentCode.issue()} if approved else {}
        agent, token = machines.register(message=registration(name, engines or EMBEDDED, **more))
        assert agent.status == (AgentStatus.APPROVED if approved else AgentStatus.PENDING)
        return Machine(agent, token, client)

    return make


@pytest.fixture
def experiment(machine):
    """Three repeats on one agent, which is its `bench`."""
    bench = machine()
    started = schedule.start(plan_of(repeats=3), user=None)
    started.bench = bench
    return started
