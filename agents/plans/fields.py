"""One form field for each factor of the catalogue. Every field gives a list: several values are all combined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchagent.catalog import DBMSS, OWN_STORAGE, FactorDef, FactorKind
from benchagent.catalog.factors import SPOKEN_UNITS
from django import forms

from agents.models import Agent

LONG_TEXTS = ("script_text",)


class NumbersField(forms.CharField):
    """Whole numbers, separated by commas or spaces."""

    widget = forms.TextInput(attrs={"inputmode": "numeric"})

    def __init__(self, *, minimum: int, maximum: int, **kwargs: Any) -> None:
        super().__init__(max_length=400, **kwargs)
        self.minimum = minimum
        self.maximum = maximum

    def clean(self, value: Any) -> list[int]:
        text = super().clean(str(value) if value is not None else value)
        words = text.replace(",", " ").split()
        if not words:
            return [int(self.initial)]
        return [self._number(word) for word in words]

    def _number(self, word: str) -> int:
        if not word.removeprefix("-").isdecimal() or len(word) > 20:
            raise forms.ValidationError(f"{word[:40]} is not a whole number.")
        number = int(word)
        if number < self.minimum:
            raise forms.ValidationError(f"Ensure this value is greater than or equal to {self.minimum}.")
        if number > self.maximum:
            raise forms.ValidationError(f"Ensure this value is less than or equal to {self.maximum}.")
        return number


class ChoicesField(forms.MultipleChoiceField):
    """One choice or several; none of them is the usual one."""

    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Any) -> list[str]:
        return super().clean(value) or list(self.initial)


class TextField(forms.CharField):
    def clean(self, value: Any) -> list[str]:
        return [super().clean(value)]


def factor_field(factor: FactorDef, agents: Sequence[Agent]) -> forms.Field:
    """`agents`: those whose storages can be chosen."""
    label = f"{factor.label} ({factor.unit})" if factor.unit in SPOKEN_UNITS else factor.label
    if factor.kind == FactorKind.NUMBER:
        words = factor.help or f"{factor.minimum:,} to {factor.maximum:,}"
        return NumbersField(
            minimum=factor.minimum, maximum=factor.maximum, label=label, initial=str(factor.default), help_text=words,
            required=not factor.optional,
        )  # fmt: skip
    if factor.kind == FactorKind.TEXT and not factor.engine_values:
        return _text_field(factor, label)
    choices = _places(agents) if factor.kind == FactorKind.PLACE else _known_values(factor)
    return ChoicesField(
        choices=choices, label=label, initial=[factor.default], help_text=factor.help, required=not factor.optional
    )


def _text_field(factor: FactorDef, label: str) -> TextField:
    long = factor.name in LONG_TEXTS
    widget = forms.Textarea(attrs={"rows": 12, "spellcheck": "false"}) if long else forms.TextInput()
    return TextField(
        required=long, strip=not long, max_length=100_000 if long else 200, label=label, initial=factor.default,
        help_text=factor.help, widget=widget,
    )  # fmt: skip


def _known_values(factor: FactorDef) -> list[tuple[str, str]]:
    """Each with the names of the DBMSs that alone have it."""
    found = []
    for value, words in factor.words.items():
        names = [DBMSS[dbms].name for dbms, values in factor.engine_values.items() if value in values]
        found.append((value, f"{words} ({', '.join(names)})" if names else words))
    return found


def _places(agents: Sequence[Agent]) -> list[tuple[str, str]]:
    """By name; two agents' storages of one name are one choice."""
    found = {"": OWN_STORAGE}
    for agent in agents:
        for place in agent.places:
            if place["name"] != "default" and not place["problem"]:
                found.setdefault(place["name"], _place_words(place))
    return list(found.items())


def _place_words(place: dict[str, Any]) -> str:
    """An emulated disk is named by what it does: its device changes from start to start."""
    facts = [place["emulated"]] if place["emulated"] else [place["device"], place["medium"], place["model"]]
    return f"{place['name']} ({', '.join(word for word in facts if word)})"
