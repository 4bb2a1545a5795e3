"""The schedule form: what the registered agents offer, turned into a plan."""

from __future__ import annotations

from typing import Any

from benchagent.catalog import DBMSS, WORKLOADS, WorkloadEntry
from django import forms

from agents.machines.offers import approved_agents, offers
from agents.plans.check import MAX_REPEATS, check
from agents.plans.fields import factor_field
from agents.plans.plan import NAME_LIMIT, Engine, Plan, PlanError, Settings
from runs.access.visibility import default_visibility
from runs.models import Publication
from runs.models.choices import Visibility

DEFAULT_REPEATS = 3
ANY_AGENT = "The first free agent that offers all chosen engines"
SETTING_NAME_LIMIT = 200


def settings_text(settings: Settings) -> str:
    return "\n".join(f"{name} = {value}" for name, value in settings)


def parse_settings(text: str) -> Settings:
    """`name = value` lines in order, duplicates kept; blank lines and those that begin with # are left out."""
    pairs: list[tuple[str, str]] = []
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not name or len(name) > SETTING_NAME_LIMIT:
            problems.append(f"Line {number} is not of the form “name = value”: {line.strip()[:80]}")
        pairs.append((name, value))
    if problems:
        raise forms.ValidationError(problems)
    return tuple(pairs)


class ScheduleForm(forms.Form):
    workload = forms.ChoiceField(
        choices=[(entry.slug, entry.name) for entry in WORKLOADS.values()], widget=forms.HiddenInput
    )
    engines = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, error_messages={"required": "Choose at least one engine."}
    )
    repeats = forms.IntegerField(
        min_value=1, max_value=MAX_REPEATS, initial=DEFAULT_REPEATS,
        help_text="3 show the spread, 6 or more allow a firm verdict",
    )  # fmt: skip
    agent = forms.ChoiceField(required=False)
    name = forms.CharField(
        required=False, max_length=NAME_LIMIT, label="Name of the experiment",
        help_text="optional; else named after workload and engines",
    )  # fmt: skip

    visibility = forms.ChoiceField(
        choices=Visibility.choices, required=False, initial=default_visibility, label="Who may see it",
        help_text="public: in all lists; unlisted: whoever has the address; private: you and administrators",
    )  # fmt: skip

    # What it repeats, when the form was opened from a publication.
    publication = forms.SlugField(required=False, max_length=120, widget=forms.HiddenInput)
    figure = forms.SlugField(required=False, max_length=120, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asked_for = str(self.initial.get("workload", ""))
        self.initial["workload"] = self.workload_entry.slug
        self.agents = approved_agents()
        self.offers = offers(self.agents)
        self.fields["engines"].choices = [(offer.key, offer.label) for offer in self.offers]  # type: ignore[attr-defined]
        self.fields["agent"].choices = [("", ANY_AGENT), *self._agent_choices()]  # type: ignore[attr-defined]
        for factor in self.workload_entry.factors:
            self.fields[factor.name] = factor_field(factor, self.agents)
        for dbms in dict.fromkeys(offer.dbms for offer in self.offers):
            self.fields[f"settings_{dbms}"] = _settings_field(dbms)

    def _agent_choices(self) -> list[tuple[str, str]]:
        return [(agent.slug, agent.name if agent.is_online else f"{agent.name} (offline)") for agent in self.agents]

    @property
    def workload_entry(self) -> WorkloadEntry:
        """The chosen workload, which decides what factors there are; the first one until one is chosen."""
        chosen = self.data.get("workload") or self.initial.get("workload")
        return WORKLOADS.get(str(chosen), next(iter(WORKLOADS.values())))

    # For the template

    @property
    def repeated(self) -> Publication | None:
        """The publication that the runs will name; None when nothing is repeated."""
        slug = self["publication"].value()
        return Publication.objects.filter(slug=str(slug)).first() if slug else None

    @property
    def missing_workload(self) -> str:
        """A workload that the address asks for and that the catalogue does not hold."""
        wanted = self.asked_for
        return wanted if wanted and wanted not in WORKLOADS else ""

    @property
    def workloads(self) -> list[dict[str, Any]]:
        """All of the catalogue; the chosen one is `current`."""
        current = self.workload_entry.slug
        return [{"entry": entry, "current": entry.slug == current} for entry in WORKLOADS.values()]

    @property
    def factor_fields(self) -> list[forms.BoundField]:
        """What every run of the workload names."""
        return [self[factor.name] for factor in self.workload_entry.factors if not factor.optional]

    @property
    def condition_fields(self) -> list[forms.BoundField]:
        """What is as usual unless somebody asks for something else."""
        return [self[factor.name] for factor in self.workload_entry.factors if factor.optional]

    @property
    def conditions_differ(self) -> bool:
        """True when one of them is not as usual, or wrong."""
        fields = self.condition_fields
        return any(field.errors or field.value() != field.field.initial for field in fields if field.value())

    @property
    def engine_groups(self) -> list[dict[str, Any]]:
        """Per DBMS: its versions with what is ticked, and the field of its configuration."""
        ticked = set(self["engines"].value() or [])
        groups: dict[str, dict[str, Any]] = {}
        for offer in self.offers:
            group = groups.setdefault(
                offer.dbms,
                {
                    "name": offer.name,
                    "versions": [],
                    "settings": self[f"settings_{offer.dbms}"],
                    "unverified": DBMSS[offer.dbms].unverified,
                },
            )
            group["versions"].append(
                {"offer": offer, "ticked": offer.available and not ticked.isdisjoint((offer.key, offer.dbms))}
            )
        for group in groups.values():
            group["available"] = any(version["offer"].available for version in group["versions"])
        return list(groups.values())

    # From text to plan

    def clean_publication(self) -> str:
        slug: str = self.cleaned_data["publication"]
        if slug and not Publication.objects.filter(slug=slug).exists():
            raise forms.ValidationError(f"There is no publication {slug}.")
        return slug

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        chosen = {key.partition(":")[0] for key in cleaned.get("engines", [])}
        settings = {dbms: self._settings(dbms) for dbms in chosen}
        if self.errors:
            return cleaned
        plan = self._plan(settings)
        try:
            check(plan)
        except PlanError as error:
            for field, words in error.errors.items():
                self.add_error(field.removeprefix("factors."), words)
        cleaned["plan"] = plan
        return cleaned

    def _settings(self, dbms: str) -> Settings:
        """Those given; the catalogue's when the field was not sent at all (an emptied one means: none)."""
        field = f"settings_{dbms}"
        if field not in self.data:
            return DBMSS[dbms].settings
        try:
            return parse_settings(self.cleaned_data.get(field, ""))
        except forms.ValidationError as error:
            self.add_error(field, error)
            return ()

    def _plan(self, settings: dict[str, Settings]) -> Plan:
        cleaned = self.cleaned_data
        order = [offer.key for offer in self.offers]
        keys = sorted(cleaned["engines"], key=order.index)
        chosen = {factor.name: cleaned[factor.name] for factor in self.workload_entry.factors}
        return Plan(
            workload=cleaned["workload"],
            engines=tuple(Engine.of_key(key) for key in keys),
            factors={name: values[0] for name, values in chosen.items() if len(values) == 1},
            sweep={name: tuple(values) for name, values in chosen.items() if len(values) > 1},
            repeats=cleaned["repeats"],
            settings=settings,
            agent=next((agent for agent in self.agents if agent.slug == cleaned["agent"]), None),
            name=cleaned["name"].strip(),
            visibility=cleaned.get("visibility", ""),
            publication=cleaned.get("publication", ""),
            figure=cleaned.get("figure", ""),
        )

    @property
    def plan(self) -> Plan:
        """Of a valid form."""
        plan: Plan = self.cleaned_data["plan"]
        return plan


def _settings_field(dbms: str) -> forms.CharField:
    entry = DBMSS[dbms]
    return forms.CharField(
        required=False, strip=False, max_length=20_000, label=f"Configuration of {entry.name}",
        initial=settings_text(entry.settings), help_text=entry.settings_help.replace("`", ""),
        widget=forms.Textarea(attrs={"rows": max(3, len(entry.settings) + 1), "spellcheck": "false"}),
    )  # fmt: skip
