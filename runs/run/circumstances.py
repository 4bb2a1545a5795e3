"""What was recorded of a run and may change from one to the next of a series: versions, settings, kernel, driver."""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.catalog import Role, factor_label, factor_role

from runs.formatting import mid_sentence
from runs.machines.facts import device_facts, profile_facts
from runs.models import Run
from runs.models.base import clean
from runs.run import likeness
from runs.run.facets import DRIVER_LABELS, FACTOR, factor_facets, load_generator

NOT_GIVEN = "not given"
# Kinds of what is a fact of the machine.
OF_THE_MACHINE = ("machine", "disk")
_LONGEST = 200
# What of a driver stands among these facts in words of its own.
_TOLD_OTHERWISE = ("name", "version", "isolation")


def circumstances(run: Run) -> dict[str, str]:
    """ "kind:label" -> in words."""
    version, workload = run.dbms_version, run.workload
    facts = {"version:DBMS": version.name, "workload:Workload version": workload.version}
    facts |= {f"machine:{label}": text for label, text in profile_facts(run.hardware)} if run.hardware else {}
    for use in run.storage.all():
        facts |= {
            f"disk:{use.get_role_display()}, {mid_sentence(label)}": text for label, text in device_facts(use.device)
        }
    for name, words in likeness.conditions(run).items():
        kind = "setting" if name.startswith(likeness.SETTING) else "isolation" if name == "isolation" else "durability"
        if name not in likeness.OF_DRIVER:
            facts[f"{kind}:{likeness.heading(name)}"] = words
    for row in run.config.parameters.all() if run.config else ():
        facts.setdefault(f"setting:{row.name}", row.value if row.value is not None else "given")
    if run.config and run.config.filed_as:
        facts["setting:Revision of the configuration"] = str(run.config.revision)
    facts |= {f"context:{factor_label(name)}": str(value) for name, value in run.context.items()}
    facts |= {"load generator:Load generator": load_generator(run)}
    facts |= {
        f"driver:{DRIVER_LABELS.get(name) or factor_label(name)}": value
        for name, value in run.driver.items()
        if isinstance(value, str) and name not in _TOLD_OTHERWISE
    }
    facts |= {f"dataset:{factor_label(name)}": value for name, value in run.dataset.items() if isinstance(value, str)}
    facts |= {f"info:{factor_label(name)}": value for name, value in run.info.items() if isinstance(value, str)}
    roles = {factor.name: factor.role for factor in run.factors.all()}
    facts |= {
        f"procedure:{facet.label}": facet.words
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
        if before.get(name) != after.get(name) and (both or kind == "setting"):
            changed.append((kind, f"{label} {before.get(name, NOT_GIVEN)} → {after.get(name, NOT_GIVEN)}"))
    return changed


def _is_place(name: str, text: str) -> bool:
    """Where something lies, which differs from run to run and says nothing."""
    return name.startswith(("setting:", "driver:", "dataset:", "info:")) and ("/" in text or "\\" in text)
