"""Configurations made of parameters, with a name that tells them apart. Equal ones are one row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchagent.catalog import DBMSS
from benchagent.redaction import redact_text, redact_value

from runs.models import Config, ConfigParameter, Dbms
from runs.models.choices import Provenance
from runs.models.text import clean

Settings = Sequence[tuple[str, str]]
NAME_LIMIT = 200


@dataclass(frozen=True)
class Parameter:
    """One line of a configuration; value None is a flag."""

    name: str
    value: str | None
    section: str = ""
    comment: str = ""


def resolve_config(dbms_slug: str, settings: Settings, *, called: str = "") -> Config:
    """The configuration row of a scheduled run's settings, of a DBMS of the catalogue.

    `called`: what people call these settings, as "printed my.cnf"; it replaces a made name.
    """
    entry = DBMSS[dbms_slug]
    parameters = [Parameter(clean(name, 200), clean(value, 100_000)) for name, value in settings]
    config, _ = config_of(entry.slug, entry.name, parameters, provenance=Provenance.MEASURED)
    if called and config.created_by_id is None and config.name.startswith(f"{entry.name}: "):
        config.name = _free_name(f"{entry.name}, {called}", config.digest)
        config.save(update_fields=["name"])
    return config


def config_of(
    dbms_slug: str, dbms_name: str, parameters: Sequence[Parameter], *, provenance: str
) -> tuple[Config, bool]:
    """The row of these parameters, and whether it is new. Ordered, duplicates and flags kept, secrets redacted."""
    kept = [
        replace(
            given, value=given.value and redact_text(redact_value(given.name, given.value) or ""),
            comment=redact_text(given.comment),
        )
        for given in parameters
    ]  # fmt: skip
    lines = [
        [given.name, given.value, *((given.section, given.comment) if given.section or given.comment else ())]
        for given in kept
    ]
    digest = hashlib.sha256(json.dumps([dbms_slug, lines]).encode()).hexdigest()
    known = Config.objects.filter(digest=digest).first()
    if known is not None:
        return known, False
    standard = dict(DBMSS[dbms_slug].settings) if dbms_slug in DBMSS else {}
    is_standard = [(parameter.name, parameter.value) for parameter in kept] == list(standard.items())
    suffix = "standard" if is_standard else digest[:8]
    name = f"{dbms_name}, standard" if is_standard else f"{dbms_name}: {_differences(standard, kept)}"
    config = Config.objects.create(
        name=_free_name(name, digest), slug=Config.free_slug(f"{dbms_slug}-{suffix}"), digest=digest,
        dbms=Dbms.objects.filter(slug=dbms_slug).first(),
    )  # fmt: skip
    ConfigParameter.objects.bulk_create(
        ConfigParameter(
            config=config, position=position, name=parameter.name, value=parameter.value, section=parameter.section,
            comment=parameter.comment, provenance=provenance,
        )
        for position, parameter in enumerate(kept, 1)
    )  # fmt: skip
    return config, True


def _differences(standard: dict[str, str], parameters: Sequence[Parameter]) -> str:
    """What sets these settings apart from the standard ones, for a name that people can tell apart."""
    given = {parameter.name for parameter in parameters}
    changed = [
        parameter.name if parameter.value is None else f"{parameter.name}={parameter.value}"
        for parameter in parameters
        if parameter.value is None or standard.get(parameter.name) != parameter.value
    ]
    left_out = [f"{name} not given" for name in standard if name not in given]
    return ", ".join(dict.fromkeys(changed + left_out)) or "the standard settings in another order"


def _free_name(name: str, digest: str) -> str:
    """With a piece of the digest where the name alone does not tell: cut short, or that of another configuration."""
    if len(name) <= NAME_LIMIT and not Config.objects.filter(name=name).exclude(digest=digest).exists():
        return name
    mark = f" ({digest[:8]})"
    return shorten(name, NAME_LIMIT - len(mark)) + mark


def shorten(text: str, limit: int = NAME_LIMIT) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
