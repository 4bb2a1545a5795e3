"""What an uploaded result is about: workload, DBMS, machine, configuration; found, or made where it is new."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from benchagent.catalog import DBMSS, WORKLOADS
from django.utils.text import slugify
from rest_framework.exceptions import ValidationError

from runs.choices import Provenance
from runs.ingest.names import Parameter, config_of, resolve_workload, version_of
from runs.models import Config, Dbms, DbmsVersion, HardwareProfile, Workload

_HARDWARE_FACTS = (
    "os", "kernel", "cpu_model", "cpu_cores", "cpu_threads", "ram_bytes", "motherboard", "virtualisation", "note",
)  # fmt: skip


def workload(data: dict[str, Any], *, primary_metric: str) -> Workload:
    """By slug and version; a new version of a known slug is a row of its own."""
    slug = data["slug"]
    if data.get("known"):
        found = Workload.objects.filter(slug=slug).first()
        if found is None and slug in WORKLOADS:
            found = resolve_workload(slug)
        if found is None:
            raise ValidationError({"workload": [f"No workload {slug}. An object with slug, name, version adds one."]})
        return found
    if slug in WORKLOADS and data["version"] == WORKLOADS[slug].version:
        return resolve_workload(slug)
    versioned = slugify(f"{slug}-v{data['version'].replace('.', '-')}")[:110]
    found = Workload.objects.filter(slug__in=[slug, versioned], version=data["version"]).first()
    if found is not None:
        return found
    taken = slug in WORKLOADS or Workload.objects.filter(slug=slug).exists()
    return Workload.objects.create(
        slug=Workload.free_slug(versioned if taken else slug),
        name=data.get("name") or slug,
        version=data["version"],
        kind=data["kind"],
        primary_metric=primary_metric,
    )


def dbms_version(data: dict[str, Any]) -> DbmsVersion:
    return version_of(_dbms(data), data["version"], data["architecture"])


def _dbms(data: dict[str, Any]) -> Dbms:
    """By slug, name or alias, whatever the case; the catalogue's names count. New ones are made."""
    wanted = {data["name"].casefold()}
    if "slug" in data:
        wanted = {data["slug"].casefold()}
    for row in Dbms.objects.all():
        names = {row.slug.casefold(), row.name.casefold(), *(str(alias).casefold() for alias in row.aliases)}
        if wanted & names:
            return row
    for entry in DBMSS.values():
        if wanted & {entry.slug.casefold(), entry.name.casefold()}:
            return Dbms.objects.create(slug=entry.slug, name=entry.name, vendor=entry.vendor)
    return Dbms.objects.create(slug=Dbms.free_slug(data.get("slug") or data["name"]), name=data["name"])


def hardware(data: dict[str, Any]) -> HardwareProfile:
    """By slug, or by all of its facts: an equal description is the same machine. Nothing known is overwritten."""
    slug = data.get("slug")
    found = HardwareProfile.objects.filter(slug=slug).first() if slug else None
    if data.get("known"):
        if found is None:
            raise ValidationError({"hardware": [f"No machine {slug}. An object with its facts adds one."]})
        return found
    facts = {name: data[name] for name in _HARDWARE_FACTS if data.get(name) not in (None, "")}
    if found is not None:
        _refuse_contradiction(found, facts)
        return found
    mark = hashlib.sha256(json.dumps(["upload", slug, data["name"], facts], sort_keys=True).encode()).hexdigest()
    found = HardwareProfile.objects.filter(fingerprint=mark).first()
    if found is not None:
        return found
    return HardwareProfile.objects.create(
        slug=HardwareProfile.free_slug(slug or data["name"]),
        name=data["name"],
        fingerprint=mark,
        provenance=Provenance.UPLOADED,
        **facts,
    )


def _refuse_contradiction(profile: HardwareProfile, facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        known = getattr(profile, name)
        if known not in (None, "", value):
            raise ValidationError({f"hardware.{name}": [f"The machine {profile.slug} has {known}."]})


def config(dbms_slug: str, dbms_name: str, settings: list[dict[str, Any]]) -> Config:
    parameters = [
        Parameter(name=entry["name"], value=entry["value"], section=entry["section"], comment=entry["comment"])
        for entry in settings
    ]
    return config_of(dbms_slug, dbms_name, parameters, provenance=Provenance.UPLOADED)
