"""Rows that the documents of one request name: fetched once, looked up in memory, added to as they are made."""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from benchagent.catalog import DBMSS
from django.db.models import Model, Q, QuerySet
from django.utils.text import slugify

from runs.access.visibility import nameable
from runs.dbms.versions import make_version, matching_version
from runs.models import Config, Dbms, DbmsVersion, HardwareProfile, Metric, Run, StorageDevice, User, Workload
from runs.results.document import UploadDbms, UploadDocument
from runs.results.names import make_metric

M = TypeVar("M", bound=Model)


class Known:
    """One request's names. Call it in the transaction that stores the documents; a later one needs a new one."""

    def __init__(self, documents: Sequence[UploadDocument], owner: User | None) -> None:
        """`owner` finds by slug what they may see: a machine that only others' private runs use is not there."""
        self._documents, self._owner = documents, owner
        self._dbmss = _by_names(Dbms.objects.all())
        self._versions = self._fetch_versions()
        self.workloads = list(Workload.objects.filter(slug__in=self._workload_slugs()))
        self._metrics = {(row.name, row.unit): row for row in Metric.objects.filter(name__in=self._metric_names())}
        self._hardware = self._fetch_hardware()
        self._devices: dict[uuid.UUID, list[StorageDevice]] = {}
        self.configs: dict[Hashable, Config] = {}
        self.taken = self._fetch_taken()

    def find_dbms(self, data: UploadDbms) -> Dbms | None:
        """By slug, name or alias, whatever the case."""
        return self._dbmss.get(str(data.slug or data.name).casefold())

    def dbms(self, data: UploadDbms) -> Dbms:
        """Found, or made: with the catalogue's slug and vendor where it has one of the name."""
        found = self.find_dbms(data)
        if found is not None:
            return found
        wanted = str(data.slug or data.name).casefold()
        for entry in DBMSS.values():
            if wanted in (entry.slug.casefold(), entry.name.casefold()):
                made = Dbms.objects.create(slug=entry.slug, name=entry.name, vendor=entry.vendor)
                break
        else:
            made = Dbms.objects.create(slug=Dbms.free_slug(data.slug or data.name), name=data.name)
        self._dbmss |= _by_names([made])
        return made

    def version(self, data: UploadDbms) -> DbmsVersion:
        """By its number or another name of it; made on first use."""
        dbms = self.dbms(data)
        rows = self._versions.setdefault(dbms.id, [])
        found = matching_version(rows, data.version, data.architecture)
        if found is None:
            found = make_version(dbms, data.version, data.architecture)
            rows.append(found)
        return found

    def metric(self, name: str, unit: str, better: str | None) -> Metric:
        """By name and unit; who names one first sets its direction."""
        key = (name, unit)
        found = self._metrics.get(key)
        if found is None:
            found = self._metrics[key] = make_metric(*key, better)
        return found

    def hardware(self, *, slug: str | None = None, fingerprint: str | None = None) -> HardwareProfile | None:
        """A profile that was merged into another leads there."""
        found = self._hardware.get(slug or fingerprint or "")
        if found is None:
            rows = HardwareProfile.objects.select_related("merged_into")
            if slug:
                found = self._visible(rows.filter(slug=slug)).first()
            elif fingerprint:
                found = rows.filter(fingerprint=fingerprint).first()
            if found is not None:
                self.add_hardware(found)
        return found.merged_into or found if found is not None else None

    def add_hardware(self, profile: HardwareProfile) -> None:
        self._hardware |= {profile.slug: profile} | ({profile.fingerprint: profile} if profile.fingerprint else {})

    def devices(self, profile: HardwareProfile) -> list[StorageDevice]:
        """The devices of a machine; append what is made."""
        if profile.id not in self._devices:
            self._devices[profile.id] = list(profile.storage.all())
        return self._devices[profile.id]

    def _fetch_taken(self) -> set[uuid.UUID]:
        """Ids that other documents' runs have. A document that was stored a moment ago is noticed by its own id."""
        wanted = [one for document in self._documents for one in run_ids(document)]
        others = Run.objects.filter(id__in=wanted).exclude(upload__in=[one.id for one in self._documents])
        return set(others.values_list("id", flat=True))

    def _fetch_versions(self) -> dict[uuid.UUID, list[DbmsVersion]]:
        wanted = {document.dbms.version for document in self._documents}
        found: dict[uuid.UUID, list[DbmsVersion]] = {}
        rows = DbmsVersion.objects.filter(Q(version__in=wanted) | ~Q(aliases=[]))
        for row in rows.select_related("dbms"):
            found.setdefault(row.dbms_id, []).append(row)
        return found

    def _workload_slugs(self) -> set[str]:
        workloads = [document.workload for document in self._documents]
        given = {one if isinstance(one, str) else one.slug for one in workloads}
        return given | {versioned_slug(one.slug, one.version) for one in workloads if not isinstance(one, str)}

    def _metric_names(self) -> set[str]:
        repeats = [repeat for document in self._documents for repeat in document.repeats]
        measured = {entry["name"] for repeat in repeats for entry in repeat["metrics"]}
        return measured | {one.name for repeat in repeats for one in repeat["series"]}

    def _fetch_hardware(self) -> dict[str, HardwareProfile]:
        machines = [document.hardware for document in self._documents]
        slugs = {slug for one in machines if (slug := one if isinstance(one, str) else one.slug)}
        if not slugs:
            return {}
        rows = self._visible(HardwareProfile.objects.filter(slug__in=slugs)).select_related("merged_into")
        return {row.slug: row for row in rows}

    def find_config(self, slug: str) -> Config | None:
        if slug not in self.configs:
            found = self._visible(Config.objects.filter(slug=slug)).first()
            if found is None:
                return None
            self.configs[slug] = found
        return self.configs[slug]

    def _visible(self, rows: QuerySet[M]) -> QuerySet[M]:
        return rows if self._owner is None else nameable(rows, self._owner, by_address=True)


def run_ids(document: UploadDocument) -> list[uuid.UUID]:
    """The client's ids, or ones that follow from the document's id."""
    return [
        repeat.get("id") or uuid.uuid5(document.id, str(number)) for number, repeat in enumerate(document.repeats, 1)
    ]


def versioned_slug(slug: str, version: str) -> str:
    return slugify(f"{slug}-v{version.replace('.', '-')}")[:110]


def _by_names(rows: Iterable[Dbms]) -> dict[str, Dbms]:
    return {str(name).casefold(): row for row in rows for name in (*reversed(row.aliases), row.name, row.slug)}
