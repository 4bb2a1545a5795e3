"""The first experiment: made once per database, so that a new installation shows a real benchmark within minutes."""

from __future__ import annotations

from django.conf import settings
from django.db import IntegrityError, transaction

from agents.machines.offers import approved_agents, newest
from agents.plans import schedule
from agents.plans.plan import Plan
from runs.models import Experiment

SLUG = "first-light"
# SQLite first: it loads fastest, so that its chart opens soon.
ENGINES = ("sqlite", "derby", "hsqldb", "h2")
# Scale 4: each of the 4 terminals can have a branch row of its own.
FACTORS = {"scale_factor": 4, "terminals": 4, "warm_up_s": 10, "duration_s": 5}
REPEATS = 3
NOTE = (
    "A demonstration that runs by itself once, with windows of 5 s: it shows the product at work and is too short to "
    "rank anything. SQLite, Derby and HSQLDB wait for the disk at each commit, H2 does not."
)


def ensure() -> Experiment | None:
    """Start it if it was never started and an approved agent has all its engines. Safe to call at any time."""
    if not settings.FIRST_RUN or Experiment.objects.filter(slug=SLUG).exists():
        return None
    for agent in approved_agents():
        engines = tuple(filter(None, (newest(agent, dbms) for dbms in ENGINES)))
        if agent.is_online and len(engines) == len(ENGINES):
            break
    else:
        return None
    name = "First light: TPC-B profile"
    plan = Plan(workload="tpcb", engines=engines, factors=FACTORS, repeats=REPEATS, agent=agent, name=name)
    try:
        with transaction.atomic():
            return schedule.start(plan, user=None, slug=SLUG, demonstration=True, note=NOTE)
    except IntegrityError:  # another worker was first
        return None
