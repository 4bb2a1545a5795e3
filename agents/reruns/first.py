"""The first experiment: a demonstration that a new installation makes by itself once."""

from __future__ import annotations

from django.conf import settings
from django.db import IntegrityError, transaction

from agents.machines import approved_agents
from agents.plans import schedule
from agents.plans.schedule import FIRST_ENGINES, first_experiment
from agents.reruns.parts import ArticleExperiment, Part, Wanted
from agents.reruns.rerun import prepare
from runs.models import Experiment

SLUG = "first-light"
# Scale 4: each of the 4 terminals can have a branch row of its own.
FACTORS = {"scale_factor": 4, "terminals": 4, "warm_up_s": 10, "duration_s": 5}
REPEATS = 3
NOTE = (
    "A demonstration that runs by itself once, with windows of 5 s: it shows the product at work and is too short to "
    "rank anything. SQLite, Derby and HSQLDB wait for the disk at each commit, H2 does not."
)
PART = Part("engines", "TPC-B profile", "tpcb", tuple(map(Wanted, FIRST_ENGINES)), FACTORS, REPEATS)
EXPERIMENT = ArticleExperiment("", "First light", (PART,))


def start_first() -> Experiment | None:
    """Made once per database, so that a new installation shows a real benchmark within minutes.

    Starts it if there is none and an approved agent has all its engines, or will have them: the runs of those that it
    has do not wait for the others. Safe to call at any time.
    """
    slug = Experiment.free_slug(SLUG)  # before the look, so that of two at once only one gets it
    if not settings.FIRST_RUN or first_experiment():
        return None
    prepared = (prepare(EXPERIMENT, PART, agent) for agent in approved_agents() if agent.is_online)
    plan = next((each.plan for each in prepared if each.plan and not each.gaps), None)
    if plan is None:
        return None
    try:
        with transaction.atomic():
            return schedule.start(plan, user=None, slug=slug, demonstration=True, note=NOTE)
    except IntegrityError:  # another worker was first
        return None
