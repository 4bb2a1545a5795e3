"""What is known about a run, field by field, in words: for labels, for "what varies", for the comparability guard."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any

from benchagent.catalog import (
    COUNTED,
    DURABILITY_WORDS,
    FACTORS,
    METRICS,
    OWN_STORAGE,
    Durability,
    FactorKind,
    amount,
    factor_label,
    factor_phrase,
    factor_unit,
    factor_words,
)
from benchagent.catalog.durability import HOST
from benchagent.configfiles.meaning import settings_of
from benchagent.configfiles.settings import Facts, Given, Settings

from runs.formatting import quantity
from runs.models import Config, HardwareProfile, Measurement, Run, RunStorage, StateChange
from runs.models.base import clean
from runs.models.choices import SHORT_DURABILITY, Provenance, StorageRole
from runs.models.subjects import dbms_name
from runs.run.durability import storage_statement

# Keys of facts that have a name of their own behind it: a factor's, a storage's role, a fact of the sender's.
FACTOR, STORAGE, CONTEXT, DATASET = "factor:", "storage:", "context:", "dataset:"
# What a sender's data were to be. Their bytes after loading are a result, and no two repeats have the same.
DATA_SIZES = (
    "scale_factor", "warehouses", "rows", "rows_per_table", "tables", "dataset_mb", "dataset_gb", "target_size_mb",
)  # fmt: skip
# The order in which labels name what varies, the others by name; a running number of the source comes last.
_FIRST = ("scale_factor", "size_gb", "size_mb", "warehouses", "rows", "terminals", "threads", "disk", "method")
_ORDER = {name: index for index, name in enumerate(_FIRST)}
_ORDER["test_no"] = 1_000
_SPEAKING_UNITS = frozenset({"B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "%"})
# Values of factors whose words are kept: the runs of a comparison share a few.
_MOST_LEVELS = 2_000
# So many servers' settings are kept.
_MOST_SETTINGS = 100
# Characters of a text, as a script is one, that can stand in a sentence.
_SPEAKABLE = 60

# What was tested, in the order in which it names a version; the DBMS tells its build id itself.
TESTED = {"build": "Build", "commit": "Commit", "branch": "Branch", "dbms_build": "DBMS build"}
SHORT_COMMIT = 10
# The branch that is watched goes by any of these names, or by none.
MAIN_BRANCHES = frozenset({"", "main", "master", "trunk"})

# The word for a run with `durability_doubt`, which says the numbers.
DOUBT_WORDS = "contradicted"
DURABILITY_ORDER = {durability.value: rank for rank, durability in enumerate(Durability)}


@dataclass(frozen=True)
class Facet:
    """`text` stands alone in a label ("commit group 2"); `words` goes under the heading `label` in a table.

    `value` is exact, as it is stored; `key` stands for it in addresses. Neither follows the wording.
    """

    field: str
    label: str
    value: str
    words: str
    text: str
    key: str


def device_words(use: RunStorage) -> str:
    """A device in words: an NVMe that is called so is not an NVMe (NVMe)."""
    device = use.device
    if use.in_memory:
        return SHORT_DURABILITY[Durability.MEMORY]
    if device.short_name != device.name:
        return device.short_name
    is_said = device.medium_label.lower() in device.name.lower()
    extra = ", ".join(filter(None, ("" if is_said else device.medium_label, device.file_system)))
    return f"{device.name} ({extra})" if extra else device.name


def facets(run: Run) -> dict[str, Facet]:
    """Everything known about a run that another run may differ in, in the order in which a label would name it.

    Reads prefetched rows only (`Run.objects.for_lists()`).
    """
    version = f", version {run.workload.version}" if run.workload.version else ""
    stated = [
        _plain("workload", "Workload", f"{run.workload.name}{version}"),
        _plain("dbms", "DBMS", dbms_name(run.dbms_version.name, run.durability)),
    ]
    stated += [*factor_facets(run), *data_facets(run)]
    for use in run.storage_rows:
        device = use.device
        extra = ", ".join(part for part in (device.medium_label, device.file_system) if part)
        name = f"{device.name} ({extra})" if extra else device.name
        words = device_words(use)
        value = words if use.in_memory else name
        heading = f"{StorageRole(use.role).label} storage"
        stated.append(Facet(f"{STORAGE}{use.role}", heading, value, words, words, value))
    if run.hardware is not None:
        stated.append(_plain("hardware", "Machine", run.hardware.name))
    if run.config is not None:
        stated.append(_plain("config", "Configuration", run.config.name))
    stated += context_facets(run)
    if run.durability:
        promise = Durability(run.durability)
        value, short = DURABILITY_WORDS[promise], SHORT_DURABILITY[promise]
        words = f"{value}{HOST}" if run.durability_reason.endswith(HOST) else value
        stated.append(Facet("durability", "Durability", value, words, short, short))
    if run.publication is not None:
        stated.append(_plain("publication", "Publication", run.publication.title_en))
    if run.experiment is not None:
        stated.append(_plain("experiment", "Experiment", run.experiment.name))
    stated.append(_plain("provenance", "Provenance", Provenance(run.provenance).label))
    return {facet.field: facet for facet in stated}


def tested_words(run: Run) -> str:
    """The version that was tested, short enough for a legend; empty where nothing is said. Needs the batch."""
    tested = run.effective_tested
    words = {name: tested[name] for name in ("build", "commit", "branch") if tested.get(name)}
    if "commit" in words:
        words["commit"] = words["commit"][:SHORT_COMMIT]
    return " · ".join(words.values())


def branch_of(run: Run) -> str:
    """Empty where it is the one that is watched."""
    branch = clean(run.effective_tested.get("branch", ""), 120)
    return "" if branch.lower() in MAIN_BRANCHES else branch


def commit_number(tested: Mapping[str, str]) -> int:
    """How many commits its branch has up to it; 0 where nobody says it."""
    given = tested.get("commit_number", "")
    return int(given) if given.isdecimal() and len(given) < 12 else 0


@lru_cache(_MOST_LEVELS)
def _plain(field: str, label: str, value: str) -> Facet:
    return Facet(field, label, value, value, value, value)


def shown_unit(name: str, unit: str) -> str:
    """The unit behind a factor's number: where none is stated that of its name, so that an upload's 60 and an agent's
    60 s are one; none of what is counted, which the heading says already.
    """
    own = factor_unit(name)
    return "" if own in COUNTED or unit == factor_label(name).lower() else unit or own


def factor_facets(run: Run) -> list[Facet]:
    """Reads prefetched rows only."""
    emulated = {f"{use.role}_storage" for use in run.storage_rows if use.device.emulated}
    factors = sorted(run.factor_rows, key=lambda factor: (_ORDER.get(factor.name, 100), factor.name))
    return [
        _number_facet(factor.name, factor.number, factor.unit)
        if factor.number is not None
        else _text_facet(factor.name, factor.text, factor.unit, emulated=factor.name in emulated)
        for factor in factors
    ]


# What a factor is set to that turns something on or off: a value says nothing without its name, and nobody varies it as
# another question.
SWITCHED = frozenset({"on", "off", "yes", "no", "true", "false"})


@lru_cache(_MOST_LEVELS)
def _text_facet(name: str, text: str, unit: str, *, emulated: bool) -> Facet:
    """`emulated`: of a storage, as the run found it."""
    label = factor_label(name)
    if len(text) > _SPEAKABLE:
        return _long_facet(f"{FACTOR}{name}", label, text)
    shown = f"{text} (emulated)" if emulated and text else text
    is_storage = name in FACTORS and FACTORS[name].kind == FactorKind.STORAGE
    value = text or (OWN_STORAGE if is_storage else "")
    words, spoken = factor_words(name, shown, unit), factor_phrase(name, shown, unit)
    if spoken.lower() in SWITCHED:
        spoken = f"{label[:1].lower()}{label[1:]} {spoken}"
    return Facet(f"{FACTOR}{name}", label, value, words, spoken, key=value)


@lru_cache(_MOST_LEVELS)
def _number_facet(name: str, number: float, unit: str) -> Facet:
    label, phrase_unit, unit = factor_label(name), unit or None, shown_unit(name, unit)
    value = f"{number:,.10g} {unit}".strip()
    short = f"{number:,.0f}" if float(number).is_integer() else f"{number:,.6g}"
    if unit in _SPEAKING_UNITS:
        spoken = f"{short} {unit}"
    else:
        spoken = f"{label[:1].lower()}{label[1:]} {short}{' s' if unit == 's' else ''}"
    is_counted = label.lower() in COUNTED
    alone = amount(number, label.lower() if is_counted else unit) if is_counted or unit == "MB" else spoken
    text = factor_phrase(name, number, phrase_unit) if name in FACTORS else alone
    words = factor_words(name, number, unit)
    if unit in _SPEAKING_UNITS and len(words) > len(spoken):  # 1,814 GB, as sentences have it, of 1,813.969025
        words = text = quantity(number, unit)
    return Facet(f"{FACTOR}{name}", label, value, words, text, key=spoken)


def data_sizes(run: Run) -> dict[str, float]:
    """The sizes that its data were to have, but for what a factor says already: so many warehouses make its MB."""
    sizes = {name: run.dataset[name] for name in DATA_SIZES if name in run.dataset}
    said = {factor.name for factor in run.factor_rows} if sizes else set()
    said |= {"warehouses"} if "target_size_mb" in said else set()
    return {
        name: float(size)
        for name, size in sizes.items()
        if name not in said and isinstance(size, int | float) and not isinstance(size, bool)
    }


def data_facets(run: Run) -> list[Facet]:
    return [replace(_number_facet(name, size, ""), field=f"{DATASET}{name}") for name, size in data_sizes(run).items()]


def context_facets(run: Run) -> list[Facet]:
    """Which connection, which microcode: what else makes a cell another one."""
    facets = []
    for name, value in run.context.items():
        field, label, text = f"{CONTEXT}{name}", factor_label(name), str(value)
        spoken = f"{label[:1].lower()}{label[1:]} {text}"
        is_long = len(text) > _SPEAKABLE
        facets.append(_long_facet(field, label, text) if is_long else Facet(field, label, text, text, spoken, spoken))
    return facets


def _long_facet(field: str, label: str, text: str) -> Facet:
    """A text that is too long for a sentence: its beginning, and what tells it from another that begins alike."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    short = f"{' '.join(text.split())[:_SPEAKABLE]}… (#{digest})"
    return Facet(field, label, text, short, f"{label.lower()} #{digest}", key=text)


# Circumstances that a result records and nobody varies, in the order in which a comparison names them.
RECORDED = {
    "isolation": "Isolation level",
    "buffer_pool": "Buffer pool",
    "storage_holds": "What the storage can hold of a commit",
    "transport": "Client",
    "generator": "Load generator",
    "jdbc": "JDBC driver",
    "java": "Java",
    "agent": "Agent version",
}


def reads_given_settings(run: Run) -> bool:
    return bool((run.upload_id or run.publication_id) and not run.effective_settings)


def settings_of_run(run: Run) -> Settings | None:
    """Those in force, else those that an upload gives or an article prints: reads the parameters of its configuration
    then.
    """
    rows: Iterable[tuple[Any, ...]] = map(tuple, run.effective_settings)
    if reads_given_settings(run) and run.config:
        rows = ((row.name, row.value, row.section) for row in run.config.parameters.all())
    return settings_of_rows(run.dbms_version.dbms.slug, tuple(rows))


@lru_cache(_MOST_SETTINGS)
def settings_of_rows(dbms: str, rows: tuple[tuple[Any, ...], ...]) -> Settings | None:
    """(name, value[, section]) of each as one object: the runs of a comparison share a few hundred of them."""
    return settings_of(dbms, [Given(*row) for row in rows], Facts(complete=False)) if rows else None


def recorded(run: Run) -> dict[str, str]:
    """Those of `RECORDED` that a run tells of itself, in words."""
    driver, held = run.driver, storage_statement(run).durability
    settings = settings_of_run(run)
    meant = {name: settings.means(name) for name in ("isolation", "buffer_pool")} if settings else {}
    texts = {
        **{name: quantity.words for name, quantity in meant.items() if quantity},
        **{name: str(driver[name]) for name in ("isolation", "transport", "java", "agent") if driver.get(name)},
        "storage_holds": SHORT_DURABILITY[held] if held else "",
        "generator": load_generator(run),
        "jdbc": _joined(driver, "jdbc_driver", "jdbc_driver_version"),
    }
    return {name: texts[name] for name in RECORDED if texts.get(name)}


def load_generator(run: Run) -> str:
    """With its version; empty where the run names none."""
    return _joined(run.driver, "name", "version")


def _joined(driver: Mapping[str, Any], *names: str) -> str:
    return " ".join(str(driver[name]) for name in names if driver.get(name))


def weakest_durability(runs: Sequence[Run]) -> str:
    """The weakest durability that a run states; empty when none does."""
    return max((run.durability for run in runs if run.durability), key=DURABILITY_ORDER.__getitem__, default="")


def doubt(runs: Sequence[Run]) -> str:
    """What was measured against the durability class of any of them: the first; empty when nothing was."""
    return next((run.durability_doubt for run in runs if run.durability_doubt), "")


def claim_words(durability: str, doubted: str) -> str:
    """A durability class as a group of runs may claim it."""
    words = SHORT_DURABILITY[Durability(durability)] if durability else "not known"
    return f"{words}, {DOUBT_WORDS}" if doubted else words


def machine_is_described(hardware: HardwareProfile | None) -> bool:
    """Whether a machine is more than a name: processor or memory stated."""
    return hardware is not None and bool(hardware.cpu_model or hardware.ram_bytes)


DRIVER_LABELS = {
    "name": "Load generator",
    "version": "Load generator version",
    "jdbc_driver": "JDBC driver",
    "jdbc_driver_version": "JDBC driver version",
    "agent": "Agent version",
    "isolation": "Isolation level in force",
    "transport": "Client",
    "cpu": "Load generator's CPU includes",
}


@dataclass(frozen=True)
class SettingRow:
    """A setting as given (all its values, in order) and as the DBMS says it is in force; None where it says nothing.

    `ignored`: what the agent says of it where it is not in force as given; empty where it is.
    """

    name: str
    given: list[str]
    effective: str | None
    ignored: str


def ordered_measurements(run: Run) -> list[Measurement]:
    """Those of the run first, in the order of the catalogue, then by name."""
    order = {name: position for position, name in enumerate(METRICS)}
    return sorted(
        run.measurements.all(),
        key=lambda row: (row.phase != "run", order.get(row.metric.name, len(order)), row.metric.name, row.phase),
    )


def origin(run: Run) -> list[tuple[str, str]]:
    """(label, text) of what generated the load, of its data, and of the sender's own facts; empty ones are left out."""
    facts = [(DRIVER_LABELS.get(name) or factor_label(name), value) for name, value in run.driver.items()]
    for kind, stated in (("Data", run.dataset), ("Context", run.context), ("Info", run.info)):
        facts += [(f"{kind}: {factor_label(name).lower()}", value) for name, value in stated.items()]
    return [(label, _words(value)) for label, value in facts if value not in ("", None, {}, [])]


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def ignored_name(words: str) -> str:
    """Of which setting it speaks: `fsync: off given, on in force`, `page_size=8192 given, …`, or a name alone."""
    return re.split(r"\s*[:=]", words, maxsplit=1)[0]


def setting_rows(run: Run) -> list[SettingRow]:
    """Given settings in their order, then the effective ones that nobody gave."""
    effective = {str(name): str(value) for name, value in run.effective_settings}
    lower = {name.lower(): name for name in effective}
    ignored = {ignored_name(words).lower(): words for words in map(str, run.ignored_settings)}
    rows, seen = [], set()
    for name, values in _given(run.config).items():
        match = lower.get(name.lower())
        seen.add(match)
        rows.append(SettingRow(name, values, effective[match] if match else None, ignored.get(name.lower(), "")))
    return rows + [SettingRow(name, [], value, "") for name, value in effective.items() if name not in seen]


def _given(config: Config | None) -> dict[str, list[str]]:
    """Parameter name -> its values in order; a flag stands alone and has an empty value."""
    values: dict[str, list[str]] = {}
    for parameter in config.parameters.all() if config else ():
        value = "" if parameter.value is None else f"{parameter.value} {parameter.unit}".strip()
        values.setdefault(parameter.name, []).append(value)
    return values


def time_line(run: Run) -> list[tuple[StateChange, float | None]]:
    """The states, each with how many seconds it lasted: None for the last one, and where the clock went back."""
    changes = list(run.state_changes.all())
    lasted_s = [(after.at - change.at).total_seconds() for change, after in pairwise(changes)]
    return [(change, s if s is not None and s >= 0 else None) for change, s in zip_longest(changes, lasted_s)]
