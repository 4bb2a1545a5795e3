"""`make experiments`: start the experiments of the articles on the local agent and wait for their results."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents import articles, rerun
from agents.articles import EXPERIMENTS
from agents.estimate import about, estimate
from agents.models import Agent
from agents.offers import approved_agents
from agents.plans import PlanError
from agents.rerun import Prepared
from runs.choices import ENDED_STATES, RunState
from runs.facets import facets
from runs.models import Experiment, Run

LOOK_EVERY_S = 2.0
AGENT_WITHIN_S = 300.0


class Command(BaseCommand):
    help = "Re-run the experiments of the four articles on the local agent; `make up` has to be running."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("publications", nargs="*", metavar="PUBLICATION", help=f"of {', '.join(EXPERIMENTS)}")
        parser.add_argument("--quick", action="store_true", help="every cell once")
        parser.add_argument("--part", action="append", default=[], help="only parts of that name")
        parser.add_argument("--dry-run", action="store_true", help="tell what would be run, and how long it takes")

    def handle(self, *args: Any, **options: Any) -> None:
        unknown = [name for name in options["publications"] if name not in EXPERIMENTS]
        if unknown:
            raise CommandError(f"there is no experiment of {', '.join(unknown)}; there are: {', '.join(EXPERIMENTS)}")
        agent = self._agent()
        prepared = self._prepared(agent, options)
        self._tell(prepared)
        if options["dry_run"]:
            return
        try:
            experiments = [rerun.start(one, user=None) for one in prepared]
        except PlanError as error:
            raise CommandError(f"nothing more was started: {error}") from error
        self._wait(experiments)
        self._summarise(experiments)
        if Run.objects.filter(experiment__in=experiments).exclude(state=RunState.FINISHED).exists():
            raise CommandError("not every run has finished: see above")

    def _agent(self) -> Agent:
        """The best one that is there; a new installation's own needs a moment."""
        deadline = time.monotonic() + AGENT_WITHIN_S
        while time.monotonic() < deadline:
            found = articles.best_agent([agent for agent in approved_agents() if agent.is_online])
            if found is not None:
                return found
            time.sleep(LOOK_EVERY_S)
        raise CommandError("no approved agent is online: start `make up`")

    def _prepared(self, agent: Agent, options: dict[str, Any]) -> list[Prepared]:
        chosen = options["publications"] or list(EXPERIMENTS)
        return [
            rerun.prepare(EXPERIMENTS[name], part, agent, quick=options["quick"])
            for name in chosen
            for part in EXPERIMENTS[name].parts
            if not options["part"] or part.slug in options["part"]
        ]

    def _tell(self, prepared: Sequence[Prepared]) -> None:
        total_s = 0.0
        for one in prepared:
            guess = estimate(one.plan) if one.plan else None
            total_s += guess.seconds if guess else 0
            self.stdout.write(f"{one.part.slug}: {one.part.title}: {guess.words if guess else 'nothing can be run'}")
            for gap in one.gaps:
                self.stdout.write(f"    gap: {gap.label}: {gap.reason}")
        self.stdout.write(f"all together {about(total_s)}\n")

    def _wait(self, experiments: Sequence[Experiment]) -> None:
        told: set[Any] = set()
        runs = Run.objects.filter(experiment__in=experiments)
        while runs.exclude(state__in=ENDED_STATES).exists():
            self._report(runs, told)
            time.sleep(LOOK_EVERY_S)
        self._report(runs, told)

    def _report(self, runs: Any, told: set[Any]) -> None:
        ended = runs.filter(state__in=ENDED_STATES).exclude(pk__in=told)
        for run in ended.for_lists().order_by("finished_at"):
            told.add(run.pk)
            value = "no value" if run.primary_value is None else f"{run.primary_value:.4g}"
            words = run.message if run.state != RunState.FINISHED else value
            self.stdout.write(f"[{len(told)}/{runs.count()}] {label(run)}: {run.state} {words}")

    def _summarise(self, experiments: Sequence[Experiment]) -> None:
        self.stdout.write("\nmedians")
        for experiment in experiments:
            self.stdout.write(f"{experiment.name}  {experiment.get_absolute_url()}")
            cells: dict[str, list[float]] = {}
            for run in Run.objects.filter(experiment=experiment).for_lists().order_by("order_index"):
                if run.primary_value is not None:
                    cells.setdefault(label(run), []).append(run.primary_value)
            for cell, values in cells.items():
                self.stdout.write(f"    {cell}: {median(values):.4g} of {len(values)}")


def label(run: Run) -> str:
    """The engine and the factors that its experiment varies."""
    varied = run.experiment.plan.get("sweep", {}) if run.experiment else {}
    known = facets(run)
    fields = ["dbms", *(f"factor:{name}" for name in varied)]
    return " · ".join(known[field].text for field in fields if field in known)
