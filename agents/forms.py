"""What an operator fills in about an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django import forms

from agents import machines
from agents.jobs import errands, reservations
from agents.models import Agent, Errand, Schedule, Template
from agents.plans import timetable
from agents.plans.plan import NAME_LIMIT
from agents.refusals import FieldErrors
from agents.reruns import templating
from runs.incoming.forms import moment_field
from runs.models import Experiment, User
from runs.models.visible import Person

Made = TypeVar("Made")


class ActionForm(forms.Form):
    """A form that does something once it is valid."""

    def do(self, act: Callable[[], Made]) -> Made | None:
        """What came of it; None, with the problems among the errors, where it is refused."""
        if not self.is_valid():
            return None
        try:
            return act()
        except FieldErrors as error:
            for field, words in error.errors.items():
                known = field in self.fields
                self.add_error(field if known else None, words if known else f"{field}: {' '.join(words)}")
        return None


class DescribeForm(ActionForm):
    name = forms.CharField(max_length=200, help_text="Its address stays when the name changes.")
    labels = forms.CharField(
        required=False, max_length=1_000, help_text="Words to choose machines by, separated by spaces: nvme rack-2"
    )

    @classmethod
    def of(cls, agent: Agent) -> DescribeForm:
        return cls(initial={"name": agent.name, "labels": " ".join(agent.labels)})

    def save(self, agent: Agent, *, by: Person) -> bool:
        """False, with the problem among the errors, where the name is taken or a label is none."""

        def describe() -> None:
            name, labels = self.cleaned_data["name"], self.cleaned_data["labels"].split()
            machines.describe(agent, by=by, name=name, labels=labels)

        self.do(describe)
        return not self.errors


class ReservationForm(ActionForm):
    reason = forms.CharField(required=False, max_length=200, label="What for", help_text="for example: firmware update")
    begins_at = moment_field("From", "Left out: now.")
    ends_at = moment_field("Until", "Left out: until somebody ends it.")

    def save(self, agent: Agent | None, *, by: Person) -> bool:
        return self.do(lambda: reservations.reserve(agent, by=by, **self.cleaned_data)) is not None


class ErrandForm(ActionForm):
    """One of what the agent offers to do."""

    what = forms.CharField(widget=forms.Select, max_length=200)

    @classmethod
    def of(cls, agent: Agent) -> ErrandForm:
        made = cls()
        made.offer(agent)
        return made

    def offer(self, agent: Agent) -> None:
        self.fields["what"].widget.choices = [
            (command, [(f"{command} {name}", f"{command} {name}") for name in names])
            for command, names in agent.errands.items()
            if names
        ] + [(errands.UPDATE, "update to this server's version")] * (errands.UPDATE in agent.errands)

    def save(self, agent: Agent, *, by: Person) -> bool:
        self.offer(agent)

        def ask() -> Errand:
            command, *words = self.cleaned_data["what"].rsplit(" ", 1)
            return errands.ask(agent, by=by, command=command, words=words)

        return self.do(ask) is not None


class StorageForm(ActionForm):
    name = forms.CharField(max_length=40)
    folder = forms.CharField(max_length=400, help_text="On the agent's machine; it has to be there: /mnt/nvme/bench")

    def save(self, agent: Agent, *, by: Person) -> bool:
        def ask() -> Errand:
            words = [self.cleaned_data["name"], self.cleaned_data["folder"]]
            return errands.ask(agent, by=by, command="storage add", words=words)

        return self.do(ask) is not None


class AgainForm(forms.Form):
    measures_again = forms.BooleanField(required=False, label="Measure again what is suspected to have changed")
    again_after_s = forms.IntegerField(
        min_value=0, max_value=7 * 86_400, label="Seconds between", help_text="What hangs together in time is no proof."
    )
    again_daily_s = forms.IntegerField(min_value=0, max_value=86_400, label="Seconds a day, at most")

    @classmethod
    def of(cls, agent: Agent) -> AgainForm:
        return cls(initial={name: getattr(agent, name) for name in cls.base_fields})

    def save(self, agent: Agent, *, by: Person) -> bool:
        if self.is_valid():
            machines.edit(agent, by=by, **self.cleaned_data)
        return not self.errors


class TimesForm(ActionForm):
    """When a schedule is due. Without a cron expression: once."""

    name = forms.CharField(max_length=NAME_LIMIT - 20, help_text="Each of its experiments is named so, with its time.")
    cron = forms.CharField(
        required=False, max_length=100, initial="0 2 * * *", label="When",
        help_text="cron: minute, hour, day, month, weekday. 0 2 * * * is every night at two, 0 2 * * 6 on Saturdays; "
        "empty: once.",
    )  # fmt: skip
    zone = forms.CharField(max_length=64, initial="UTC", label="Time zone", help_text="for example Europe/Berlin")
    at = moment_field("Once at", "Where the field When is empty.")
    ends_at = moment_field("Ends", "Left out: it goes on until somebody pauses or deletes it.")

    @classmethod
    def of(cls, schedule: Schedule) -> TimesForm:
        names = ("name", "cron", "zone", "ends_at")
        once = {} if schedule.cron else {"at": schedule.due_at}
        return cls(initial={name: getattr(schedule, name) for name in names} | once)

    def make(self, experiment: Experiment, *, owner: User) -> Schedule | None:
        return self.do(lambda: timetable.make(experiment.plan, owner=owner, **self.cleaned_data))

    def save(self, schedule: Schedule) -> bool:
        def settle() -> None:
            for name in ("name", "cron", "zone", "ends_at"):
                setattr(schedule, name, self.cleaned_data[name])
            timetable.settle(schedule, at=self.cleaned_data["at"])
            schedule.save()

        self.do(settle)
        return not self.errors


class TemplateForm(ActionForm):
    """An experiment's plan as a template."""

    name = forms.CharField(max_length=NAME_LIMIT)
    note = forms.CharField(required=False, max_length=500)
    is_shared = forms.BooleanField(required=False, initial=True, label="Other operators may use it")

    def save(self, experiment: Experiment, *, owner: User) -> Template | None:
        return self.do(lambda: templating.make(experiment.plan, owner=owner, **self.cleaned_data))
