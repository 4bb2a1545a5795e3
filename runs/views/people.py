"""Who has an account: administrators add people, change their roles, take their access away."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from runs.access import people as accounts
from runs.access.forms import PersonForm
from runs.models import User
from runs.models.choices import UserRole
from runs.views.guards import administrator_required

UNPROCESSABLE = 422


@require_http_methods(["GET", "HEAD", "POST"])
@administrator_required
@never_cache
def people(request: HttpRequest) -> HttpResponse:
    """The list; a POST adds somebody and shows the link under which they choose a password."""
    form = PersonForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        person = accounts.add_person(username=given["username"], role=given["role"], by=request.user)
        return _page(request, PersonForm(), person=person)
    return _page(request, form, status=UNPROCESSABLE if form.errors else 200)


@require_POST
@administrator_required
@never_cache
def new_link(request: HttpRequest, person_id: uuid.UUID) -> HttpResponse:
    """A link to choose a new password; the old one stays good until it is used."""
    return _page(request, PersonForm(), person=get_object_or_404(User, pk=person_id, is_active=True))


@require_POST
@administrator_required
def change_role(request: HttpRequest, person_id: uuid.UUID) -> HttpResponse:
    person = get_object_or_404(User, pk=person_id)
    role = request.POST.get("role", "")
    if role not in UserRole.values:
        return HttpResponse("role: there is no such role", status=400, content_type="text/plain")
    try:
        if accounts.set_role(person, role=role, by=request.user):
            messages.success(request, f"{person} is {UserRole(role).label.lower()} now.")
    except accounts.LastAdministrator as error:
        messages.error(request, str(error))
    return redirect("people")


@require_POST
@administrator_required
def set_active(request: HttpRequest, person_id: uuid.UUID) -> HttpResponse:
    person = get_object_or_404(User, pk=person_id)
    active = request.POST.get("active") == "1"
    try:
        accounts.set_active(person, active=active, by=request.user)
        words = "can log in again" if active else "can neither log in nor use a token any more"
        messages.success(request, f"{person} {words}.")
    except accounts.LastAdministrator as error:
        messages.error(request, str(error))
    return redirect("people")


def _page(request: HttpRequest, form: PersonForm, *, person: User | None = None, status: int = 200) -> HttpResponse:
    link = request.build_absolute_uri(reverse("set-password", args=accounts.password_link(person))) if person else ""
    context = {
        "form": form,
        "people": User.objects.order_by("-is_active", "username"),
        "roles": UserRole.choices,
        "link": link,
        "person": person,
    }
    return render(request, "account/people.html", context, status=status)
