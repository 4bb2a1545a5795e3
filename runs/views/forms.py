"""Pages with a form."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

UNPROCESSABLE = 422


def form_page(request: HttpRequest, template: str, form: forms.BaseForm, **context: Any) -> HttpResponse:
    """With a status that says whether what was sent has errors."""
    status = UNPROCESSABLE if form.errors else 200
    return render(request, template, {"form": form, **context}, status=status)
