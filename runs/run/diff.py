"""Runs side by side: what was run, with which settings, on which machine, and what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from runs.formatting import mid_sentence, percent, quantity
from runs.machines.facts import device_facts, profile_facts
from runs.models import Run
from runs.models.choices import StorageRole
from runs.run import quality
from runs.run.engine_report import CONDITIONS
from runs.run.facets import (
    context_facets,
    factor_facets,
    load_generator,
    ordered_measurements,
    origin,
    setting_rows,
    tested_words,
)
from runs.tables import FactRow, fact_rows

SETTINGS = "Settings in force"
# The head of a run names so many things that it differs in.
MOST_IN_A_HEAD = 2


@dataclass(frozen=True)
class Section:
    """`rows` are those that are shown, what only some state among them; `alike` counts the others, and `foreign` what
    is left out because another DBMS has no such setting.
    """

    title: str
    rows: list[FactRow]
    alike: int
    foreign: int = 0


def told_apart(runs: Sequence[Run]) -> list[str]:
    """For each run what it differs in: the first of its factors, configuration, machine, disk and load generator."""
    stated = [
        {facet.field: facet.text for facet in factor_facets(run) if facet.value}
        | {
            "config": run.config.name.removeprefix(f"{run.dbms_version.dbms.name}: ") if run.config else "",
            "hardware": run.hardware.name if run.hardware else "",
            "disk": ", ".join(use.device.short_name for use in run.storage.all() if use.role == StorageRole.DATA),
            "generator": load_generator(run),
        }
        for run in runs
    ]
    fields = dict.fromkeys(field for facts in stated for field in facts)
    differing = [field for field in fields if len({facts.get(field, "") for facts in stated}) > 1][:MOST_IN_A_HEAD]
    return [", ".join(filter(None, (facts.get(field, "") for field in differing))) for facts in stated]


def sections(
    runs: Sequence[Run], *, everything: bool = False, no_ratios: Mapping[str, str] = MappingProxyType({})
) -> list[Section]:
    """Rows that differ, or all of them; sections of which nothing is known are left out.

    `runs` come from `Run.objects.for_lists()`; `no_ratios`: the names of metrics by which the first and the last may
    not be compared, with the reason where it is not that of all.
    """
    rows_by_title = {
        "What was run": fact_rows([_what(run) for run in runs]),
        "Factors": fact_rows(
            [{facet.label: facet.words for facet in (*factor_facets(run), *context_facets(run))} for run in runs]
        ),
        "Numbers": _numbers(runs, no_ratios),
        "Checks": fact_rows([_checks(run) for run in runs]),
        SETTINGS: fact_rows([_settings(run) for run in runs]),
        "Machine": fact_rows([dict(profile_facts(run.hardware)) if run.hardware else {} for run in runs]),
        "Disks": fact_rows([_disks(run) for run in runs]),
        "Environment": fact_rows([_environment(run) for run in runs]),
    }
    several = len({run.dbms_version.dbms_id for run in runs}) > 1
    shown = []
    for title, rows in rows_by_title.items():
        stated = [row for row in rows if any(row.values)]
        if everything:
            kept, foreign = stated, 0
        else:
            # What differs comes before what only some state.
            kept = [row for row in stated if row.differs] + [row for row in stated if row.partial and not row.differs]
            own = [row for row in kept if row.differs] if title == SETTINGS and several else kept
            kept, foreign = own, len(kept) - len(own)
        if stated:
            shown.append(Section(title, kept, len(stated) - len(kept) - foreign, foreign))
    return shown


def _what(run: Run) -> dict[str, str]:
    return {
        "Workload": str(run.workload),
        "DBMS": run.dbms_version.name,
        "Tested": tested_words(run),
        "Configuration": run.config.name if run.config else "",
        "Machine": run.hardware.name if run.hardware else "",
        "Durability": run.get_durability_display() if run.durability else "",
        "Batch": str(run.batch),
        "Label": run.effective_label,
        "Tags": " ".join(run.effective_tags),
        "Provenance": run.get_provenance_display(),
        "State": run.get_state_display(),
    }


def _settings(run: Run) -> dict[str, str]:
    """As the DBMS says; what it does not report as it was given."""
    rows = setting_rows(run)
    return {row.name: ", ".join(row.given) or "flag" if row.effective is None else row.effective for row in rows}


def _disks(run: Run) -> dict[str, str]:
    return {
        f"{use.get_role_display()}: {mid_sentence(label)}" if label else use.get_role_display(): text
        for use in run.storage.all()
        for label, text in [("", "in memory" if use.in_memory else use.device.name), *device_facts(use.device)]
    }


def _environment(run: Run) -> dict[str, str]:
    conditions = run.statistics.get("conditions") or {}
    return dict(origin(run)) | {label: str(conditions.get(name) or "") for name, label in CONDITIONS.items()}


def _checks(run: Run) -> dict[str, str]:
    """Two means that are alike may be of a rate that holds and of one that falls."""
    return {"What does not hold": "; ".join(quality.warnings(run.checks)) or ("nothing" if run.checks else "")}


def _numbers(runs: Sequence[Run], no_ratios: Mapping[str, str]) -> list[FactRow]:
    """What differs by less than the metric's threshold is alike."""
    measured = [
        {(row.metric.label, row.metric.unit, row.phase): row for row in ordered_measurements(run)} for run in runs
    ]
    keys = list(dict.fromkeys(key for numbers in measured for key in numbers))
    # A metric's label tells its phase, but for those that are measured in several.
    often = Counter(label for label, _unit, _phase in keys)
    labels = {
        key: f"{key[0]}, {key[2].replace('_', '-')}" if often[key[0]] > 1 and key[2] != "run" else key[0]
        for key in keys
    }
    rows = []
    for key, label in labels.items():
        texts = [quantity(numbers[key].value, key[1]) if key in numbers else "" for numbers in measured]
        values = [numbers[key].value for numbers in measured if key in numbers]
        metric = next(numbers[key].metric for numbers in measured if key in numbers)
        changed = percent(values[-1] / values[0] - 1, signed=True) if len(values) > 1 and values[0] > 0 else ""
        if (reason := no_ratios.get(metric.name)) is not None:
            changed = f"no ratio: {reason}" if reason else "no ratio"
        matters = max(values) - min(values) > metric.threshold * abs(min(values))
        rows.append(FactRow(label, texts, changed, matters))
    return rows
