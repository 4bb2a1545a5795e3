"""`make experiments`: start the experiments of the articles on the local agent and wait for their results."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.machines import Engine, approved_agents
from agents.models import Agent
from agents.plans.estimate import about, estimate
from agents.refusals import FieldErrors
from agents.reruns import rerun
from agents.reruns.rerun import EXPERIMENTS, Prepared
from runs.compare.compare import compare
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.models import Experiment, Run
from runs.models.choices import ENDED_STATES, RunState
from runs.run.facets import facets

LOOK_EVERY_S = 2.0
AGENT_WITHIN_S = 300.0
# A backup has no window: it is measured from its beginning to its end, and its data set has to be large enough.
BACKUP_AT_LEAST_S = 10


class Command(BaseCommand):
    help = "Re-run the experiments of the four articles on the local agent; `make up` has to be running."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("publications", nargs="*", metavar="PUBLICATION", help=f"of {', '.join(EXPERIMENTS)}")
        parser.add_argument("--quick", action="store_true", help="every cell once")
        parser.add_argument("--part", action="append", default=[], help="only parts of that name")
        parser.add_argument("--dry-run", action="store_true", help="tell what would be run, and how long it takes")
        words = "wait until an agent has reported it"
        parser.add_argument("--expect-engine", action="append", default=[], metavar="DBMS:VERSION", help=words)
        parser.add_argument("--expect-storage", action="append", default=[], metavar="NAME", help=words)

    def handle(self, *args: Any, **options: Any) -> None:
        unknown = [name for name in options["publications"] if name not in EXPERIMENTS]
        if unknown:
            raise CommandError(f"there is no experiment of {', '.join(unknown)}; there are: {', '.join(EXPERIMENTS)}")
        expected = {f"engine {key}" for key in options["expect_engine"]}
        agent = self._agent(expected | {f"storage {name}" for name in options["expect_storage"]})
        prepared = [
            rerun.prepare(EXPERIMENTS[name], part, agent, quick=options["quick"])
            for name in options["publications"] or EXPERIMENTS
            for part in EXPERIMENTS[name].parts
            if not options["part"] or part.slug in options["part"]
        ]
        self._tell(prepared)
        if options["dry_run"]:
            return
        try:
            experiments = [rerun.start(each, user=None) for each in prepared]
        except FieldErrors as error:
            raise CommandError(f"nothing more was started: {error}") from error
        self._wait(experiments)
        self._summarise(experiments)
        if Run.objects.filter(experiment__in=experiments).exclude(state=RunState.FINISHED).exists():
            raise CommandError("not every run has finished: see above")

    def _agent(self, expected: set[str]) -> Agent:
        """The best one that knows all that is expected: what was made just now is reported some seconds later."""
        deadline = time.monotonic() + AGENT_WITHIN_S
        last_words = ""
        while True:
            online = [agent for agent in approved_agents() if agent.is_online]
            best = rerun.best_agent([agent for agent in online if expected <= _reported(agent)])
            if best is not None:
                return best
            words = "no approved agent is online: start `make up`"
            if online:
                lacking = min((expected - _reported(agent) for agent in online), key=len)
                named = ", ".join(sorted(lacking))
                words = f"no agent has reported {named} yet; one that works on a run does so after it"
            if time.monotonic() >= deadline:
                raise CommandError(words)
            if words != last_words:
                self.stdout.write(f"waiting up to {AGENT_WITHIN_S:.0f} s: {words}")
                last_words = words
            time.sleep(LOOK_EVERY_S)

    def _tell(self, prepared: Sequence[Prepared]) -> None:
        total_s = 0.0
        for each in prepared:
            guess = estimate(each.plan) if each.plan else None
            total_s += guess.seconds if guess else 0
            self.stdout.write(f"{each.part.slug}: {each.part.title}: {guess.words if guess else 'nothing can be run'}")
            for gap in each.gaps:
                self.stdout.write(f"    gap: {gap.label}: {gap.reason}")
        self.stdout.write(f"all together {about(total_s)}\n")

    def _wait(self, experiments: Sequence[Experiment]) -> None:
        reported: set[Any] = set()
        runs = Run.objects.present().filter(experiment__in=experiments)
        while runs.exclude(state__in=ENDED_STATES).exists():
            self._report(runs, reported)
            time.sleep(LOOK_EVERY_S)
        self._report(runs, reported)

    def _report(self, runs: Any, reported: set[Any]) -> None:
        ended = runs.filter(state__in=ENDED_STATES).exclude(pk__in=reported).select_related("experiment")
        labels_of: dict[Any, dict[Any, str]] = {}
        for run in ended.order_by("finished_at"):
            reported.add(run.pk)
            if run.experiment_id not in labels_of:
                labels_of[run.experiment_id] = labels(_comparison(run.experiment))
            value = "no value" if run.primary_value is None else f"{run.primary_value:.4g}"
            words = run.message if run.state != RunState.FINISHED else value
            where = f"{run.experiment.name}: {labels_of[run.experiment_id][run.pk]}"
            self.stdout.write(f"[{len(reported)}/{runs.count()}] {where}: {run.state} {words}")

    def _summarise(self, experiments: Sequence[Experiment]) -> None:
        self.stdout.write("\nmedians")
        for experiment in experiments:
            self.stdout.write(f"{experiment.name}  {experiment.get_absolute_url()}")
            comparison = _comparison(experiment)
            names = labels(comparison)
            for group in comparison.groups:
                self.stdout.write(f"    {names[group.all_runs[0].pk]}: {_median(comparison, group)}")


def _reported(agent: Agent) -> set[str]:
    usable = [engine for engine in agent.engines if engine["available"] and not engine.get("connection")]
    engines = {f"engine {Engine(engine['dbms'], engine['version']).key}" for engine in usable}
    return engines | {f"storage {storage['name']}" for storage in agent.places}


def _comparison(experiment: Experiment) -> Comparison:
    return compare(Run.objects.present().for_lists().filter(experiment=experiment))


def labels(comparison: Comparison) -> dict[Any, str]:
    """A label for each run: its engine and every factor that cells differ in. A plan gives each engine one
    configuration.
    """
    fields = ["dbms", *(fact.field for fact in comparison.varying if fact.field.startswith("factor:"))]
    facts_of = {run.pk: facets(run) for group in comparison.groups for run in group.all_runs}
    return {key: " · ".join(facts[field].text for field in fields if field in facts) for key, facts in facts_of.items()}


def _median(comparison: Comparison, group: Group) -> str:
    if group.median is None or comparison.metric is None:
        return f"no value: {group.gap}"
    words = f"{group.median:.4g} {comparison.metric.unit} ({group.n} of {len(group.all_runs)} runs)"
    if comparison.metric.name == "backup_s" and min(group.values) < BACKUP_AT_LEAST_S:
        words += f"; measured for less than {BACKUP_AT_LEAST_S} s: raise dataset_mb"
    return words
