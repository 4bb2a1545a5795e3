"""What people ask of a machine itself: engines, storages. Its agent does it between runs and tells how it went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from benchagent.protocol import ErrandOrder, ErrandReport
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from agents import enqueueing, getting
from agents.jobs.dispatch import busy
from agents.models import Agent, AgentStatus, Errand, ErrandState, Job
from agents.refusals import FieldErrors
from runs.access.changes import record
from runs.models import User
from runs.models.base import clean
from runs.models.visible import Person

MOST_LOG = 20_000
UPDATE = "update"
# Command -> what undoes it, with the first of its words.
UNDONE_BY = {"engines install": "engines remove", "engines remove": "engines install", "storage add": "storage remove"}


def ask(agent: Agent, *, by: Person, command: str, words: Sequence[str]) -> Errand:
    """Have it done as soon as the agent has no run. Raises FieldErrors."""
    if agent.status != AgentStatus.APPROVED:
        raise FieldErrors(command=f"{agent.name} is {agent.get_status_display().lower()}.")
    if not agent.errands:
        raise FieldErrors(command=f"{agent.name} (benchagent {agent.agent_version}) is too old to be asked: update it.")
    if command not in agent.errands:
        raise FieldErrors(command=f"{agent.name} does one of: {', '.join(agent.errands)}.")
    if command == UPDATE:
        wheel = getting.wheel()
        words = [wheel.name, wheel.sha256]
    elif not words or (agent.errands[command] and words[0] not in agent.errands[command]):
        names = ", ".join(agent.errands[command]) or "a name"
        wrong = f"{words[0]!r} is none" if words else "none is named"
        raise FieldErrors(words=f"{agent.name} takes for {command} one of: {names}; {wrong}.")
    if Errand.objects.open().filter(agent=agent, command=command, words=list(words)).exists():
        raise FieldErrors(command="It is asked already.")
    made = Errand(agent=agent, command=command, words=[clean(word, 500) for word in words])
    made.by = by if isinstance(by, User) else None
    made.save()
    record(target=agent, field="asked", old="", new=made.line, by=by)
    return made


def undo_of(errand: Errand) -> tuple[str, list[str]] | None:
    """The command and the words that undo it; None where nothing does, or it was not done."""
    command = UNDONE_BY.get(errand.command) if errand.state == ErrandState.DONE else None
    offered = errand.agent.errands.get(command, []) if command else []
    return (command, errand.words[:1]) if command and errand.words[0] in offered else None


def undo(errand: Errand, *, by: Person) -> Errand:
    """Raises FieldErrors, also where nothing undoes it."""
    found = undo_of(errand)
    if found is None:
        raise FieldErrors(command=f"Nothing undoes {errand} now.")
    return ask(errand.agent, by=by, command=found[0], words=found[1])


def cancel(errand: Errand) -> None:
    """Its agent stops it, if it has begun."""
    Errand.objects.open().filter(pk=errand.pk).update(state=ErrandState.CANCELLED, ended_at=timezone.now())
    enqueueing.enqueue(enqueueing.SWEEP)


def record_report(agent: Agent, report: ErrandReport) -> None:
    """Store what its agent reports of an errand; a report of one that has ended or was cancelled changes nothing."""
    values = {"state": report["state"], "log": clean(report["log"], MOST_LOG)}
    ended = report["state"] != "running"
    errand = next((each for each in Errand.objects.open().filter(agent=agent) if str(each.pk) == report["id"]), None)
    if errand is None:
        return
    still = Errand.objects.open().filter(pk=errand.pk)
    if still.update(**values, ended_at=timezone.now() if ended else None) and ended:
        enqueueing.enqueue(enqueueing.SWEEP)


def order_for(agent: Agent) -> ErrandOrder | None:
    """The errand that it works on, else the one asked first. None while anybody measures on its machine."""
    errand = Errand.objects.open().filter(agent=agent).order_by("asked_at").first()
    if errand is None:
        return None
    if errand.state == ErrandState.WAITING:
        same = Q(agent=agent)
        if settings.EXCLUSIVE_MACHINES and agent.hardware_id is not None:
            same |= Q(agent__hardware=agent.hardware_id)
        if Job.objects.filter(busy(timezone.now()) & same).exists():
            return None
        errand.change(state=ErrandState.RUNNING, begun_at=timezone.now())
    return {"id": str(errand.pk), "command": errand.command, "words": cast(list[str], errand.words)}
