"""The schedule form: what the registered agents offer, turned into a plan.

Every field of a factor gives a list: several values are all combined.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, groupby
from typing import Any

from benchagent.catalog import DBMSS, OWN_STORAGE, WORKLOADS, FactorDef, FactorKind, number_in
from benchagent.catalog.model import TEXT_LIMIT
from benchagent.catalog.values import SPOKEN_UNITS
from benchagent.redaction import REDACTED
from django import forms
from django.contrib.auth.models import AnonymousUser
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.machines import approved_agents, offers
from agents.models import Agent
from agents.plans.matrix import LONGEST_LINES, FactorValue, Settings, Stop, cells_of, cells_text, swept_of, swept_text
from agents.plans.plan import NAME_LIMIT, Override, Plan, beyond_words, check, stored_configs
from agents.refusals import FieldErrors
from runs.access.rules import default_visibility, nameable
from runs.incoming.forms import LabelFields, moment_field
from runs.models import Config, Publication, User
from runs.models.choices import Visibility
from runs.models.visible import Reader
from runs.results.brought_plan import MAX_REPEATS
from runs.stats.stopping import LEAST

DEFAULT_REPEATS = 3
ANY_AGENT = "The first free agent that offers all chosen engines"
SETTING_NAME_LIMIT = 200
MOST_STORED = 500
DESCRIBED = ("label", "tags", "build", "commit", "branch", "note")
MATRIX = ("machines", "labels", "each", "order", "order_seed", "exclude", "stop_percent", "stop_baseline")


def parse_settings(text: str) -> Settings:
    """`name = value` lines in order, duplicates kept; blank lines and those that begin with # are left out.

    Raises FieldErrors.
    """
    pairs: list[tuple[str, str]] = []
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not name or len(name) > SETTING_NAME_LIMIT:
            problems.append(f"Line {number} is not of the form “name = value”: {line.strip()[:80]}")
        elif value == REDACTED:
            problems.append(f"Line {number}: the value of {name} was a secret and is not stored. Give it again.")
        pairs.append((name, value))
    if problems:
        raise FieldErrors(settings=problems)
    return tuple(pairs)


class SpecialCells(BaseModel):
    """Cells of a plan that no field of the form shows: they go from plan to plan as JSON."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    overrides: tuple[Override, ...] = ()
    extra: tuple[dict[str, FactorValue], ...] = ()


class NumbersField(forms.FloatField):
    """Numbers, whole unless they may have `decimals`, separated by commas or spaces; where none is required, none is
    the usual one."""

    widget = forms.TextInput(attrs={"inputmode": "decimal", "maxlength": "400"})

    def __init__(self, *, decimals: bool = False, **given: Any) -> None:
        self.decimals = decimals
        super().__init__(**given)

    def clean(self, value: Any) -> list[int | float]:
        numbers: list[int | float] = []
        for word in str(value or "").replace(",", " ").split():
            if len(word) > 1 and word.isdigit() and word.startswith("0"):
                raise forms.ValidationError(f"{word[:40]}: a comma parts values; write a thousand as 1000.")
            number = number_in(word)
            if isinstance(number, str) or len(word) > 20 or (isinstance(number, float) and not self.decimals):
                raise forms.ValidationError(f"{word[:40]} is not a {'' if self.decimals else 'whole '}number.")
            super().clean(word)
            numbers.append(number)
        if self.required and not numbers:
            raise forms.ValidationError(self.error_messages["required"])
        return numbers or [int(str(self.initial))]


class ChoicesField(forms.MultipleChoiceField):
    """One choice or several; none of them is the usual one."""

    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Any) -> list[str]:
        return super().clean(value) or list(self.initial)


class LinesField(forms.CharField):
    """A text of lines that `read` makes something of; it raises ValueError."""

    widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})

    def __init__(self, *, read: Callable[[str], Any], **given: Any) -> None:
        self._read = read
        super().__init__(required=False, max_length=LONGEST_LINES, **given)

    def clean(self, value: Any) -> Any:
        try:
            return self._read(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class LongTextField(forms.CharField):
    widget = forms.Textarea(attrs={"rows": 12, "spellcheck": "false"})

    def clean(self, value: Any) -> list[str]:
        return [super().clean(value)]


def factor_field(factor: FactorDef, agents: Sequence[Agent]) -> forms.Field:
    """`agents`: those whose storages can be chosen."""
    label = f"{factor.label} ({factor.unit})" if factor.unit in SPOKEN_UNITS else factor.label
    if factor.kind == FactorKind.NUMBER:
        return NumbersField(
            min_value=factor.minimum, max_value=factor.maximum, label=label, initial=str(factor.default),
            decimals=factor.decimals,
            help_text=factor.help or f"{factor.minimum:,} to {factor.maximum:,}", required=not factor.optional,
        )  # fmt: skip
    if factor.kind == FactorKind.TEXT and not factor.words:
        return LongTextField(
            strip=False, max_length=TEXT_LIMIT, label=label, initial=factor.default, help_text=factor.help
        )
    if factor.kind == FactorKind.STORAGE:
        choices = _storages(agents)
    else:  # with the names of the DBMSs that alone have a value
        having = {value: [dbms for dbms, has in factor.engine_values.items() if value in has] for value in factor.words}
        names = {value: ", ".join(DBMSS[dbms].name for dbms in dbmss) for value, dbmss in having.items()}
        choices = {value: f"{text} ({names[value]})" if names[value] else text for value, text in factor.words.items()}
    return ChoicesField(
        choices=list(choices.items()), label=label, initial=[factor.default], help_text=factor.help,
        required=not factor.optional,
    )  # fmt: skip


def _storages(agents: Sequence[Agent]) -> dict[str, str]:
    """The storages by name; two agents' storages of one name are one choice."""
    words = {"": OWN_STORAGE}
    for agent in agents:
        for storage in agent.places:
            if storage["name"] != "default" and not storage["problem"]:
                # An emulated disk is named by what it does: its device changes from start to start.
                facts = [storage["emulated"] or storage["device"]]
                if not storage["emulated"]:
                    facts += [storage["medium"], storage["model"]]
                words.setdefault(storage["name"], f"{storage['name']} ({', '.join(filter(None, facts))})")
    return words


def initial_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The form as it was filled in for this plan: a `PlanDocument`, perhaps of another Benchsite."""
    values = {name: [value] for name, value in plan.get("factors", {}).items()} | plan.get("sweep", {})
    entry = WORKLOADS.get(plan.get("workload", ""))
    filled: dict[str, Any] = {"engines": [":".join(engine[:2]) for engine in plan.get("engines", [])]}
    for factor in entry.factors if entry else ():
        if words := list(map(str, values.get(factor.name, []))):
            # As `factor_field`: a number may have words for some of its values.
            typed = factor.kind == FactorKind.NUMBER or (factor.kind == FactorKind.TEXT and not factor.words)
            filled[factor.name] = ", ".join(words) if typed else words
    for dbms, pairs in plan.get("settings", {}).items():
        filled[f"settings_{dbms}"] = "\n".join(" = ".join(pair) for pair in pairs)
    filled |= {f"configs_{dbms}": slugs for dbms, slugs in plan.get("configs", {}).items()}
    filled |= {f"swept_{dbms}": swept_text(swept) for dbms, swept in plan.get("swept", {}).items()}
    alike = (
        "workload", "repeats", "agent", "name", "label", "note", "visibility", "publication", "figure", "machines",
        "each", "order", "order_seed",
    )  # fmt: skip
    filled |= {name: plan[name] for name in alike if plan.get(name)}
    if labels := plan.get("labels"):
        filled["labels"] = " ".join(labels)
    if excluded := plan.get("exclude"):
        filled["exclude"] = cells_text(excluded)
    if stop := plan.get("stop"):
        filled |= {"stop_percent": stop["percent"], "stop_baseline": cells_text([stop["baseline"]])}
    if beyond := {name: plan[name] for name in SpecialCells.model_fields if plan.get(name)}:
        filled["beyond"] = json.dumps(beyond)
    if "tags" in plan:
        filled["tags"] = " ".join(plan["tags"])
    tested = plan.get("tested", {})
    return filled | {name: tested[name] for name in ("build", "commit", "branch") if tested.get(name)}


def _is_given(fields: Iterable[forms.BoundField]) -> bool:
    """Whether one of them is not as usual, or wrong."""
    return any(field.errors or field.value() != field.field.initial for field in fields if field.value())


class ScheduleForm(LabelFields):
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
    machines = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Of several machines", help_text="none: any"
    )
    labels = forms.CharField(
        required=False, max_length=400, label="With labels", help_text="words that a machine must have, as nvme rack-2"
    )
    each = forms.BooleanField(required=False, label="Run every cell on each of these machines, not on one of them")
    order = forms.ChoiceField(
        required=False, choices=(("interleaved", "interleaved: A B C A B C"), ("random", "shuffled in each repeat")),
        initial="interleaved",
    )  # fmt: skip
    order_seed = forms.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, label="Seed of the order",
        help_text="empty: drawn and recorded",
    )  # fmt: skip
    exclude = LinesField(
        read=cells_of, label="Leave out",
        help_text="a line each, by what the cells have: dbms=sqlite, terminals=64. Names: dbms, version, config, "
        "machine, a factor, a setting that is varied.",
    )  # fmt: skip
    stop_percent = forms.FloatField(
        required=False, min_value=0.1, max_value=100, label="Stop when the interval is narrower than (%)",
        help_text=f"optional; the repeats above are then the most that are made, {LEAST} the least (of fewer, all)",
    )  # fmt: skip
    stop_baseline = LinesField(
        read=cells_of, label="Of the ratio to this cell", help_text="as dbms=sqlite; empty: of each cell's mean"
    )
    name = forms.CharField(
        required=False, max_length=NAME_LIMIT, label="Name of the experiment",
        help_text="optional; else named after workload and engines",
    )  # fmt: skip
    note = forms.CharField(required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 2}))
    not_after = moment_field("Begin not after", "optional; runs that wait still are cancelled then")

    visibility = forms.ChoiceField(
        choices=Visibility.choices, required=False, initial=default_visibility, label="Who may see it",
        help_text="public: in all lists; unlisted: whoever has the address; private: you and administrators",
    )  # fmt: skip

    # What it repeats, when the form was opened from a publication.
    publication = forms.SlugField(required=False, max_length=120, widget=forms.HiddenInput)
    figure = forms.SlugField(required=False, max_length=120, widget=forms.HiddenInput)

    # What a plan that fills the form says beyond the fields; a reader may leave it out.
    beyond = forms.CharField(required=False, max_length=20_000)

    # Set once the form is valid.
    plan: Plan

    workloads = list(WORKLOADS.values())

    def __init__(self, *args: Any, user: Reader | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user or AnonymousUser()
        # The chosen workload decides what factors there are; it is the first one until one is chosen.
        asked_for = str(self.initial.get("workload") or "")
        chosen = str(self.data.get("workload") or asked_for)
        self.workload_entry = WORKLOADS.get(chosen, next(iter(WORKLOADS.values())))
        # One that the address asks for and that the catalogue does not hold.
        self.missing_workload = asked_for if asked_for not in WORKLOADS else ""
        self.initial["workload"] = self.workload_entry.slug
        self.agents = approved_agents()
        self.offers = offers(self.agents)
        engines = [(offer.engine.key, offer.engine.label) for offer in self.offers]
        agents = [(agent.slug, agent.name if agent.is_online else f"{agent.name} (offline)") for agent in self.agents]
        self.fields["engines"].choices = engines  # type: ignore[attr-defined]
        self.fields["agent"].choices = [("", ANY_AGENT), *agents]  # type: ignore[attr-defined]
        self.fields["machines"].choices = agents  # type: ignore[attr-defined]
        for factor in self.workload_entry.factors:
            self.fields[factor.name] = factor_field(factor, self.agents)
        entries = dict.fromkeys(DBMSS[offer.engine.dbms] for offer in self.offers)
        stored = self._stored([entry.slug for entry in entries])
        for entry in entries:
            self.fields[f"configs_{entry.slug}"] = forms.MultipleChoiceField(
                required=False, choices=stored[entry.slug], label=f"Or stored configurations of {entry.name}",
                help_text="each that is chosen is run, instead of the settings above",
            )  # fmt: skip
            self.fields[f"swept_{entry.slug}"] = LinesField(
                read=swept_of,
                label=f"Settings of {entry.name} to vary",
                help_text="name = value, value; every combination is run",
            )
            self.fields[f"settings_{entry.slug}"] = forms.CharField(
                required=False, strip=False, max_length=20_000, label=f"Configuration of {entry.name}",
                initial="\n".join(f"{name} = {value}" for name, value in entry.settings),
                help_text=entry.settings_help.replace("`", ""),
                widget=forms.Textarea(attrs={"rows": max(3, len(entry.settings) + 1), "spellcheck": "false"}),
            )  # fmt: skip

    def _stored(self, dbmss: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """For each DBMS the newest named configurations that whoever asks may see."""
        rows = nameable(Config.objects.filter(dbms__slug__in=dbmss), self.user).exclude(parameters=None)
        found: dict[str, list[tuple[str, str]]] = {dbms: [] for dbms in dbmss}
        for dbms, slug, name in rows.order_by("-created_at").values_list("dbms__slug", "slug", "name")[:MOST_STORED]:
            found[dbms].append((slug, name))
        return found

    def given(self) -> dict[str, Any]:
        """What is not as usual, right or wrong, to fill another form with."""
        return {field.name: field.value() for field in self if field.value() != field.initial}

    # For the template

    @property
    def matrix_fields(self) -> list[forms.BoundField]:
        """Which machines, in which order, which cells not, when to stop."""
        return [self[name] for name in MATRIX]

    @property
    def matrix_is_given(self) -> bool:
        return _is_given(self.matrix_fields)

    @property
    def repeated(self) -> Publication | None:
        """The publication that the runs will name; None when nothing is repeated."""
        slug = self["publication"].value()
        return Publication.objects.filter(slug=str(slug)).first() if slug else None

    @property
    def beyond_words(self) -> list[str]:
        try:
            beyond = SpecialCells.model_validate_json(self["beyond"].value() or "{}")
        except ValidationError:
            return ["what cannot be read here, so that it cannot be started with it"]
        return beyond_words(beyond.overrides, beyond.extra)

    @property
    def not_here(self) -> str:
        """Engines, storages and the machine of the plan that fills the form, which are not offered here."""
        fields = [name for name, field in self.fields.items() if isinstance(field, forms.MultipleChoiceField)]
        fields += ["agent"]
        missing: list[str] = []
        for name in fields if not self.is_bound else ():
            given = self.initial.get(name, ())
            given = [given] if isinstance(given, str) else given
            offered = {value for value, _ in self.fields[name].choices}  # type: ignore[attr-defined]
            # The address may name a DBMS without its version.
            offered |= {value.partition(":")[0] for value in offered}
            missing += [value.replace(":", " ") for value in map(str, given) if value not in offered]
        return ", ".join(dict.fromkeys(missing))

    @property
    def factor_fields(self) -> list[forms.BoundField]:
        """What every run of the workload names."""
        return [self[factor.name] for factor in self.workload_entry.factors if not factor.optional]

    @property
    def condition_fields(self) -> list[forms.BoundField]:
        """What is as usual unless somebody asks for something else."""
        return [self[factor.name] for factor in self.workload_entry.factors if factor.optional]

    @property
    def wrong_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.errors]

    @property
    def described_is_given(self) -> bool:
        return any(self[name].errors or self[name].value() for name in DESCRIBED)

    @property
    def conditions_differ(self) -> bool:
        """True when one of them is not as usual, or wrong."""
        return _is_given(self.condition_fields)

    @property
    def engine_groups(self) -> list[dict[str, Any]]:
        """Per DBMS: its versions with what is ticked, and the field of its configuration."""
        ticked = set(self["engines"].value() or [])
        groups = []
        for dbms, offered in groupby(self.offers, key=lambda offer: offer.engine.dbms):
            versions: list[dict[str, Any]] = [
                {"offer": offer, "ticked": bool(offer.agents) and not ticked.isdisjoint((offer.engine.key, dbms))}
                for offer in offered
            ]
            fields = [self[f"{name}_{dbms}"] for name in ("settings", "configs", "swept")]
            group = {"entry": DBMSS[dbms], "versions": versions, "fields": fields}
            group["open"] = any(field.errors or (field.value() and field != fields[0]) for field in fields)
            groups.append({**group, "available": any(version["offer"].agents for version in versions)})
        return groups

    # From text to plan

    def clean_publication(self) -> str:
        slug: str = self.cleaned_data["publication"]
        if slug and not Publication.objects.filter(slug=slug).exists():
            raise forms.ValidationError(f"There is no publication {slug}.")
        return slug

    def clean_beyond(self) -> SpecialCells:
        try:
            return SpecialCells.model_validate_json(self.cleaned_data["beyond"] or "{}")
        except ValidationError as error:
            raise forms.ValidationError("What goes beyond the fields of this form cannot be read.") from error

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        user = self.user if isinstance(self.user, User) else None
        settings: dict[str, Settings] = {}
        configs: dict[str, Mapping[str, Settings]] = {}
        for dbms in dict.fromkeys(key.partition(":")[0] for key in cleaned.get("engines", [])):
            typed, stored = f"settings_{dbms}", f"configs_{dbms}"
            if typed in self.data:  # else the catalogue's; an emptied one means: none
                with self._problems_of(typed):
                    settings[dbms] = parse_settings(cleaned.get(typed, ""))
            if slugs := cleaned.get(stored):
                with self._problems_of(stored):
                    configs[dbms] = stored_configs(dbms, slugs, user)
        if cleaned.get("stop_baseline") and "stop_percent" not in self.errors and not cleaned["stop_percent"]:
            self.add_error("stop_percent", "A cell is named for the ratio: say at which width repeats end.")
        if not self.errors:
            self.plan = self._plan(settings, configs)
            try:
                check(self.plan)
            except FieldErrors as error:
                self.add_plan_error(error)
        return cleaned

    @contextmanager
    def _problems_of(self, field: str) -> Iterator[None]:
        """What is refused within is wrong in this field."""
        try:
            yield
        except FieldErrors as error:
            self.add_error(field, [*chain.from_iterable(error.errors.values())])

    def _plan(self, settings: Mapping[str, Settings], configs: Mapping[str, Mapping[str, Settings]]) -> Plan:
        """Of fields that are right."""
        cleaned = self.cleaned_data
        alike = (
            "workload", "repeats", "name", "each", "exclude", "label", "note", "not_after", "visibility", "publication",
            "figure",
        )  # fmt: skip
        chosen = {factor.name: cleaned[factor.name] for factor in self.workload_entry.factors}
        engines = tuple(offer.engine for offer in self.offers if offer.engine.key in cleaned["engines"])
        percent = cleaned["stop_percent"]
        described = self.described()
        return Plan(
            **{name: cleaned[name] for name in alike},
            engines=engines,
            factors={name: values[0] for name, values in chosen.items() if len(values) == 1},
            sweep={name: tuple(values) for name, values in chosen.items() if len(values) > 1},
            overrides=cleaned["beyond"].overrides,
            extra=cleaned["beyond"].extra,
            settings=settings,
            configs=configs,
            swept={engine.dbms: swept for engine in engines if (swept := cleaned[f"swept_{engine.dbms}"])},
            agent=next((agent for agent in self.agents if agent.slug == cleaned["agent"]), None),
            machines=tuple(cleaned["machines"]),
            labels=tuple(cleaned["labels"].split()),
            order=cleaned["order"] or "interleaved",
            order_seed=cleaned["order_seed"] or 0,
            stop=Stop(percent=percent, baseline=next(iter(cleaned["stop_baseline"]), {})) if percent else None,
            tags=tuple(described.get("tags", ())),
            tested=described.get("tested", {}),
        )

    def add_plan_error(self, error: FieldErrors) -> None:
        for field, words in error.errors.items():
            name = {"stop": "stop_baseline"}.get(field, field.removeprefix("factors."))
            if field in ("settings", "configs"):
                name = self._field_of_settings(words[0])
            self.add_error(name if name in self.fields else "beyond", words)

    def _field_of_settings(self, words: str) -> str:
        """The field in which the setting stands that these words begin with, else that of the engines."""
        for engine in self.plan.engines:
            swept, given = self.plan.swept.get(engine.dbms, {}), dict(self.plan.settings.get(engine.dbms, ()))
            for field, names in (("swept", swept), ("settings", given)):
                if any(words.startswith((f"{name}:", f"{name}=")) for name in names):
                    return f"{field}_{engine.dbms}"
        return "engines"
