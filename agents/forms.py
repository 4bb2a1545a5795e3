"""What an operator fills in about an agent."""

from __future__ import annotations

from django import forms

from agents import machines
from agents.models import Agent
from runs.models.visible import Person


class DescribeForm(forms.Form):
    name = forms.CharField(max_length=200, help_text="Its address stays when the name changes.")
    labels = forms.CharField(
        required=False, max_length=1_000, help_text="Words to choose machines by, separated by spaces: nvme rack-2"
    )

    @classmethod
    def of(cls, agent: Agent) -> DescribeForm:
        return cls(initial={"name": agent.name, "labels": " ".join(agent.labels)})

    def save(self, agent: Agent, *, by: Person) -> bool:
        """False, with the problem among the errors, where the name is taken or a label is none."""
        if not self.is_valid():
            return False
        given = self.cleaned_data
        try:
            machines.describe(agent, by=by, name=given["name"], labels=given["labels"].split())
        except machines.Wrong as error:
            self.add_error(error.field, str(error))
        return not self.errors


class PauseForm(forms.Form):
    pause_reason = forms.CharField(
        required=False, max_length=200, label="Why", help_text="for example: firmware update"
    )
    paused_until = forms.DateTimeField(
        required=False, label="Until (UTC)", help_text="Left out: until somebody resumes it.",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )  # fmt: skip

    def save(self, agent: Agent, *, by: Person) -> bool:
        if not self.is_valid():
            return False
        given = self.cleaned_data
        try:
            machines.pause(agent, by=by, reason=given["pause_reason"], until=given["paused_until"])
        except machines.Wrong as error:
            self.add_error(error.field, str(error))
        return not self.errors
