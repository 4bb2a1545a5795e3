"""Configurations made, revised and corrected. Equal ones are one row; what a configuration holds is never changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchagent.catalog import DBMSS
from benchagent.redaction import redact_text, redact_value
from django.db import transaction
from django.db.models import Max, Q

from runs.access import changes
from runs.access.rules import nameable
from runs.configs.facts import FORCED_WRITES, MISSING, PAGE_SIZE, dbms_of
from runs.configs.reading import MOST_PARAMETERS, ConfigError, FileText, Understood, understand
from runs.models import Config, ConfigFile, ConfigParameter, Dbms, DbmsVersion, User
from runs.models.base import clean
from runs.models.choices import Provenance

Settings = Sequence[tuple[str, str]]
NAME_LIMIT = 200
DETAIL_FIELDS = (PAGE_SIZE, FORCED_WRITES)
# Their settings are commands, one after the other: SQLite takes no page size after WAL.
_OF_COMMANDS = frozenset({"sqlite", "hsqldb"})
EDITABLE = ("name", "note", "versions", *DETAIL_FIELDS)
NAMES = {
    "mysql": "MySQL", "mariadb": "MariaDB", "firebird": "Firebird", "interbase": "InterBase", "yaffil": "Yaffil",
    "cubrid": "CUBRID", "oracle": "Oracle", "db2": "DB2",
} | {slug: entry.name for slug, entry in DBMSS.items()}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One line of a configuration; value None is a flag."""

    name: str
    value: str | None
    section: str = ""
    comment: str = ""


def resolve_config(dbms_slug: str, settings: Settings, *, called: str = "", by: User | None = None) -> Config:
    """The configuration row of a scheduled run's settings, of a DBMS of the catalogue. `by`: as in `config_of`.

    `called`: what people call these settings, as "printed my.cnf"; it replaces a made name.
    """
    entry = DBMSS[dbms_slug]
    parameters = [Parameter(clean(name, 200), clean(value, 100_000)) for name, value in settings]
    config, _ = config_of(entry.slug, entry.name, parameters, provenance=Provenance.MEASURED, by=by)
    if called and config.created_by_id is None and config.name.startswith(f"{entry.name}: "):
        config.name = _free_name(f"{entry.name}, {called}", config.digest)
        config.save(update_fields=["name"])
    return config


def config_of(
    dbms_slug: str, dbms_name: str, parameters: Sequence[Parameter], *, provenance: str, by: User | None = None
) -> tuple[Config, bool]:
    """The row of these parameters, and whether it is new. Ordered, duplicates and flags kept, secrets redacted; in
    another order they are equal, unless they are commands.

    Of an equal one that `by` may not see only a made name is shared, which says no more than the parameters do.
    """
    kept = [
        replace(given, value=redact_value(given.name, given.value), comment=redact_text(given.comment))
        for given in parameters
    ]
    standard = dict(DBMSS[dbms_slug].settings) if dbms_slug in DBMSS else {}
    ordered = _in_order(kept, standard) if dbms_slug not in _OF_COMMANDS else kept
    # What was stored before the order of lines told nothing has the digest of its own.
    for digest in dict.fromkeys(_digest(dbms_slug, parameters) for parameters in (kept, ordered)):
        rows = Config.objects.filter(digest=digest)
        # Whose made name is shared is asked first: what others' runs show costs four queries in one.
        equal = rows.filter(created_by=None, note="").first() or (rows if by is None else nameable(rows, by)).first()
        if equal is not None:
            return equal, False
    is_standard = [(parameter.name, parameter.value) for parameter in ordered] == list(standard.items())
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


def _digest(dbms_slug: str, parameters: Sequence[Parameter]) -> str:
    lines = [
        [given.name, given.value, *((given.section, given.comment) if given.section or given.comment else ())]
        for given in parameters
    ]
    return hashlib.sha256(json.dumps([dbms_slug, lines]).encode()).hexdigest()


def _in_order(parameters: Sequence[Parameter], standard: Mapping[str, str]) -> Sequence[Parameter]:
    """The standard ones first, as they stand there, the others by name; as they are where one is given twice."""
    names = {(given.section, given.name) for given in parameters}
    if len(names) < len(parameters):
        return parameters
    places = {name: at for at, name in enumerate(standard)}
    return sorted(parameters, key=lambda given: (places.get(given.name, len(places)), given.section, given.name))


def _differences(standard: dict[str, str], parameters: Sequence[Parameter]) -> str:
    """What sets these settings apart from the standard ones, for a name that people can tell apart."""
    given = {parameter.name for parameter in parameters}
    changed = [
        parameter.name if parameter.value is None else f"{parameter.name}={parameter.value}"
        for parameter in parameters
        if parameter.value is None or standard.get(parameter.name) != parameter.value
    ]
    left_out = [f"{name} not given" for name in standard if name not in given]
    return ", ".join(dict.fromkeys(changed or left_out or _moved(list(standard), parameters)))


def _moved(standard: list[str], parameters: Sequence[Parameter]) -> list[str]:
    """Settings at their standard values that stand behind later ones: those that a plan varies come last."""
    places = [standard.index(parameter.name) for parameter in parameters]
    return [
        f"{parameter.name}={parameter.value}"
        for index, parameter in enumerate(parameters)
        if places[index] <= max(places[:index], default=-1)
    ]


def _free_name(name: str, digest: str) -> str:
    """With a piece of the digest where the name alone does not tell: cut short, or that of another configuration."""
    if len(name) <= NAME_LIMIT and not Config.objects.filter(name=name).exclude(digest=digest).exists():
        return name
    mark = f" ({digest[:8]})"
    return shorten(name, NAME_LIMIT - len(mark)) + mark


def shorten(text: str, limit: int = NAME_LIMIT) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


@dataclass(frozen=True)
class Content:
    """What a configuration is made of: files, or parameters. `versions`: slugs of DBMS versions it was written for."""

    files: Sequence[FileText] = ()
    parameters: Sequence[Parameter] = ()
    dbms: str = ""
    name: str = ""
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    versions: Sequence[str] = ()


@transaction.atomic
def create_config(content: Content, *, by: User | None, dbms: Dbms | None = None) -> Config:
    """The row of this configuration; an equal one that is there already. Raises ConfigError by field.

    `dbms`: the row, where the caller has found it.
    """
    return _create(content, by, dbms)[0]


@transaction.atomic
def revise(config: Config, content: Content, *, by: User | None, note: str = "") -> Config:
    """The next revision with other content; `config` stays as it is, used by runs or not.

    `note` says why. Raises ConfigError, also when nothing differs.
    """
    dbms = dbms_of(config)
    whole = replace(
        content, dbms=content.dbms or (dbms.slug if dbms else ""), name=content.name or config.name,
        note=content.note or config.note, details={**config.details, **content.details},
        versions=content.versions or [version.slug for version in config.applies_to.all()],
    )  # fmt: skip
    made, is_new = _create(whole, by)
    if made.pk == config.pk:
        raise ConfigError({"files": ["Nothing differs from this revision."]})
    if is_new:
        root = config.revision_of or config
        family = Config.objects.filter(Q(pk=root.pk) | Q(revision_of=root))
        made.revision_of, made.revision = root, (family.aggregate(last=Max("revision"))["last"] or 1) + 1
        made.save(update_fields=["revision_of", "revision"])
        changes.record(target=made, field="revision", old=config.slug, new=made.slug, by=by, reason=_words(note, 2_000))
    return made


@transaction.atomic
def correct(config: Config, given: Mapping[str, Any], *, by: User | None) -> list[str]:
    """Name, note and what is known of the database; who, when and the old value are kept. -> names of what changed.

    Raises ConfigError.
    """
    unknown = [name for name in given if name not in EDITABLE]
    if unknown:
        raise ConfigError({name: [f"Cannot be edited. Can be: {', '.join(EDITABLE)}."] for name in unknown})
    if "name" in given and not str(given["name"]).strip():
        raise ConfigError({"name": ["This field may not be blank."]})
    done: list[str] = []
    old: Any
    new: Any
    for name, value in given.items():
        # Versions are rows of their own; what is known of the database stands in the details.
        if name == "versions":
            old, new = sorted(version.slug for version in config.applies_to.all()), sorted(set(value))
        elif name in DETAIL_FIELDS:
            old, new = config.details.get(name), value
        else:
            old, new = getattr(config, name), _words(str(value).strip(), 200 if name == "name" else 10_000)
        if changes.record(target=config, field=name, old=old, new=new, by=by) is None:
            continue
        done.append(name)
        if name == "versions":
            dbms = dbms_of(config)
            if dbms is None:
                raise ConfigError({"versions": ["Its DBMS is not known."]})
            _apply(config, new, dbms, by)
        elif name in DETAIL_FIELDS:
            config.details = {**config.details, name: new}
        else:
            setattr(config, name, new)
    if done:
        config.save(update_fields=["name", "note", "details"])
    return done


def _create(content: Content, by: User | None, dbms: Dbms | None = None) -> tuple[Config, bool]:
    """The row, and whether it is new."""
    if content.files and content.parameters:
        raise ConfigError({"files": ["Give files or parameters, not both."]})
    if len(content.name) > 200:
        raise ConfigError({"name": ["At most 200 characters are allowed."]})
    return _from_parameters(content, by) if content.parameters else _from_files(content, by, dbms)


def _from_files(content: Content, by: User | None, dbms: Dbms | None) -> tuple[Config, bool]:
    understood = understand(content.files, content.dbms)
    if understood.errors:
        raise ConfigError(understood.errors)
    dbms = dbms or _dbms(understood.dbms, by)
    # Page size and forced writes make another configuration too.
    files = [[file.name, file.format, file.text] for file in understood.files]
    document = {"files": files, **_known_of_database(content)}
    digest = hashlib.sha256(json.dumps([dbms.slug, document], sort_keys=True).encode()).hexdigest()
    rows = Config.objects.filter(digest=digest)
    # One that this person may see: a name can tell as much as a number.
    equal = (nameable(rows, by) if by is not None else rows).first()
    if equal is not None:
        return equal, False
    name = _words(content.name.strip(), 200)
    names = ", ".join(file.name for file in understood.files)
    count = sum(file.parameters for file in understood.files)
    missing = [clean(included, 500) for included in understood.includes[:100]]
    config = Config(
        name=name or _free_name(f"{dbms.name}: {names}, {count} parameters", digest), dbms=dbms, digest=digest,
        created_by=by,
        note=_words(content.note, 10_000),
        details=_known_of_database(content) | ({MISSING: missing} if missing else {}),
        file_name=clean(understood.files[0].name, 200) if len(understood.files) == 1 else "",
    )  # fmt: skip
    config.slug = Config.free_slug(name or f"{dbms.slug}-{digest[:8]}")
    config.save(force_insert=True)
    _store_files(config, understood)
    _apply(config, content.versions, dbms, by)
    return config, True


def _from_parameters(content: Content, by: User | None) -> tuple[Config, bool]:
    if len(content.parameters) > MOST_PARAMETERS:
        raise ConfigError({"parameters": [f"More than {MOST_PARAMETERS:,} parameters."]})
    dbms = _dbms(content.dbms, by)
    config, is_new = config_of(dbms.slug, dbms.name, content.parameters, provenance=Provenance.UPLOADED, by=by)
    if is_new:
        config.name = _words(content.name.strip(), 200) or config.name
        config.note, config.created_by, config.dbms = _words(content.note, 10_000), by, dbms
        config.details = _known_of_database(content)
        config.save(update_fields=["name", "note", "created_by", "dbms", "details"])
        _apply(config, content.versions, dbms, by)
    return config, is_new


def _dbms(slug: str, by: User | None) -> Dbms:
    """The catalogue's, or one that `by` may see."""
    rows = Dbms.objects.filter(slug=slug)
    row = (rows if by is None or slug in NAMES else nameable(rows, by)).first()
    if row is not None:
        return row
    if slug not in NAMES:
        raise ConfigError({"dbms": [f"No DBMS {slug}." if slug else "Which DBMS is it for? Choose one."]})
    vendor = DBMSS[slug].vendor if slug in DBMSS else ""
    return Dbms.objects.create(slug=slug, name=NAMES[slug], vendor=vendor)


def _words(text: str, limit: int) -> str:
    """What people write may hold a secret too."""
    return clean(redact_text(text), limit)


def _known_of_database(content: Content) -> dict[str, Any]:
    return {name: content.details[name] for name in DETAIL_FIELDS if content.details.get(name) is not None}


def _apply(config: Config, wanted: Sequence[str], dbms: Dbms, by: User | None) -> None:
    rows = DbmsVersion.objects.filter(dbms=dbms, slug__in=wanted)
    if by is not None:  # a hidden one that it applies to already stays
        rows = rows.filter(Q(pk__in=nameable(DbmsVersion.objects.all(), by)) | Q(pk__in=config.applies_to.all()))
    versions = list(rows)
    missing = set(wanted) - {version.slug for version in versions}
    if missing:
        raise ConfigError({"versions": [f"No version {name} of {dbms.name}." for name in sorted(missing)]})
    config.applies_to.set(versions)


def _store_files(config: Config, understood: Understood) -> None:
    rows: list[ConfigParameter] = []
    for number, file in enumerate(understood.files, 1):
        row = ConfigFile.objects.create(
            config=config, position=number, name=clean(file.name, 200), format=file.format, text=file.text
        )
        rows += [
            ConfigParameter(
                config=config, file=row, line=entry.line, position=position, section=clean(entry.section, 120),
                name=clean(entry.name, 200), value=None if entry.given is None else clean(entry.given, 100_000),
                comment=clean(entry.comment, 10_000), provenance=Provenance.UPLOADED,
            )
            for position, entry in enumerate(file.parsed.entries if file.parsed else (), len(rows) + 1)
        ]  # fmt: skip
    ConfigParameter.objects.bulk_create(rows)
