from __future__ import annotations

import logging
from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils import timezone

from runs.access import backoff
from runs.access.rules import SCOPES_BY_ROLE
from runs.models import User
from runs.models.choices import UserRole

logger = logging.getLogger(__name__)

SCOPE_WORDS = {
    "read": "read: see what you see",
    "upload": "upload: send results, correct your own",
    "schedule": "schedule: start and cancel runs",
    "script": "script: with schedule, run SQL and programs of your own",
    "connection": "connection: with schedule, run on servers that an agent did not start",
    "agent": "agent: make one-time codes for agents",
}
LIFETIMES = [
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "1 year"),
    ("custom", "until a day"),
    ("never", "no end"),
]
FARTHEST = timedelta(days=36_500)


class LoginForm(AuthenticationForm):
    """Counts wrong tries; `wait_s` is how long the next one must wait."""

    wait_s = 0

    def clean(self) -> dict[str, Any]:
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        who = {"username": self.cleaned_data.get("username", ""), "address": address}
        self.wait_s = backoff.begin(**who)
        if self.wait_s:
            raise forms.ValidationError(f"Too many wrong tries. The next one is looked at in {self.wait_s} s.")
        try:
            cleaned: dict[str, Any] = super().clean()
        except forms.ValidationError:
            # Who types a password into the wrong field shall not read it in the log.
            known = User.objects.filter(username=who["username"]).exists()
            logger.warning("wrong password of %s from %s", repr(who["username"]) if known else "nobody", address)
            raise forms.ValidationError("User name and password do not match. Both are case-sensitive.") from None
        if self.user_cache is not None:
            backoff.succeed(**who)
            logger.info("login of %r from %s", who["username"], address)
        return cleaned


class TokenForm(forms.Form):
    name = forms.CharField(max_length=120, label="What it is for", help_text="for example: laptop, nightly CI job")
    scopes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, label="What it may do", error_messages={"required": "Choose at least one."}
    )
    lifetime = forms.ChoiceField(choices=LIFETIMES, initial="90", label="Valid for")
    expires_on = forms.DateField(
        required=False,
        label="Last day",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="only with “until a day”",
    )

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scopes"].choices = [(scope, SCOPE_WORDS[scope]) for scope in SCOPES_BY_ROLE[owner.role]]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if cleaned.get("lifetime") == "custom" and "expires_on" not in self.errors:
            last = cleaned.get("expires_on")
            today = timezone.now().date()
            if last is None or not today <= last <= today + FARTHEST:
                self.add_error("expires_on", "Give a day from today on.")
        elif cleaned.get("expires_on"):
            self.add_error("lifetime", "A last day is given: choose “until a day”, or leave the day empty.")
        return cleaned

    def expires_at(self) -> datetime | None:
        """The end of the last day, in UTC, of a valid form; None for no end."""
        lifetime = self.cleaned_data["lifetime"]
        if lifetime == "never":
            return None
        if lifetime == "custom":
            midnight = datetime.combine(
                self.cleaned_data["expires_on"], time.min, tzinfo=timezone.get_default_timezone()
            )
            return midnight + timedelta(days=1)
        return timezone.now() + timedelta(days=int(lifetime))


class PersonForm(forms.Form):
    username = forms.CharField(
        max_length=150, label="User name", validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
    )  # fmt: skip
    role = forms.ChoiceField(choices=UserRole.choices, initial=UserRole.CONTRIBUTOR)

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("Somebody has this name already.")
        return name
