"""Between two points of a benchmark: what a plan measures in turn on the agent of both, so that the place shows.

Where their versions differ these are the versions between that the agent has; else the settings that differ, each at
both its values. Both ends are among the cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from benchagent.protocol import JobSpec

from agents.models import Agent, Job
from agents.refusals import FieldErrors
from runs.formatting import version_order
from runs.models import Run
from runs.models.runs import RunQuerySet

# Every combination of the settings is run: eight cells.
MOST_SETTINGS, MOST_VERSIONS = 3, 8
REPEATS = 3


def plan_between(old: Run, new: Run) -> dict[str, Any]:
    """The plan as the schedule form takes it. Raises FieldErrors where there is nothing between them to be measured."""
    agent, a, b = measured_by_one_agent(old, new)
    engines, swept = [[b["dbms"], b["dbms_version"]]], dict[str, list[str]]()
    if a["dbms_version"] != b["dbms_version"]:
        between = versions_between(agent, b["dbms"], a["dbms_version"], b["dbms_version"])
        step = max(1, -(-(len(between) - 1) // (MOST_VERSIONS - 1)))
        engines = [[b["dbms"], version] for version in dict.fromkeys([*between[::step], between[-1]])]
    else:
        swept = differing(dict(a["settings"]), dict(b["settings"]), MOST_SETTINGS)
    settings = [[name, value] for name, value in b["settings"] if name not in swept]
    return {
        "workload": b["workload"], "engines": engines, "factors": dict(b["factors"]), "repeats": REPEATS,
        "settings": {b["dbms"]: settings}, "swept": {b["dbms"]: swept} if swept else {},
        "agent": agent.slug, "name": f"Between {old.measured_at:%Y-%m-%d} and {new.measured_at:%Y-%m-%d}",
    }  # fmt: skip


def ends_of(runs: RunQuerySet, ids: Iterable[UUID]) -> tuple[Run, Run]:
    """Two of these runs, what was measured first as the old end. Raises FieldErrors."""
    found = list(runs.present().filter(pk__in=ids).exclude(measured_at=None).order_by("measured_at"))
    if len(found) != 2:
        raise FieldErrors(runs="Name two runs that were measured: what lies between them is looked at.")
    return found[0], found[1]


def measured_by_one_agent(old: Run, new: Run) -> tuple[Agent, JobSpec, JobSpec]:
    """The agent of both, and what each was asked. Raises FieldErrors where nothing can lie between them."""
    jobs = {job.run_id: job for job in Job.objects.filter(run__in=[old.pk, new.pk]).select_related("agent")}
    agents = {job.agent for job in jobs.values()}
    agent = agents.pop() if len(jobs) == 2 and len(agents) == 1 else None
    if agent is None:
        raise FieldErrors(agent="Both must have been measured by one agent, which can measure what lies between.")
    a, b = jobs[old.pk].spec, jobs[new.pk].spec
    alike = ("workload", "workload_version", "dbms", "factors")
    if unlike := [name.replace("_", " ") for name in alike if a.get(name) != b.get(name)]:
        raise FieldErrors(workload=f"They differ in {', '.join(unlike)}: nothing lies between.")
    return agent, a, b


def versions_between(agent: Agent, dbms: str, one: str, other: str) -> list[str]:
    """Those that the agent has from one to the other, both ends included. Raises FieldErrors."""
    first, last = sorted((one, other), key=version_order)
    low, high = version_order(first), version_order(last)
    offered = {engine["version"] for engine in agent.engines if engine["dbms"] == dbms}
    if missing := sorted({one, other} - offered):
        raise FieldErrors(engines=f"The agent has not {', '.join(missing)} any more: install it again.")
    if low == high:
        raise FieldErrors(engines=f"Nothing tells which of {first} and {last} is the older one.")
    between = sorted((each for each in offered if low < version_order(each) < high), key=version_order)
    return [first, *between, last]


def differing(a: dict[str, str], b: dict[str, str], most: int) -> dict[str, list[str]]:
    """The settings of which both state another value, with both; at most so many. Raises FieldErrors."""
    differ = {name: [a[name], value] for name, value in b.items() if name in a and a[name] != value}
    if one_sided := sorted(a.keys() ^ b.keys()):
        raise FieldErrors(settings=f"{', '.join(one_sided)}: one of them leaves it out, so say its value first.")
    if not differ:
        raise FieldErrors(settings="Version and settings are the same: nothing lies between that can be chosen.")
    if len(differ) > most:
        raise FieldErrors(settings=f"{len(differ)} settings differ; at most {most} can be measured this way.")
    return differ
