"""From a plan to an experiment: checked, expanded into interleaved runs, each with its job."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Any

from benchagent.catalog import WORKLOADS
from benchagent.protocol import JobSpec
from django.db import IntegrityError, transaction
from django.db.models import Max

from agents import hints
from agents.models import Job
from agents.plans.plan import MAX_REPEATS, Cell, Plan, PlanError, check
from runs import results
from runs.access.visibility import default_visibility
from runs.models import Experiment, Run, User

SEED_LIMIT = 2**31 - 1


def start(plan: Plan, *, user: User | None, slug: str = "", demonstration: bool = False, note: str = "") -> Experiment:
    """Make the experiment with all its queued runs. Raises PlanError; IntegrityError when a given `slug` is taken."""
    check(plan)
    values: dict[str, Any] = {
        "name": plan.title, "created_by": user, "demonstration": demonstration, "note": note, "plan": plan.as_json(),
        "visibility": plan.visibility or default_visibility(),
    }  # fmt: skip
    with transaction.atomic():
        experiment = Experiment.objects.create(slug=slug, **values) if slug else None
        while experiment is None:
            # Somebody may take the same free slug in this moment.
            with suppress(IntegrityError), transaction.atomic():
                experiment = Experiment.objects.create(slug=Experiment.free_slug(plan.title), **values)
        seed = secrets.randbelow(SEED_LIMIT - MAX_REPEATS)
        cells = plan.cells()
        # A B C A B C, so that a drift of the machine hits all alike.
        in_order = [(cell, repeat) for repeat in range(1, plan.repeats + 1) for cell in cells]
        for order_index, (cell, repeat) in enumerate(in_order, 1):
            # Each repeat has its own random numbers, the same for all engines.
            _add_run(experiment, plan, cell, repeat=repeat, order_index=order_index, seed=seed + repeat)
    hints.hint(hints.DISPATCH)
    return experiment


def _add_run(experiment: Experiment, plan: Plan, cell: Cell, *, repeat: int, order_index: int, seed: int) -> Run:
    engine = cell.engine
    run = results.scheduled_run(
        experiment=experiment,
        workload=plan.workload,
        dbms=engine.dbms,
        dbms_version=engine.version,
        settings=plan.settings_of(engine),
        called=plan.called.get(engine.dbms, ""),
        factors=cell.factors,
        repeat=repeat,
        order_index=order_index,
        hardware=plan.agent.hardware if plan.agent else None,
        demonstration=experiment.demonstration,
        context={"connection": engine.connection} if engine.connection else {},
    )
    spec: JobSpec = {
        "run_id": str(run.pk),
        "workload": plan.workload,
        "workload_version": WORKLOADS[plan.workload].version,
        "dbms": engine.dbms,
        "dbms_version": engine.version,
        "settings": list(plan.settings_of(engine)),
        "factors": dict(cell.factors),
        "seed": seed,
        "repeat": repeat,
    }
    if engine.connection:
        spec["connection"] = engine.connection
    Job.objects.create(run=run, spec=spec, requested_agent=plan.agent)
    return run


def outdated(run: Run) -> str:
    """Why no repeat of a scheduled run's cell can be had any more; empty while one can."""
    spec = run.job.spec
    present = WORKLOADS[spec["workload"]].version
    if spec["workload_version"] == present:
        return ""
    return (
        f"it ran version {spec['workload_version']} of its workload, agents run version {present}, "
        "and the two are not compared"
    )


def repeat_cell(run: Run) -> Run:
    """One more repeat of a scheduled run's cell: same spec, same machine, its own seed; at the end of the queue.

    It belongs to who owns the cell and is seen by the same people. Raises PlanError where it is `outdated`.
    """
    if reason := outdated(run):
        raise PlanError({"workload": [f"This run cannot be repeated: {reason}. Schedule a new one."]})
    spec: JobSpec = dict(run.job.spec)  # type: ignore[assignment]
    with transaction.atomic():
        if run.experiment_id is not None:  # two clicks at once must not get the same number
            Experiment.objects.select_for_update().get(pk=run.experiment_id)
        cell = Run.objects.filter(
            experiment=run.experiment_id, dbms_version=run.dbms_version, workload=run.workload, config=run.config
        ).select_related("job")
        repeats = [other.repeat for other in cell if other.job.spec["factors"] == spec["factors"]]
        last_index = Run.objects.filter(experiment=run.experiment_id).aggregate(last=Max("order_index"))["last"]
        again = results.scheduled_run(
            experiment=run.experiment,
            workload=spec["workload"],
            dbms=spec["dbms"],
            dbms_version=spec["dbms_version"],
            settings=[(name, value) for name, value in spec["settings"]],
            factors=spec["factors"],
            repeat=max(repeats, default=0) + 1,
            order_index=None if run.experiment_id is None else (last_index or 0) + 1,
            hardware=run.hardware,
            demonstration=run.demonstration,
            context=run.context,
            owner=run.owner,
            visibility=run.visibility,
        )
        fresh = {**spec, "run_id": str(again.pk), "seed": secrets.randbelow(SEED_LIMIT), "repeat": again.repeat}
        Job.objects.create(run=again, spec=fresh, requested_agent=run.job.agent or run.job.requested_agent)
    hints.hint(hints.DISPATCH)
    return again
