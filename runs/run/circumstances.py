"""What was recorded of a run and may change from one to the next of a series: versions, settings, kernel, driver."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from benchagent.catalog import Role, factor_label, factor_role

from runs.formatting import mid_sentence
from runs.machines.facts import device_facts, profile_facts
from runs.models import Run
from runs.models.base import clean
from runs.run import likeness
from runs.run.facets import DRIVER_LABELS, FACTOR, factor_facets, load_generator

NOT_GIVEN = "not given"


class Circumstance(StrEnum):
    """A kind of what may change beside a number: the likeliest cause of its change first."""

    VERSION = "version"
    COMMIT = "commit"
    SETTING = "setting"
    WORKLOAD = "workload"
    LOAD_GENERATOR = "load generator"
    ISOLATION = "isolation"
    INDEX = "index"
    PLAN = "plan"
    STATISTICS = "statistics"
    DURABILITY = "durability"
    DISK = "disk"
    MACHINE = "machine"
    CONTEXT = "context"
    DRIVER = "driver"
    DATASET = "dataset"
    PROCEDURE = "procedure"
    INFO = "info"


# A change of the system that is tested, and one of what it runs on.
OF_SYSTEM = frozenset({
    Circumstance.VERSION, Circumstance.COMMIT, Circumstance.SETTING, Circumstance.WORKLOAD, Circumstance.LOAD_GENERATOR,
    Circumstance.ISOLATION, Circumstance.INDEX, Circumstance.PLAN, Circumstance.STATISTICS, Circumstance.DATASET,
})  # fmt: skip
OF_MACHINE = frozenset({Circumstance.MACHINE, Circumstance.DISK})
# Steps that differ in one of these, or in the version, are of different causes.
PARTS_CAUSES = OF_MACHINE | {
    Circumstance.SETTING, Circumstance.WORKLOAD, Circumstance.LOAD_GENERATOR, Circumstance.ISOLATION,
    Circumstance.PROCEDURE,
}  # fmt: skip
# In this order a headline names what is other than at the batch before. Each may have another commit, and hardly any
# the same context: these tell its table.
TOLD_FIRST = (
    Circumstance.SETTING, Circumstance.DURABILITY, Circumstance.ISOLATION, Circumstance.VERSION, Circumstance.WORKLOAD,
    Circumstance.LOAD_GENERATOR, Circumstance.PROCEDURE, Circumstance.DISK, Circumstance.MACHINE,
)  # fmt: skip
# Where something lies differs from run to run and says nothing.
_MAY_BE_PLACES = (Circumstance.SETTING, Circumstance.DRIVER, Circumstance.DATASET, Circumstance.INFO)
_LONGEST = 200
# What of a driver stands among these facts in words of its own.
_TOLD_OTHERWISE = ("name", "version", "isolation")


def circumstances(run: Run) -> dict[str, str]:
    """ "kind:label" -> in words."""
    version, workload = run.dbms_version, run.workload
    facts = {
        f"{Circumstance.VERSION}:DBMS": version.name,
        f"{Circumstance.WORKLOAD}:Workload version": workload.version,
    }
    facts |= (
        {f"{Circumstance.MACHINE}:{label}": text for label, text in profile_facts(run.hardware)} if run.hardware else {}
    )
    for use in run.storage.all():
        facts |= {
            f"{Circumstance.DISK}:{use.get_role_display()}, {mid_sentence(label)}": text
            for label, text in device_facts(use.device)
        }
    for name, words in likeness.conditions(run).items():
        kind = Circumstance.ISOLATION if name == "isolation" else Circumstance.DURABILITY
        kind = Circumstance.SETTING if name.startswith(likeness.SETTING) else kind
        if name not in likeness.OF_DRIVER:
            facts[f"{kind}:{likeness.heading(name)}"] = words
    for row in run.config.parameters.all() if run.config else ():
        facts.setdefault(f"{Circumstance.SETTING}:{row.name}", row.value if row.value is not None else "given")
    if run.config and run.config.filed_as:
        facts[f"{Circumstance.SETTING}:Revision of the configuration"] = str(run.config.revision)
    facts |= {f"{Circumstance.CONTEXT}:{factor_label(name)}": str(value) for name, value in run.context.items()}
    facts |= {f"{Circumstance.LOAD_GENERATOR}:Load generator": load_generator(run)}
    facts |= {
        f"{Circumstance.DRIVER}:{DRIVER_LABELS.get(name) or factor_label(name)}": value
        for name, value in run.driver.items()
        if isinstance(value, str) and name not in _TOLD_OTHERWISE
    }
    for kind, noted in ((Circumstance.DATASET, run.dataset), (Circumstance.INFO, run.info)):
        facts |= {f"{kind}:{factor_label(name)}": value for name, value in noted.items() if isinstance(value, str)}
    roles = {factor.name: factor.role for factor in run.factors.all()}
    facts |= {
        f"{Circumstance.PROCEDURE}:{facet.label}": facet.words
        for facet in factor_facets(run)
        if factor_role(name := facet.field.removeprefix(FACTOR), roles[name]) == Role.PROCEDURE
    }
    return {name: clean(text, _LONGEST) for name, text in facts.items() if text and not _is_place(name, text)}


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str]]:
    """(kind, Kernel 6.1.0 → 6.12.5) of what both tell, and of settings that only one of them was given."""
    changed = []
    for name in dict.fromkeys((*after, *before)):
        kind, _, label = name.partition(":")
        both = name in before and name in after
        if before.get(name) != after.get(name) and (both or kind == Circumstance.SETTING):
            changed.append((kind, f"{label} {before.get(name, NOT_GIVEN)} → {after.get(name, NOT_GIVEN)}"))
    return changed


def _is_place(name: str, text: str) -> bool:
    return name.partition(":")[0] in _MAY_BE_PLACES and ("/" in text or "\\" in text)
