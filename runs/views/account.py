"""The login; one's own account: tokens and password; and who has one: administrators add people, change their roles."""

from __future__ import annotations

import logging
import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs.access import people as accounts
from runs.access.forms import LoginForm, PersonForm, TokenForm
from runs.models import ApiToken, User
from runs.models.choices import UserRole
from runs.views.forms import form_page
from runs.views.guards import PersonRequest, administrator_required, person_required

TOO_MANY_TRIES = 429
logger = logging.getLogger(__name__)


class Login(LoginView):
    form_class = LoginForm
    template_name = "login.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(public_read=settings.PUBLIC_READ, **kwargs)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_invalid(form)
        if getattr(form, "wait_s", 0):
            response.status_code = TOO_MANY_TRIES
            response["Retry-After"] = str(form.wait_s)  # type: ignore[attr-defined]
        return response


@require_safe
@person_required
@never_cache
def account(request: PersonRequest) -> HttpResponse:
    return _account_page(request, TokenForm(owner=request.user))


@require_POST
@person_required
@never_cache
def create_token(request: PersonRequest) -> HttpResponse:
    """Answers with the page itself: the secret is shown this once and kept nowhere."""
    form = TokenForm(request.POST, owner=request.user)
    if not form.is_valid():
        return _account_page(request, form)
    given = form.cleaned_data
    token, secret = accounts.issue_token(
        owner=request.user, name=given["name"], scopes=given["scopes"], expires_at=form.expires_at()
    )
    # Here, since a token that is made on the server's terminal is told of by its terminal.
    logger.info("token %r %s… of %r made: %s", token.name, token.prefix, token.owner.username, ", ".join(token.scopes))
    return _account_page(request, TokenForm(owner=request.user), secret=secret, new=token)


@require_POST
@person_required
def revoke_token(request: PersonRequest, token_id: uuid.UUID) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=token_id, owner=request.user)
    accounts.revoke_token(token)
    messages.success(request, f"The token “{token.name}” is revoked: it opens nothing any more.")
    return redirect("account")


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@person_required
@never_cache
def change_password(request: PersonRequest) -> HttpResponse:
    form = PasswordChangeForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        form.save()
        # Logs out every other session of this person, not this one.
        update_session_auth_hash(request, form.user)
        messages.success(request, "The password is changed; other sessions are logged out.")
        return redirect("account")
    return form_page(request, "account/password.html", form)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def set_password(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Behind the link that an administrator hands over: works once, and for a few days."""
    person = accounts.person_of_link(uid, token)
    if person is None:
        return render(request, "account/link_over.html", status=410)
    form = SetPasswordForm(person, request.POST if request.method == "POST" else None)
    if form.is_valid():
        form.save()
        messages.success(request, "The password is set. Log in with it.")
        return redirect("login")
    return form_page(request, "account/set_password.html", form, person=person)


def _account_page(
    request: PersonRequest, form: TokenForm, *, secret: str = "", new: ApiToken | None = None
) -> HttpResponse:
    tokens = ApiToken.objects.filter(owner=request.user).order_by("-created_at")
    live = set(tokens.live().values_list("pk", flat=True))
    return form_page(
        request, "account/account.html", form, secret=secret, new=new,
        tokens=[token for token in tokens if token.pk in live],
        over=[token for token in tokens if token.pk not in live],
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@administrator_required
@never_cache
def people(request: HttpRequest) -> HttpResponse:
    """The list; a POST adds somebody and shows the link under which they choose a password."""
    form = PersonForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        person = accounts.add_person(username=given["username"], role=given["role"], by=request.user)
        return _people_page(request, PersonForm(), person=person)
    return _people_page(request, form)


@require_POST
@administrator_required
@never_cache
def new_link(request: HttpRequest, person_id: uuid.UUID) -> HttpResponse:
    """A link to choose a new password; the old one stays good until it is used."""
    return _people_page(request, PersonForm(), person=get_object_or_404(User, pk=person_id, is_active=True))


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


def _people_page(request: HttpRequest, form: PersonForm, *, person: User | None = None) -> HttpResponse:
    link = request.build_absolute_uri(reverse("set-password", args=accounts.password_link(person))) if person else ""
    return form_page(
        request, "account/people.html", form, people=User.objects.order_by("-is_active", "username"),
        roles=UserRole.choices, link=link, person=person,
    )  # fmt: skip
