"""Pages with a form."""

from __future__ import annotations

from typing import Any, TypeVar

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.exceptions import ValidationError

from runs.api.errors import flatten

UNPROCESSABLE = 422
Shown = TypeVar("Shown", bound=forms.BaseForm)


def remembering(form: Shown) -> Shown:
    """The form of what is there: it remembers what it showed, and so what was changed in it."""
    for field in form.fields.values():
        field.show_hidden_initial = True
    return form


def changed(form: forms.BaseForm) -> dict[str, Any]:
    """What was changed in a form that remembers; what another window has changed meanwhile stays."""
    return {name: form.cleaned_data[name] for name in form.changed_data}


def form_page(request: HttpRequest, template: str, form: forms.BaseForm, **context: Any) -> HttpResponse:
    """With a status that says whether what was sent has errors."""
    status = UNPROCESSABLE if form.errors else 200
    return render(request, template, {"form": form, **context}, status=status)


def add_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """What is refused, beside the fields that caused it; of what is no field of the form above all of them."""
    for path, words in flatten(error.detail).items():
        form.add_error(path if path in form.fields else None, words)
