"""From a plan to an experiment: checked, expanded into interleaved runs, each with its job."""

from __future__ import annotations

import re
import secrets
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any, cast
from uuid import UUID, uuid4

from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.plugins import LACKING
from benchagent.protocol import JobSpec
from benchagent.redaction import redact_text
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import Max

from agents import enqueueing
from agents.models import Job
from agents.plans import matrix
from agents.plans.matrix import fits, in_order
from agents.plans.plan import Plan, check
from agents.refusals import FieldErrors
from runs import results
from runs.access.rules import default_visibility, scopes_of
from runs.incoming.values import Labels, Tested
from runs.models import ApiToken, Batch, Config, Experiment, Run, User
from runs.models.choices import RunState, Visibility
from runs.results.brought_plan import MAX_REPEATS
from runs.results.names import batch_of

SEED_LIMIT = 2**31 - 1


# Settings, of any engine, that make it load or run what the plan names, or that open files to its SQL.
_RUNNING = """.*_command .*_librar(y|ies) dynamic_library_path extension_control_path jit_provider
init_file init_connect .*plugin.* wsrep_.* secure_file_priv providers udfaccess externalfileaccess .*traceconfig.*
init database_event_listener authenticator hsqldb\\.method_class_names textdb\\.allow_full_path crypt_provider
derby\\.(authentication|stream)\\..* trusted_schema writable_schema .*_store_directory"""
RUNNING = re.compile("|".join(_RUNNING.split()), re.IGNORECASE)


def permit(
    *, workload: str, settings: Iterable[str], connected: bool, user: User | None, token: ApiToken | None
) -> None:
    """What a run needs beside the right to schedule, on every way to one. `settings`: names. None is the system.

    Raises PermissionDenied naming the scope.
    """
    if user is None:
        return
    granted = scopes_of(user, token)
    running = sorted(name for name in settings if RUNNING.fullmatch(name.replace("-", "_")))
    reaching = "it can do whatever the DBMS can do on the agent's machine"
    for scope, why in (
        ("script", f"the workload script runs SQL of one's own: {reaching}" if workload == "script" else ""),
        ("script", f"the setting {running[0]} can run code or open files: {reaching}" if running else ""),
        ("connection", "a connection leads to a server that the agent did not start" if connected else ""),
    ):
        if why and scope not in granted:
            who = "This token has" if token else "You have"
            raise PermissionDenied(f"{who} not the scope {scope}, which this plan needs beside schedule: {why}.")


def start(
    plan: Plan,
    *,
    user: User | None,
    token: ApiToken | None = None,
    slug: str = "",
    demonstration: bool = False,
    note: str = "",
) -> Experiment:
    """Make the experiment with all its queued runs.

    Raises PermissionDenied (see `permit`); FieldErrors; IntegrityError when a given `slug` is taken.
    """
    permit(
        workload=plan.workload, settings=plan.setting_names,
        connected=any(engine.connection for engine in plan.engines), user=user, token=token,
    )  # fmt: skip
    check(plan)
    order_seed = plan.order_seed or (secrets.randbelow(SEED_LIMIT) + 1 if plan.order == "random" else 0)
    plan = replace(plan, visibility=plan.visibility or default_visibility(), order_seed=order_seed)
    title = plan.title
    values: dict[str, Any] = {
        "name": title, "created_by": user, "demonstration": demonstration, "note": note, "plan": plan.as_json(),
        "visibility": plan.visibility,
    }  # fmt: skip
    with transaction.atomic():
        experiment = Experiment.objects.create(slug=slug, **values) if slug else None
        while experiment is None:
            # Somebody may take the same free slug in this moment.
            with suppress(IntegrityError), transaction.atomic():
                free = Experiment.free_slug(title, is_hidden=plan.visibility != Visibility.PUBLIC)
                experiment = Experiment.objects.create(slug=free, **values)
        described = Labels(label=plan.label or plan.name, tags=list(plan.tags), tested=Tested(**plan.tested)).columns()
        batch = batch_of(experiment.pk, owner=user, note=redact_text(plan.note), **described)
        _queue(plan, experiment, batch)
    enqueueing.enqueue(enqueueing.DISPATCH)
    # Whoever is told of what is in progress is told at once.
    enqueueing.enqueue(enqueueing.TICK)
    return experiment


def _queue(plan: Plan, experiment: Experiment, batch: Batch) -> None:
    """Its runs, in the order in which they are measured."""
    seed = secrets.randbelow(SEED_LIMIT - MAX_REPEATS)
    stored = Config.objects.in_bulk(chain.from_iterable(plan.configs.values()), field_name="slug")
    ordered = in_order(plan.cells(), plan.repeats, plan.order, plan.order_seed)
    for order_index, (cell, repeat) in enumerate(ordered, 1):
        engine = cell.engine
        spec: JobSpec = {
            "run_id": str(uuid4()),
            "workload": plan.workload,
            "workload_version": WORKLOADS[plan.workload].version,
            "dbms": engine.dbms,
            "dbms_version": engine.version,
            "settings": list(cell.configuration.settings),
            "factors": dict(cell.factors),
            # Each repeat has its own random numbers, the same for all engines.
            "seed": seed + repeat,
            "repeat": repeat,
        }
        if engine.connection:
            spec["connection"] = engine.connection
        run = results.scheduled_run(
            spec, experiment=experiment, batch=batch, order_index=order_index, demonstration=experiment.demonstration,
            hardware=cell.agent.hardware if cell.agent else None, config=stored.get(cell.configuration.stored),
            called="" if cell.configuration.facts else plan.called.get(engine.dbms, ""),
        )  # fmt: skip
        Job.objects.create(
            run=run, spec=spec, requested_agent=cell.agent, not_after=plan.not_after,
            is_baseline=bool(plan.stop and plan.stop.baseline and fits(cell.facts, plan.stop.baseline)),
        )  # fmt: skip


def outdated(run: Run) -> str:
    """Why no repeat of a scheduled run's cell can be had any more; empty while one can."""
    spec = run.job.spec
    if spec["workload"] not in WORKLOADS:
        return f"its workload is {spec['workload']}, and {LACKING}"
    if spec["dbms"] not in DBMSS:
        return f"its DBMS is {spec['dbms']}, and {LACKING}"
    present = WORKLOADS[spec["workload"]].version
    if spec["workload_version"] == present:
        return ""
    return (
        f"it ran version {spec['workload_version']} of its workload, agents run version {present}, "
        "and the two are not compared"
    )


def repeat_cell(run: Run, *, user: User | None, token: ApiToken | None = None) -> Run:
    """One more repeat of a scheduled run's cell: same spec, same machine, its own seed; at the end of the queue.

    It belongs to who owns the cell and is seen by the same people. Raises FieldErrors where it is `outdated`,
    PermissionDenied where whoever asks could not have scheduled it.
    """
    given = run.job.spec
    permit(
        workload=given["workload"], settings=[name for name, _ in given["settings"]],
        connected="connection" in given, user=user, token=token,
    )  # fmt: skip
    if reason := outdated(run):
        raise FieldErrors(workload=f"This run cannot be repeated: {reason}. Schedule a new one.")
    with transaction.atomic():
        if run.experiment_id is not None:  # two clicks at once must not get the same number
            Experiment.objects.select_for_update().get(pk=run.experiment_id)
        others = Run.objects.filter(experiment=run.experiment_id, job__isnull=False).select_related("job")
        repeats = [other.repeat for other in others if other.job.cell == run.job.cell]
        last_index = Run.objects.filter(experiment=run.experiment_id).aggregate(last=Max("order_index"))["last"]
        again = queue_again(
            run, max(repeats, default=0) + 1, run.batch, experiment=run.experiment, is_baseline=run.job.is_baseline,
            order_index=None if run.experiment_id is None else (last_index or 0) + 1,
        )  # fmt: skip
    enqueueing.enqueue(enqueueing.DISPATCH)
    return again


def queue_again(
    run: Run, repeat: int, batch: Batch, *, experiment: Experiment | None = None, order_index: int | None = None,
    is_baseline: bool = False,
) -> Run:  # fmt: skip
    """A scheduled run once more as this repeat of a batch, on the same machine with its own seed. Nothing is asked."""
    own = {"run_id": str(uuid4()), "seed": secrets.randbelow(SEED_LIMIT), "repeat": repeat}
    spec = cast(JobSpec, {**run.job.spec, **own})
    again = results.scheduled_run(
        spec, experiment=experiment, order_index=order_index, hardware=run.hardware, demonstration=run.demonstration,
        owner=run.owner, visibility=run.visibility, config=run.config, batch=batch,
    )  # fmt: skip
    agent = run.job.agent or run.job.requested_agent
    Job.objects.create(run=again, spec=spec, requested_agent=agent, is_baseline=is_baseline)
    return again


def repeat_failed(experiment: Experiment, *, user: User | None, token: ApiToken | None = None) -> list[Run]:
    """As many more repeats of each cell as its plan asks for and failed or were lost: asked twice it makes none twice.

    None is made of what would only be `refused` again. Raises FieldErrors where that is all, and, as PermissionDenied,
    where `repeat_cell` does; nothing is scheduled then.
    """
    with transaction.atomic():
        Experiment.objects.select_for_update().get(pk=experiment.pk)
        runs = Run.objects.present().filter(experiment=experiment, job__isnull=False).order_by("order_index")
        rows = runs.select_related("job__agent", "job__requested_agent", "experiment", "batch", "owner")
        wanted = not_made_up(experiment, rows)
        hopeless = refused(wanted)
        others = [run for run in wanted if run.pk not in hopeless]
        if hopeless and not others:
            raise FieldErrors(settings=list(dict.fromkeys(hopeless.values())))
        return [repeat_cell(run, user=user, token=token) for run in others]


def refused(runs: Iterable[Run]) -> dict[UUID, str]:
    """Which of these scheduled runs have a setting that their DBMS has refused in an earlier run, in words."""
    found = {}
    for run in runs:
        spec = run.job.spec
        settings = tuple((name, value) for name, value in spec["settings"])
        if words := matrix.refused(spec["dbms"], spec["dbms_version"], settings, {}):
            found[run.pk] = words
    return found


def not_made_up(experiment: Experiment, runs: Iterable[Run]) -> list[Run]:
    """Of its scheduled runs, with their jobs, one of the same cell for each repeat that failed or was lost, and of
    which no other was made since.
    """
    cells: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        cells[run.job.cell].append(run)
    asked = experiment.plan.get("repeats", 1)
    return [
        of_cell[0]
        for of_cell in cells.values()
        for _ in range(asked - sum(run.state not in (RunState.FAILED, RunState.LOST) for run in of_cell))
    ]


# The first experiment

# SQLite first: it loads fastest, so that its chart opens soon.
FIRST_ENGINES = ("sqlite", "derby", "hsqldb", "h2")


def first_experiment() -> Experiment | None:
    return Experiment.objects.filter(demonstration=True).first()


def has_failed(experiment: Experiment) -> bool:
    """All of it has ended without a number, and not because somebody cancelled it."""
    states = set(Run.objects.present().filter(experiment=experiment).values_list("state", flat=True))
    return bool(states) and states <= {RunState.FAILED, RunState.LOST}


def set_failed_first_aside() -> bool:
    """The first experiment, if all of it failed, becomes one like any other: then another is made."""
    experiment = first_experiment()
    if experiment is None or not has_failed(experiment):
        return False
    return Experiment.objects.filter(pk=experiment.pk, demonstration=True).update(demonstration=False) == 1
