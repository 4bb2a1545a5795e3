"""What people say of a batch or a run, as fields of the forms that schedule, import and edit."""

from __future__ import annotations

from typing import Any

from django import forms


def moment_field(label: str, help_text: str) -> forms.DateTimeField:
    """A time in UTC that may be left out."""
    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    return forms.DateTimeField(required=False, label=f"{label} (UTC)", help_text=help_text, widget=widget)


class LabelFields(forms.Form):
    label = forms.CharField(
        required=False, max_length=120, help_text="stands in legends where it tells one batch from another"
    )
    tags = forms.CharField(required=False, max_length=400, help_text="words to find it by, a blank between two")
    build = forms.CharField(required=False, max_length=120, label="Build tested")
    commit = forms.CharField(required=False, max_length=120, label="Commit tested")
    branch = forms.CharField(required=False, max_length=120, label="Branch tested")

    def described(self) -> dict[str, Any]:
        """What a valid form describes, as `runs.incoming.values.Labels` takes it, without the fields left empty."""
        cleaned = self.cleaned_data
        tested = {name: cleaned[name] for name in ("build", "commit", "branch") if cleaned.get(name)}
        given = {"label": cleaned.get("label"), "tags": cleaned.get("tags", "").split(), "tested": tested}
        return {name: value for name, value in given.items() if value}
