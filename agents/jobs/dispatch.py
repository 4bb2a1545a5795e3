"""Give queued runs to idle agents. Only the Celery task `dispatch` calls this.

One measured job per agent, none beside an observation: the agent's row is locked while it is looked at and given a run,
and the run moves by a conditional update, so that any number of dispatchers may work at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from agents.jobs.observers import open_orders
from agents.jobs.reservations import Calendar
from agents.models import Agent, AgentStatus, Errand, Job, cell_of
from agents.plans.plan import may_be_on
from runs import results
from runs.models import Experiment, HardwareProfile, Run
from runs.models.choices import ON_AGENT_STATES, RunState
from runs.space import shortage

# An assigned run that its agent does not claim in this time goes back into the queue.
CLAIM_WITHIN = timedelta(seconds=60)


def assign_queued() -> int:
    """Assign as many queued runs as there are agents for, while there is room for their results. Returns how many."""
    free = list(idle_agents())
    given = 0
    if not free or shortage() or (calendar := Calendar(timezone.now())).of_queue:
        return 0
    for run in queued():
        fit = (agent for agent in free if may_take(agent, run) and not calendar.in_the_way(agent, run))
        agent = next(fit, None)
        if agent is not None and assign(run, agent):
            given += 1
            free = [other for other in free if not other.shares_machine_with(agent)]
            if not free:
                break
    return given


def queued() -> QuerySet[Run]:
    """Waiting runs, next first: by priority, then experiments as they were started, each in its recorded order."""
    waiting = Run.objects.present().filter(state=RunState.QUEUED, job__isnull=False)
    return waiting.select_related("job", "dbms_version__dbms", "experiment").order_by(
        "-job__priority", "created_at", "order_index", "id"
    )


def busy(now: datetime) -> Q:
    """Jobs that occupy their agent: also one given up as lost whose agent still renews its lease."""
    return Q(run__state__in=ON_AGENT_STATES) | Q(run__state=RunState.LOST, lease_expires_at__gt=now, closed_at=None)


def idle_agents() -> QuerySet[Agent]:
    now = timezone.now()
    occupied = Job.objects.filter(busy(now), agent__isnull=False).values("agent")
    online = Agent.objects.online()
    if settings.EXCLUSIVE_MACHINES:
        online = online.exclude(
            hardware__in=Agent.objects.filter(pk__in=occupied, hardware__isnull=False).values("hardware")
        )
    return (
        online.not_paused(now)
        .exclude(pk__in=occupied)
        .exclude(pk__in=open_orders().values("agent"))
        .exclude(pk__in=Errand.objects.open().values("agent"))
        .order_by("name", "id")
    )


def may_take(agent: Agent, run: Run) -> bool:
    """Whether this agent is one for this run, and for the rest of its experiment: repeats belong on one machine."""
    engine = _engine_of(run)
    if agent.offers(*engine) and not agent.has_ready(*engine):
        return False  # it waits for the engine's files, and others need not wait for it
    runs: Iterable[Run] = [run]
    if run.job.requested_agent_id is not None:
        if run.job.requested_agent_id != agent.pk:
            return False
    elif run.experiment is not None:  # with those that wait like it for whichever agent
        if not is_target(agent, run):
            return False
        runs = queued().filter(experiment=run.experiment, job__requested_agent=None)
    return all(agent.offers(*engine) for engine in set(map(_engine_of, runs)))


def is_target(agent: Agent, run: Run) -> bool:
    """Whether the plan of its experiment lets the run be made on this machine."""
    plan = run.experiment.plan if run.experiment else {}
    return may_be_on(agent, plan.get("machines", ()), plan.get("labels", ()))


def _engine_of(run: Run) -> tuple[str, str, str]:
    """DBMS, version and connection."""
    return run.dbms_version.dbms.slug, run.dbms_version.version, run.job.spec.get("connection", "")


def assign(run: Run, agent: Agent) -> bool:
    """Locks are taken in the order agent, experiment, job, run, here as elsewhere: nobody waits in a circle."""
    now = timezone.now()
    with transaction.atomic():
        locked = Agent.objects.select_for_update().get(pk=agent.pk)
        # It may have left since the dispatcher looked.
        if locked.status != AgentStatus.APPROVED or not locked.is_online or locked.jobs.filter(busy(now)).exists():
            return False
        if Calendar(now).in_the_way(locked, run):
            return False
        if open_orders().filter(agent=locked).exists() or _is_machine_busy(locked, now):
            return False
        if run.experiment_id is not None:
            Experiment.objects.select_for_update().get(pk=run.experiment_id)
        job = Job.locked(run.pk)
        if job.requested_agent_id not in (None, locked.pk):  # its experiment has just begun on another machine
            return False
        if not results.record_state(run_id=run.pk, state=RunState.ASSIGNED, at=now):
            return False
        job.agent, job.assigned_at, job.spec = locked, now, _with_proof(job)
        job.save(update_fields=["agent", "assigned_at", "spec"])
        if job.requested_agent_id is None and run.experiment_id is not None:
            rest = Job.objects.filter(run__experiment_id=run.experiment_id, requested_agent=None)
            rest.update(requested_agent=locked)
            # What is cancelled before it starts is found among the runs of its machine, too.
            of_agent = Run.objects.filter(experiment=run.experiment_id, job__requested_agent=locked)
            of_agent.filter(hardware=None).update(hardware=locked.hardware)
        return True


def _is_machine_busy(agent: Agent, now: datetime) -> bool:
    """Whether another agent measures on the same machine. Its row is locked, as the agent's is."""
    if not settings.EXCLUSIVE_MACHINES or agent.hardware_id is None:
        return False
    HardwareProfile.objects.select_for_update().get(pk=agent.hardware_id)
    return Job.objects.filter(busy(now), agent__hardware=agent.hardware_id).exclude(agent=agent).exists()


def _with_proof(job: Job) -> dict[str, Any]:
    """The spec, with the repeat of its cell whose backup was restored and found right: that is done once per cell.

    A run without an experiment is a cell of its own.
    """
    spec = {name: value for name, value in job.spec.items() if name != "verified_in_repeat"}
    if job.run.experiment_id is None or spec["workload"] != "backup":
        return spec
    done = Run.objects.present().filter(
        experiment_id=job.run.experiment_id, dbms_version_id=job.run.dbms_version_id, state=RunState.FINISHED,
        invalid_at=None, job__isnull=False,
    )  # fmt: skip
    if job.requested_agent_id is not None:  # each machine proves its own backups
        done = done.filter(job__requested_agent=job.requested_agent_id)
    for repeat, checks, other in done.order_by("repeat").values_list("repeat", "checks", "job__spec"):
        if any(check["name"] == "restored" and check["ok"] for check in checks) and cell_of(other) == cell_of(spec):
            return {**spec, "verified_in_repeat": repeat}
    return spec


def take_back_unclaimed(*, now: datetime | None = None, of: Agent | None = None) -> int:
    """Return runs to the queue whose agent did not fetch them, or has left: nothing was started. Returns how many."""
    now = now or timezone.now()
    overdue = Job.objects.filter(run__state=RunState.ASSIGNED)
    overdue = overdue.filter(agent=of) if of else overdue.filter(assigned_at__lt=now - CLAIM_WITHIN)
    taken_back = 0
    for run_id in overdue.values_list("pk", flat=True):
        with transaction.atomic():
            job = Job.locked(run_id)
            if results.record_state(run_id=run_id, state=RunState.QUEUED, at=now):
                job.agent = job.assigned_at = None
                job.save(update_fields=["agent", "assigned_at"])
                taken_back += 1
    return taken_back
