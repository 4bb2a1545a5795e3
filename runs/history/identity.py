"""What stays the same of a benchmark; `runs.run.circumstances` tells what may change within its series.

Names are kept as they were when a run was filed first, so that renaming a configuration or a disk breaks no series.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchagent.catalog import FACTORS, SECONDS_EACH, FactorKind, Role, factor_role
from django.utils.text import slugify

from runs.formatting import mid_sentence
from runs.machines.facts import are_different
from runs.models import Config, HardwareProfile, Machine, Metric, Run, StorageDevice, Workload
from runs.models.base import clean
from runs.models.choices import Visibility
from runs.models.subjects import dbms_name
from runs.run.facets import DATASET, FACTOR, branch_of, data_facets, data_sizes, factor_facets

# Factors that tell runs apart and ask nothing else: another value is an event at most.
_IDLE = frozenset({"seed", "random_seed", "test_no", "filename", "directory", "conn_params"})
_LONGEST = 200
# How the mark of a machine begins that somebody only names.
_SENT = "sent "


def digest(document: Any) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class Identity:
    """The benchmark that a run belongs to. `same` is what stays the same, `config` what its settings are called.

    `owner`: whose, where it is not public. `procedure`: lengths of its measuring, times in seconds, with their words:
    runs are of one series as far as a comparison of them gives a ratio. `is_beside`: the metric stands beside the main
    one of the run.
    """

    same: Mapping[str, Any]
    machine: Machine | None
    branch: str
    visibility: str
    owner: Any
    metric: Metric
    config: str = ""
    names: tuple[str, ...] = field(default=(), compare=False)
    procedure: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    is_beside: bool = False

    def line(self, *, with_config: str = "") -> str:
        """`with_config`: its own where a batch has several that nobody named."""
        document = [self.same, with_config or self.config, self.visibility, str(self.owner or ""), self.metric.pk]
        return digest(document)

    def beside(self, metric: Metric) -> Identity:
        """Of the same runs the one of another metric, which is called by it."""
        return replace(self, metric=metric, names=(*self.names, mid_sentence(metric.label)), is_beside=True)

    @property
    def without_sizes(self) -> Identity:
        """As it was before sizes of data told benchmarks apart."""
        factors = {name: value for name, value in self.same["factors"].items() if not name.startswith(DATASET)}
        return replace(self, same={**self.same, "factors": factors})


def identity_of(run: Run, metric: Metric) -> Identity:
    """The identity of a run as `filing` reads it. Machine, configuration and devices are named if they are not yet."""
    is_public = run.visibility == Visibility.PUBLIC
    machine = machine_of(run.hardware, run.owner_id) if run.hardware else None
    devices = {use.role: _named_device(use.device) for use in run.storage.all()}
    factors = {
        factor.name: str(factor.value)
        for factor in run.factors.all()
        if factor_role(factor.name, factor.role) != Role.PROCEDURE and factor.name not in _IDLE
        and not (factor.name in FACTORS and FACTORS[factor.name].kind == FactorKind.STORAGE and devices)
    }  # fmt: skip
    # As they tell cells apart: another size of the data is another question.
    factors |= {f"{DATASET}{name}": f"{size:.10g}" for name, size in data_sizes(run).items()}
    same = {
        "workload": base_slug(run.workload),
        "dbms": [run.dbms_version.dbms.slug, run.dbms_version.architecture],
        "machine": str(machine.pk) if machine else "",
        "storage": devices, "factors": factors, "context": run.context,
    }  # fmt: skip
    config = _named_config(run.config) if run.config else ""
    owner = None if is_public else run.owner_id
    return Identity(
        same, machine, branch_of(run), run.visibility, owner, metric, config, _names(run, config), _procedure(run)
    )


def _procedure(run: Run) -> dict[str, tuple[float, str]]:
    numbers = {factor.name: factor for factor in run.factors.all() if factor.number is not None}
    return {
        name: ((factor.number or 0.0) * SECONDS_EACH.get(factor.unit, 1.0), facet.text)
        for facet in factor_facets(run)
        if (factor := numbers.get(name := facet.field.removeprefix(FACTOR)))
        and factor_role(name, factor.role) == Role.PROCEDURE
    }


def _names(run: Run, config: str) -> tuple[str, ...]:
    """What a person calls the benchmark: workload, system, what varies, configuration, machine."""
    facets = [
        facet.text for facet in factor_facets(run)
        if factor_role(name := facet.field.removeprefix(FACTOR)) != Role.PROCEDURE and name not in _IDLE
        and len(facet.text) <= _LONGEST // 4 and facet.value
    ]  # fmt: skip
    version = run.dbms_version
    system = " ".join(filter(None, (dbms_name(version.dbms.name, run.durability), version.architecture)))
    sizes = [facet.text for facet in data_facets(run)]
    return tuple(filter(None, (run.workload.name, system, *facets[:6], *sizes, config)))


def base_slug(workload: Workload) -> str:
    """The slug of all versions of a workload: another one is another row, whose slug ends in it."""
    return workload.slug.removesuffix(f"-v{slugify(workload.version.replace('.', '-'))}") or workload.slug


def _named_config(config: Config) -> str:
    """What people call it, as it was when it was filed first. Of a name made of its settings nothing: they are events.

    A revision goes by the name of what it revises.
    """
    if config.filed_as is None:
        first = config.revision_of
        if first is not None and first.filed_as is not None:
            config.filed_as = first.filed_as
        else:
            dbms = config.dbms.name if config.dbms else ""
            config.filed_as = "" if config.is_named_after_settings(dbms) else config.name
        config.save(update_fields=["filed_as"])
    return config.filed_as


def _named_device(device: StorageDevice) -> str:
    """A disk by name, model and medium: a new one in its place is another."""
    if not device.filed_as:
        device.filed_as = " · ".join(filter(None, (device.name, device.model, device.medium.lower())))
        device.save(update_fields=["filed_as"])
    return device.filed_as


def machine_of(profile: HardwareProfile, owner: Any) -> Machine:
    """The machine above a profile. Found by what its agent is called, with its mainboard; of an upload by the id that
    is given, else by its name, who sent it, and its mainboard, else its processor, where another has been sent by this
    name.
    """
    if not profile.filed_as:
        profile.filed_as = clean(_mark_of(profile), 420)
        profile.save(update_fields=["filed_as"])
    is_sent = profile.filed_as.startswith(_SENT)
    return Machine.objects.get_or_create(key=digest([profile.filed_as, str(owner) if is_sent else ""]))[0]


def _mark_of(profile: HardwareProfile) -> str:
    details = profile.details
    if machine_id := details.get("machine_id"):
        return f"id {machine_id}"
    if "hostname" in details:
        # Where nothing tells the mainboard, as in a virtual machine, the processor stands for it.
        name = details.get("agent") or slugify(profile.name)
        return f"agent {name} {profile.motherboard or profile.cpu_model}"
    mark = f"{_SENT}{profile.name.strip().lower()}"
    known = HardwareProfile.objects.filter(filed_as=mark, created_by=profile.created_by_id)
    if not any(are_different(profile, each) for each in known):
        return mark
    return " ".join([mark, profile.motherboard or f"{profile.cpu_model} {profile.cpu_cores or ''}".strip()])
