"""Who may see and change what, on pages: `{% load permissions %}`."""

from __future__ import annotations

from typing import Any

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.access import rules
from runs.access.visibility import Target, source_of
from runs.models import Change, Run
from runs.models.choices import Visibility
from runs.models.visible import owner_id_of

register = template.Library()

VISIBILITY_WORDS = {
    Visibility.PUBLIC: "in all lists, charts and exports",
    Visibility.UNLISTED: "in no list; whoever has the address sees it",
    Visibility.PRIVATE: "for its owner and administrators only",
}


for rule in (rules.may_change, rules.may_contribute, rules.may_describe, rules.may_manage_people, rules.may_operate):
    register.filter(rule)


@register.filter
def lookup(table: dict[Any, Any], key: Any) -> Any:
    return table.get(key, "")


@register.simple_tag
def visibility_badge(thing: Target) -> SafeString:
    """Nothing for what is public."""
    if thing.visibility == Visibility.PUBLIC:
        return SafeString("")
    shown = Visibility(thing.visibility)
    return format_html(
        '<span class="badge" data-visibility="{}" title="{}">{}</span>',
        shown.value, VISIBILITY_WORDS[shown].capitalize(), shown.label,
    )  # fmt: skip


@register.simple_tag
def invalid_badge(run: Run) -> SafeString:
    """Nothing for a run that counts."""
    if run.invalid_at is None:
        return SafeString("")
    return format_html('<span class="badge invalid" title="{}">invalid</span>', run.invalid_reason)


@register.filter
def change_words(change: Change) -> str:
    """A recorded change in one line."""
    field = change.field.replace("_", " ")
    if change.field == "invalid":
        return f"marked invalid: {change.new}" if change.new else f"counts again; was invalid: {change.old}"
    return f"{field}: {_said(change.old)} → {_said(change.new)}"


def _said(value: Any) -> str:
    return "none" if value in (None, "", [], {}) else f"“{value}”"


@register.inclusion_tag("_visibility.html", takes_context=True)
def visibility_control(context: Context, thing: Target) -> dict[str, Any]:
    """Who sees a thing, and for those who may change that one button per choice. A run says what decides for it."""
    target = source_of(thing) if isinstance(thing, Run) else thing
    user = context.get("user")
    return {
        "thing": thing,
        "target": target,
        "of_run": isinstance(thing, Run),
        "kind": target._meta.model_name if target else "",
        "key": (getattr(target, "slug", "") or target.pk) if target else "",
        "choices": [(value, label, VISIBILITY_WORDS[Visibility(value)]) for value, label in Visibility.choices],
        "may_change": target is not None and rules.may_change(user, target),
        "is_owner": target is not None and user is not None and owner_id_of(target) == user.pk,
        "csrf_token": context.get("csrf_token"),
    }
