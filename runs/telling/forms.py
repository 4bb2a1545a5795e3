"""A rule as a person fills it in."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from runs.formatting import natural
from runs.machines.facts import names_apart
from runs.models import Benchmark, TellingRule
from runs.models.telling import TellingWay
from runs.models.visible import Reader
from runs.telling import chat
from runs.telling.calling import NotReached, checked

# What a rule may be of.
FACTS = ("machine", "workload", "dbms", "metric")


def machine_names(user: Reader) -> dict[UUID, str]:
    """Machines of the benchmarks that the reader may see, as the newest of these calls it."""
    named = Benchmark.objects.listed_for(user).exclude(machine=None).exclude(hardware=None).order_by("newest_at")
    newest = {pk: called for pk, *called in named.values_list("machine", "hardware__slug", "hardware__name")}
    apart = names_apart(dict(newest.values()))
    names = {pk: apart[slug] for pk, (slug, _) in newest.items()}
    return dict(sorted(names.items(), key=lambda pair: natural(pair[1])))


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic at run time
    class Meta:
        model = TellingRule
        fields = (
            "name", "way", "target", "machine", "workload", "dbms", "metric", "benchmark", "worse_only", "tells_new",
            "tells_lab", "least_percent", "daily",
        )  # fmt: skip
        labels = {
            "way": "How", "target": "To", "dbms": "DBMS", "worse_only": "only what became worse",
            "tells_lab": "also experiments that ended or wait too long, lost agents, a queue that stands still",
            "tells_new": "suspicions too, before they are confirmed",
            "least_percent": "From this change on (%)",
            "daily": "once a day, at 07:00 UTC",
        }  # fmt: skip
        help_texts = {"target": "an address of e-mail, an https address for a webhook, or slack://… as Apprise has it"}

    def __init__(self, *args: Any, user: Reader, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        seen = self.seen = Benchmark.objects.listed_for(user)
        for name in FACTS:
            choice = cast("forms.ModelChoiceField[Any]", self.fields[name])
            choice.queryset = choice.queryset.filter(benchmarks__in=seen).distinct()  # type: ignore[union-attr]
            choice.required, choice.empty_label = False, "any"
        of_one = cast("forms.ModelChoiceField[Any]", self.fields["benchmark"])
        of_one.queryset, of_one.required = seen, False
        # There may be thousands: one is chosen on its page.
        of_one.choices = [("", "any")]
        with suppress(ValidationError):
            if chosen := of_one.to_python(self["benchmark"].value()):
                of_one.choices = [("", "any"), (chosen.pk, chosen.on_machine)]
        self.fields["machine"].choices = [("", "any"), *machine_names(user).items()]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        chosen = {name: cleaned[name] for name in (*FACTS, "benchmark") if cleaned.get(name)}
        asked = {"pk" if name == "benchmark" else name: each.pk for name, each in chosen.items()}
        if chosen and not self.seen.watched().filter(**asked).exists():
            words = "No benchmark of a main branch is of this and of what else is chosen: the rule would tell nothing."
            self.add_error([*chosen][-1], words)
        target, least = cleaned.get("target", ""), cleaned.get("least_percent") or 0
        if not 0 <= least <= 100:
            self.add_error("least_percent", "A share from 0 to 100 %.")
        try:
            if cleaned.get("way") == TellingWay.MAIL:
                validate_email(target)
            elif cleaned.get("way") == TellingWay.WEBHOOK:
                checked(target)
            elif cleaned.get("way") == TellingWay.CHAT:
                chat.checked(target)
        except ValidationError:
            self.add_error("target", "An address of e-mail is required.")
        except NotReached as error:
            self.add_error("target", str(error))
        return cleaned
