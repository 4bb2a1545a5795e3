"""Templates: plans that somebody saved to start from. A name is one person's once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.models import Template
from agents.plans.plan import PlanError, planned
from runs.models import User


def make(plan: Mapping[str, Any], *, owner: User, name: str, note: str = "", is_shared: bool = True) -> Template:
    """Raises PlanError where the plan cannot be run again, and for a name that is taken."""
    if Template.objects.filter(owner=owner, name=name).exists():
        raise PlanError({"name": [f"You have a template {name} already."]})
    planned(plan, user=owner)
    given = {"owner": owner, "name": name, "note": note, "is_shared": is_shared}
    return Template.objects.create(slug=Template.free_slug(name), plan=dict(plan), **given)
