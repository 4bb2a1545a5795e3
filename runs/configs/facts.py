"""What a stored configuration means: settings with units, meanings, durability. Reads prefetched rows only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from benchagent import configfiles
from benchagent.configfiles import FORMATS, Entry
from benchagent.configfiles.meaning import MEANINGS, Reading, durability, reading
from benchagent.configfiles.meaning import settings_of as read_settings
from benchagent.configfiles.settings import LAST_COUNTS, Facts, Given, Promise, Settings, bare
from benchagent.configfiles.units import NO, YES, Kind, Quantity

from runs.models import Config, ConfigParameter, Dbms

PAGE_SIZE, FORCED_WRITES, MISSING = "page_size_bytes", "forced_writes", "includes_missing"


@dataclass(frozen=True)
class ParameterRow:
    """One parameter with what it means. `overridden`: a later one of the same name counts instead."""

    parameter: ConfigParameter
    quantity: Quantity | None
    meaning: str
    # How many times the name is given; which one counts is not documented for every engine.
    times: int
    overridden: bool
    order_documented: bool
    read_by_server: bool

    @property
    def given(self) -> str | None:
        value = self.parameter.value
        return value if value is None else f"{value} {self.parameter.unit}".strip()

    @property
    def duplicate(self) -> bool:
        return self.times > 1

    @property
    def duplicate_words(self) -> str:
        if not self.order_documented:
            return f"given {self.times} times, which one counts is not documented"
        return "given again below" if self.overridden else f"given {self.times} times, this one counts"

    @property
    def says_more(self) -> bool:
        return adds_to(self.quantity, self.parameter.value)


@dataclass(frozen=True)
class FileFacts:
    """A file to read or take away. `written`: made from the parameters, as none was given."""

    position: int
    name: str
    format: str
    text: str
    written: bool

    @property
    def label(self) -> str:
        return FORMATS[self.format].label if self.format in FORMATS else ""


def adds_to(quantity: Quantity | None, given: str | None) -> bool:
    """Whether a value with its unit says more than the value as given: 16384 is 128 MiB, yes is just yes."""
    if quantity is None or given is None:
        return False
    text = bare(given).lower()
    if quantity.kind == Kind.NUMBER or (quantity.kind == Kind.BOOL and text in YES | NO):
        return False
    return quantity.words.lower() != text


def dbms_of(config: Config) -> Dbms | None:
    """Its DBMS; None where it applies to several, as a setting that an article gives for all its systems."""
    if config.dbms is not None:
        return config.dbms
    dbmss = {version.dbms for version in config.applies_to.all()}
    return dbmss.pop() if len(dbmss) == 1 else None


def engines_of(config: Config) -> str:
    """Slug of the engine whose rules hold; of several that are alike (Firebird and its kin) the first."""
    dbms = dbms_of(config)
    if dbms is not None:
        return dbms.slug
    kin = {version.dbms.slug for version in config.applies_to.all()}
    return "firebird" if kin and kin <= {"firebird", "interbase", "yaffil"} else ""


def facts_of(config: Config) -> Facts:
    """What is known beside the parameters. Of an article's configuration only what it prints is known."""
    versions = {version.version for version in config.applies_to.all()}
    details = config.details if isinstance(config.details, dict) else {}
    database = details.get("database") if isinstance(details.get("database"), dict) else {}
    page_size = details.get(PAGE_SIZE) or (database or {}).get(PAGE_SIZE)
    forced = details.get(FORCED_WRITES)
    return Facts(
        version=versions.pop() if len(versions) == 1 else "",
        page_size_bytes=page_size if isinstance(page_size, int) else None,
        page_size_source="stated for the database",
        forced_writes=forced if isinstance(forced, bool) else None,
        complete=config.publication_id is None and not details.get(MISSING),
    )


def settings_of(config: Config) -> Settings | None:
    """None for a DBMS whose settings we know nothing of."""
    return read_settings(engines_of(config), config.given, facts_of(config))


def durability_of(config: Config) -> Promise:
    """The class that its settings promise, with the reason; None where they do not tell."""
    if not config.parameters.all() and not config.files.all():
        return Promise(None, "no setting is stated")
    if not engines_of(config):
        return Promise(None, "it is given for several DBMSs")
    return durability(engines_of(config), config.given, facts_of(config))


def parameter_rows(config: Config) -> list[ParameterRow]:
    settings = settings_of(config)
    parameters = list(config.parameters.all())
    keys = [key_of(settings, parameter) for parameter in parameters]
    counts, left = Counter(keys), Counter(keys)
    documented = settings is None or settings.engine.duplicates == LAST_COUNTS
    meanings = settings.engine.meanings if settings else {}
    rows = []
    for parameter, key in zip(parameters, keys, strict=True):
        left[key] -= 1
        given = Given(parameter.name, parameter.value, parameter.section)
        is_read = settings is None or settings.engine.is_server(parameter.section)
        meaning = next((MEANINGS[name] for name, meaning in meanings.items() if key[1] in meaning.names), "")
        rows.append(
            ParameterRow(
                parameter=parameter, quantity=settings.meant(given) if settings else None, meaning=meaning,
                times=counts[key], overridden=left[key] > 0 and documented, order_documented=documented,
                read_by_server=is_read,
            )
        )  # fmt: skip
    return rows


def key_of(settings: Settings | None, setting: ConfigParameter | Given) -> tuple[str, str]:
    """Section and name by the engine's own rules: a dash and an underscore are one in MySQL."""
    if settings is None:
        return setting.section, setting.name
    section = "" if settings.engine.is_server(setting.section) else setting.section
    return section, settings.engine.canonical(setting.name)


def meanings_of(config: Config) -> list[tuple[str, Reading]]:
    """(label, reading) of every meaning that is known for it."""
    settings = settings_of(config)
    readings = [(label, reading(settings, key)) for key, label in MEANINGS.items()]
    return [(label, meant) for label, meant in readings if meant.exists and (meant.quantity or meant.given)]


def files_of(config: Config) -> list[FileFacts]:
    """The files as given; without any, one that is written from the parameters."""
    kept = [FileFacts(file.position, file.name, file.format, file.text, False) for file in config.files.all()]
    if kept or not config.parameters.all():
        return kept
    format = configfiles.format_of(engines_of(config))
    entries = [Entry(row.name, row.value, row.value, row.section, row.comment) for row in config.parameters.all()]
    name = config.file_name or FORMATS[format].file_name
    return [FileFacts(1, name, format, configfiles.render(entries, format), True)]
