"""Configurations that are named after their settings, told apart by those in which they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from uuid import UUID

from benchagent.configfiles.meaning import settings_of
from benchagent.configfiles.settings import Facts, Given
from benchagent.configfiles.units import Kind, Quantity
from django.db.models import prefetch_related_objects

from runs.compare.facts import NO_FACT, Fact
from runs.compare.guard import Conditions, Difference, conditions_of, differences, fetch_settings
from runs.models import Config, Run
from runs.run.circumstances import NOT_GIVEN
from runs.run.facets import ignored_name, settings_of_run
from runs.run.likeness import SETTING

# Longer names are those of configurations that have too little in common: they keep their own.
LONGEST = 120
# Values of settings whose meaning is kept.
_MOST_VALUES = 2_000
# What settings are counted in on an axis.
_ON_AXES = {Kind.BYTES: ("MiB", 1024.0**2), Kind.SECONDS: ("s", 1.0), Kind.NUMBER: ("", 1.0)}


def given(config: Config | None) -> dict[str, str]:
    """The last value of each setting: it counts."""
    rows = config.parameters.all() if config else ()
    return {row.name: f"{row.value} {row.unit}".strip() if row.value is not None else "set" for row in rows}


def given_by_config(runs: Iterable[Run]) -> dict[Config | None, dict[str, str]]:
    """What each configuration of these runs gives; of values that mean the same, as 64MB and 65536kB, the first."""
    dbms_of = {run.config: run.dbms_version.dbms.slug for run in runs}
    prefetch_related_objects([config for config in dbms_of if config], "parameters")
    first_of: dict[tuple[object, ...], str] = {}
    return {
        config: {
            name: first_of.setdefault((dbms, name, quantity.key if quantity else value), value)
            for name, value in given(config).items() for quantity in [_quantity(dbms, name, value)]
        }
        for config, dbms in dbms_of.items()
    }  # fmt: skip


@lru_cache(_MOST_VALUES)
def _quantity(dbms: str, name: str, value: str) -> Quantity | None:
    """What it means: hundreds of configurations share a few values."""
    settings = settings_of(dbms, [Given(name, value)], Facts(complete=False))
    return settings.quantity(settings.names[0]) if settings and settings.names else None


def setting_facts(runs: Mapping[str, Run]) -> dict[str, tuple[Fact, dict[str, str]]]:
    """The settings that differ among configurations of one DBMS as facts, by field, each with its value by the keys of
    these runs. Numbers are in MiB or seconds where all are.
    """
    of_dbms: dict[UUID, set[Config | None]] = {}
    for run in runs.values():
        of_dbms.setdefault(run.dbms_version.dbms_id, set()).add(run.config)
    several = [configs for configs in of_dbms.values() if len(configs) > 1]
    if not several:
        return {}
    given_by, found = given_by_config(runs.values()), {}
    for name in dict.fromkeys(name for configs in several for name in swept(given_by[each] for each in configs)):
        value_by_key = {key: given_by[run.config].get(name, NO_FACT) for key, run in runs.items()}
        quantities = {
            value: _quantity(run.dbms_version.dbms.slug, name, value)
            for run, value in zip(runs.values(), value_by_key.values(), strict=True)
        }
        values = [*dict.fromkeys(value for value in value_by_key.values() if value != NO_FACT)]
        kinds = {quantity.kind if (quantity := quantities[value]) else Kind.TEXT for value in values}
        kind = kinds.pop() if len(kinds) == 1 else Kind.TEXT
        unit, each = _ON_AXES.get(kind, ("", 0.0))
        numbers = {
            value: quantity.value / each
            for value in values if each and (quantity := quantities[value]) and isinstance(quantity.value, int | float)
        }  # fmt: skip
        every = [*values, *([NO_FACT] if NO_FACT in value_by_key.values() else [])]
        words = {value: value for value in every}
        found[f"{SETTING}{name}"] = Fact(f"{SETTING}{name}", name, every, words, numbers, unit), value_by_key
    return found


def under_several_names(runs: Iterable[Run]) -> dict[UUID, str]:
    """Configurations by id that hold the same settings as another of their DBMS, with the name of the first of those:
    in force, as a run of each tells, else as they are given. Of an article's not all is known.
    """
    by_dbms: dict[str, dict[Config, Run]] = {}
    for run in sorted(runs, key=lambda run: not run.effective_settings):
        if run.config and run.publication_id is None:
            by_dbms.setdefault(run.dbms_version.dbms.slug, {}).setdefault(run.config, run)
    several = {dbms: by_config for dbms, by_config in by_dbms.items() if len(by_config) > 1}
    prefetch_related_objects([config for by_config in several.values() for config in by_config], "parameters")
    names_by_settings: dict[object, dict[UUID, str]] = {}
    for dbms, by_config in several.items():
        held = [
            (config, settings_of(dbms, config.given, Facts(complete=False)), settings_of_run(run))
            for config, run in by_config.items()
        ]
        names = sorted({name for _, own, _ in held for name in (own.names if own else ())})
        for config, own, in_force in held:
            if own and own.names:
                told = [in_force if in_force and in_force.is_set(name) else own for name in names]
                values = [settings.quantity(name) for name, settings in zip(names, told, strict=True)]
                key = (dbms, str(config.details), *(value and value.key for value in values))
                names_by_settings.setdefault(key, {})[config.pk] = config.name
    several_names = (names for names in names_by_settings.values() if len(names) > 1)
    return {pk: next(iter(names.values())) for names in several_names for pk in names}


def share_equal(runs: Iterable[Run], one_under: Mapping[UUID, str]) -> None:
    """Of configurations that nobody named, and that give the same settings in another order, all these runs have the
    oldest. `one_under`: as `under_several_names` tells.
    """
    equal: dict[object, dict[Config, list[Run]]] = {}
    for run in runs:
        config = run.config
        if config and config.pk in one_under and config.is_named_after_settings(run.dbms_version.dbms.name):
            key = (one_under[config.pk], frozenset(given(config).items()))
            equal.setdefault(key, {}).setdefault(config, []).append(run)
    for by_config in equal.values():
        oldest = min(by_config, key=lambda config: (config.created_at, config.slug))
        for run in chain.from_iterable(of for config, of in by_config.items() if config != oldest):
            run.config = oldest
            run.set_cell_key()


def with_one_name(conditions: Conditions, config: Config | None, one_under: Mapping[UUID, str]) -> Conditions:
    """Marked where `under_several_names` tells that its configuration is one of several names."""
    return replace(conditions, same_config=one_under.get(config.pk, "")) if config else conditions


def differences_between(here: Sequence[Run], there: Sequence[Run], *, metric: str = "") -> list[Difference]:
    """What to know before the numbers of these runs are set against those, as a comparison of both tells it."""
    fetch_settings([*here, *there])
    one_under = under_several_names([*here, *there])
    own, other = (
        with_one_name(conditions_of(runs, metric=metric), runs[0].config if runs else None, one_under)
        for runs in (here, there)
    )
    return differences(own, other)


def swept(every: Iterable[Mapping[str, str]]) -> list[str]:
    """The settings that not all of them have alike."""
    configs = list(every)
    names = dict.fromkeys(name for settings in configs for name in settings)
    return [name for name in names if len({settings.get(name) for settings in configs}) > 1]


def not_in_force(runs: Iterable[Run]) -> dict[str, set[str]]:
    """The name of each configuration -> its settings, in small letters, that none of these runs had as given."""
    found: dict[str, set[str]] = {}
    for run in runs:
        if run.config:
            names = {ignored_name(words).lower() for words in run.ignored_settings}
            found[run.config.name] = found.get(run.config.name, names) & names
    return found


def short_names(
    runs: Iterable[tuple[Run, bool]], base: Config | None, idle: Mapping[str, Set[str]] | None = None
) -> tuple[dict[str, str], str]:
    """The configurations of each DBMS by the settings in which they differ from the `base` one; that one, and those of
    a DBMS that it is not of, by all that are not alike. A setting of which all runs failed names none that did not.
    Second: the name of the base where others leave out some of what it names, else "".

    `runs`: one of each cell, and whether the cell has a value. `idle`: what `not_in_force` tells, to be said of them.
    """
    by_dbms: dict[UUID, dict[UUID, Config]] = {}
    with_values = set[str]()
    for run, has_value in runs:
        dbms, config = run.dbms_version.dbms, run.config
        if config and config.is_named_after_settings(dbms.name):
            by_dbms.setdefault(dbms.pk, {})[config.pk] = config
            with_values |= {config.name} if has_value else set()
    several = [configs for configs in by_dbms.values() if len(configs) > 1]
    prefetch_related_objects([config for configs in several for config in configs.values()], "parameters")
    short: dict[str, str] = {}
    unsaid = ""
    for configs in several:
        settings = {config.name: given(config) for config in configs.values()}
        every = swept(settings.values())
        told = swept(values for config, values in settings.items() if config in with_values) or every
        of_base = settings.get(base.name) if base else None
        own = {
            config: _own_words(
                told if config in with_values else every, values, of_base, (idle or {}).get(config, frozenset())
            )
            for config, values in settings.items()
        }
        if all(own.values()) and len({*own.values()}) == len(own) and max(map(len, own.values())) <= LONGEST:
            short |= own
            if base and of_base and any(_leaves_out(told, values, of_base) for values in settings.values()):
                unsaid = own[base.name]
    return short, unsaid


def _leaves_out(names: Sequence[str], values: Mapping[str, str], of_base: Mapping[str, str]) -> bool:
    """Whether the name of these settings tells only some in which they differ from the base."""
    return len({values.get(name) == of_base.get(name) for name in names}) > 1


def _own_words(
    names: Sequence[str], values: Mapping[str, str], of_base: Mapping[str, str] | None, idle: Set[str]
) -> str:
    """In what it differs from the base; one that lacks some of the base's settings and has no other: those it has."""
    told = [name for name in names if values is of_base or of_base is None or values.get(name) != of_base.get(name)]
    shared = [name for name in names if name in values]
    is_part = bool(shared) and not any(name in values for name in told)
    words = ", ".join(
        setting_words(name, values.get(name)) + (" (not in force)" if name.lower() in idle else "")
        for name in (shared if is_part else told)
    )
    return f"{words} alone" if is_part else words


def setting_words(name: str, value: str | None) -> str:
    return f"{name} {NOT_GIVEN}" if value is None else name if value == "set" else f"{name}={value}"
