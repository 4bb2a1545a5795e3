"""What uploaded results are about: workload, DBMS, machine, storage, configuration, metrics; found, or made where new.

The names of all documents of a request are fetched once, looked up in memory and added to as rows are made.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from benchagent.catalog import DBMSS, METRICS, THROUGHPUTS, WORKLOADS, DbmsEntry
from django.db.models import Model, Q, QuerySet
from django.utils import timezone
from django.utils.text import slugify
from rest_framework.exceptions import ValidationError

from runs.access.rules import default_visibility, nameable
from runs.configs import Content, FileText, Parameter, config_of, create_config, understand
from runs.dbms import make_version, matching_version
from runs.machines import DEVICE_FIELDS, MACHINE_FIELDS
from runs.models import Config, Dbms, DbmsVersion, HardwareProfile, Metric, Run, StorageDevice, User, Workload
from runs.models.choices import Better, Provenance, Visibility
from runs.results.document import (
    UploadConfigFiles,
    UploadDbms,
    UploadDevice,
    UploadDocument,
    UploadHardware,
    UploadSetting,
    UploadWorkload,
)
from runs.results.names import catalogue_slugs, make_metric, of_other_direction, resolve_workload

MAX_VERSIONS_A_DAY = 1_000

M = TypeVar("M", bound=Model)
Errors = dict[str, list[str]]


@dataclass(frozen=True)
class Subjects:
    """`storage` is role -> (device, path)."""

    workload: Workload
    dbms_version: DbmsVersion
    hardware: HardwareProfile
    config: Config | None
    storage: dict[str, tuple[StorageDevice, str]]


class Resolver:
    """Resolves the names of one request. Make it in the transaction that stores the documents, a new one for each."""

    def __init__(self, documents: Sequence[UploadDocument], owner: User | None) -> None:
        """`owner` finds by slug what they may see: a machine that only others' private runs use is not there."""
        self._owner = owner
        self._dbmss: dict[str, list[Dbms]] = {}
        dbmss = {row.pk: row for row in Dbms.objects.all()}
        for row in dbmss.values():
            self._add_dbms(row)
        # That a person has sent within a day, with those of this request; None where nobody has asked yet.
        self._versions_today: int | None = None
        self._nameable: dict[uuid.UUID, bool] = {}
        self._versions: dict[uuid.UUID, list[DbmsVersion]] = {}
        # Rows of an older program may be called v16.4.
        numbers = {f"{v}{document.dbms.version}" for document in documents for v in ("", "v", "V")}
        for version in DbmsVersion.objects.filter(Q(version__in=numbers) | ~Q(aliases=[])):
            version.dbms = dbmss[version.dbms_id]
            self._versions.setdefault(version.dbms_id, []).append(version)
        workloads: set[str] = set()
        for given in (document.workload for document in documents):
            workloads |= {given} if isinstance(given, str) else {given.slug, versioned_slug(given.slug, given.version)}
        self._workloads = {row.slug: row for row in Workload.objects.filter(slug__in=workloads)}
        repeats = [repeat for document in documents for repeat in document.repeats]
        metrics = {entry["name"] for repeat in repeats for entry in repeat["metrics"]}
        metrics |= {given.name for repeat in repeats for given in repeat["series"]}
        self._metrics = {(row.name, row.unit): row for row in Metric.objects.filter(name__in=metrics)}
        machines = [document.hardware for document in documents]
        slugs = {slug for given in machines if (slug := given if isinstance(given, str) else given.slug)}
        self._hardware: dict[str, HardwareProfile] = {}
        if slugs:
            self._hardware = {row.slug: row for row in self._visible(HardwareProfile.objects.filter(slug__in=slugs))}
        # That the machine of the document at hand is none that is known: its fingerprint.
        self._new_machine = ""
        self._devices: dict[uuid.UUID, list[StorageDevice]] = {}
        self._configs: dict[Hashable, Config | None] = {}
        # Ids that other documents' runs have. A document that was stored a moment ago is noticed by its own id.
        others = Run.objects.filter(id__in=[repeat["id"] for repeat in repeats])
        others = others.exclude(upload__in=[document.id for document in documents])
        self._taken = set(others.values_list("id", flat=True))

    def subjects_of(self, document: UploadDocument) -> Subjects:
        """The rows of a document; new ones are made.

        Raises ValidationError, naming the field, for a document that contradicts what is stored: before anything is
        made, so that a document that is refused leaves nothing behind, however many others are stored.
        """
        errors: Errors = {}
        self._new_machine = ""
        workload = document.workload
        if isinstance(workload, str) and workload not in WORKLOADS and self._find_workload(workload) is None:
            errors["workload"] = [f"No workload {workload}. An object with slug, name, version adds one."]
        for index, repeat in enumerate(document.repeats):
            if repeat["id"] in self._taken:
                errors[f"repeats[{index}].id"] = ["Another run has this id."]
        errors |= self._hardware_errors(document)
        given = document.config
        if isinstance(given, str) and self._find_config(given) is None:
            errors["config"] = [f"No configuration {given}. A list of settings, or files, add one."]
        elif isinstance(given, UploadConfigFiles):
            dbms = self._find_dbms(document.dbms) or _catalogue_entry(document.dbms)
            understood = understand(_file_texts(given), dbms.slug if dbms else "")
            errors |= {f"config.{path}": messages for path, messages in understood.errors.items()}
        if not errors and (why := self._too_many_versions(document.dbms)):
            errors["dbms.version"] = [why]
        if errors:
            raise ValidationError(errors)
        # A slug that its sender chose stays as it was chosen.
        is_hidden = (document.visibility or default_visibility()) != Visibility.PUBLIC
        version = self._version(document.dbms, is_hidden=is_hidden)
        machine = self._machine(document.hardware, is_hidden=is_hidden)
        subjects = Subjects(
            workload=self._workload(document),
            dbms_version=version,
            hardware=machine,
            config=self._config(given, version),
            storage={use.role: (self._device(use.device, machine), use.path) for use in document.storage},
        )
        self._taken |= {repeat["id"] for repeat in document.repeats}
        return subjects

    def metric(self, name: str, unit: str, better: str | None) -> Metric:
        """The metric of this name and unit; who names it first sets its direction. The other direction is another
        metric.
        """
        key = (name, unit)
        if key not in self._metrics:
            self._metrics[key] = make_metric(*key, better)
        other = of_other_direction(self._metrics[key], better)
        return self.metric(other, unit, better) if other else self._metrics[key]

    def _version(self, data: UploadDbms, *, is_hidden: bool) -> DbmsVersion:
        """The version by its number or another name of it. A new DBMS has the slug and vendor of the catalogue, if it
        is there.
        """
        dbms = self._find_dbms(data)
        if dbms is None:
            if (entry := _catalogue_entry(data)) is None:
                free = Dbms.free_slug(data.slug or data.name, is_hidden=is_hidden and not data.slug)
                dbms = Dbms.objects.create(slug=free, name=data.name)
            else:
                dbms = Dbms.objects.create(slug=entry.slug, name=entry.name, vendor=entry.vendor)
            self._add_dbms(dbms)
        rows = self._versions.setdefault(dbms.id, [])
        version = _known_version(rows, data)
        if version is None:
            version = make_version(dbms, data.version, data.architecture)
            rows.append(version)
        return version

    def _too_many_versions(self, data: UploadDbms) -> str:
        """Why a version that is new here is not taken; empty where it is. Versions stand in every reader's lists."""
        dbms = self._find_dbms(data)
        rows = self._versions.get(dbms.id, []) if dbms else []
        if self._owner is None or _known_version(rows, data):
            return ""
        if self._versions_today is None:
            since = timezone.now() - timedelta(days=1)
            theirs = Run.objects.filter(owner=self._owner, created_at__gt=since, upload__isnull=False)
            self._versions_today = theirs.values("dbms_version").distinct().count()
        self._versions_today += 1
        if self._versions_today <= MAX_VERSIONS_A_DAY:
            return ""
        return f"You have sent results of {MAX_VERSIONS_A_DAY:,} versions within a day. Send new ones tomorrow."

    def _add_dbms(self, row: Dbms) -> None:
        for name in {str(name).casefold() for name in (*row.aliases, row.name, row.slug)}:
            self._dbmss.setdefault(name, []).append(row)

    def _find_dbms(self, data: UploadDbms) -> Dbms | None:
        """The DBMS by any of its names: the catalogue's, one that its owner may see, or one that says no more than
        `data`.
        """
        given = (slugify(data.slug or data.name), data.name)
        wanted = str(data.slug or data.name).casefold()
        # Its own name and address come before an alias of another.
        rows = self._dbmss.get(wanted, [])
        rows = sorted(rows, key=lambda row: wanted not in (row.slug.casefold(), row.name.casefold()))
        usable = (row for row in rows if row.slug in DBMSS or (row.slug, row.name) == given or self._may_name(row))
        if (row := next(usable, None)) is not None or not rows:
            return row
        # The slug is taken by one that is hidden: theirs has another, and its name.
        return next((row for row in self._dbmss.get(data.name.casefold(), ()) if self._may_name(row)), None)

    def _find_workload(self, slug: str) -> Workload | None:
        """The catalogue's, or one that its owner may see."""
        row = self._workloads.get(slug)
        return row if row and (slug in catalogue_slugs() or self._may_name(row)) else None

    def _may_name(self, row: Dbms | Workload) -> bool:
        """Not one that only runs use which the owner may not see: whoever guesses its slug learns nothing of it."""
        if row.pk not in self._nameable:
            self._nameable[row.pk] = self._visible(type(row)._default_manager.filter(pk=row.pk)).exists()
        return self._nameable[row.pk]

    def _workload(self, document: UploadDocument) -> Workload:
        """The workload by slug and version; a new version of a known slug is a row of its own."""
        data = document.workload
        if isinstance(data, str):
            row = self._find_workload(data) or resolve_workload(data)
        else:
            rows = (self._workloads.get(slug) for slug in (data.slug, versioned_slug(data.slug, data.version)))
            alike = (row for row in rows if row is not None and row.version == data.version)
            names = (data.name or data.slug, data.kind)
            usable = (row for row in alike if (row.name, row.kind) == names or self._find_workload(row.slug))
            row = next(usable, None) or self._of_any_version(data) or self._new_workload(data, document)
        self._workloads[row.slug] = row
        # The first runs of this workload ended without a number, or with one of which neither side is better.
        metric = _headline(document)
        if (
            row.publication_id is None
            and metric not in ("", row.primary_metric)
            and (
                not row.primary_metric
                or (row.slug not in WORKLOADS and metric in METRICS and _ranks_nothing(row.primary_metric))
            )
        ):
            row.change(primary_metric=metric)
        return row

    def _of_any_version(self, data: UploadWorkload) -> Workload | None:
        """Who says no version means the one that is there."""
        return None if "version" in data.model_fields_set else self._find_workload(data.slug)

    def _new_workload(self, data: UploadWorkload, document: UploadDocument) -> Workload:
        slug = data.slug
        if slug in WORKLOADS and data.version == WORKLOADS[slug].version:
            return resolve_workload(slug)
        if slug in WORKLOADS or slug in self._workloads:
            slug = versioned_slug(slug, data.version)
        return Workload.objects.create(
            slug=Workload.free_slug(slug), name=data.name or data.slug, version=data.version, kind=data.kind,
            primary_metric=_headline(document),
        )  # fmt: skip

    def _find_machine(self, data: str | UploadHardware) -> HardwareProfile | None:
        """The machine by slug, or by its description: an equal one is the same, and so is the only one of the sender's
        of this name that no stated fact contradicts. A merged one leads on.
        """
        slug = data if isinstance(data, str) else data.slug
        rows = HardwareProfile.objects.all()
        row = self._hardware.get(slug) if slug else None
        if row is None and slug:
            row = self._visible(rows.filter(slug=slug)).first()
        if row is None and not isinstance(data, str):
            mark = _fingerprint(data)
            row = self._hardware.get(mark)
            if row is None and mark == self._new_machine:
                return None
            described = rows.filter(fingerprint=mark)
            row = row or described.filter(created_by=self._owner).first()
            # Whether others' runs show it is asked where it is somebody else's only: that costs four queries in one.
            row = row or self._visible(described).first() or self._uncontradicted(data)
            if row is None:
                self._new_machine = mark
            else:
                self._hardware[mark] = row
        if row is None:
            return None
        self._hardware |= {row.slug: row, row.fingerprint: row}
        return row.merged_into or row

    def _uncontradicted(self, data: UploadHardware) -> HardwareProfile | None:
        if data.slug:
            return None
        own = HardwareProfile.objects.filter(
            name=data.name, created_by=self._owner, provenance=Provenance.UPLOADED
        ).select_related("merged_into")
        fitting = [row for row in {row.merged_into or row for row in own} if self._fits(data, row)]
        return fitting[0] if len(fitting) == 1 else None

    def _fits(self, data: UploadHardware, machine: HardwareProfile) -> bool:
        """Whether nothing that is stated of the machine and its devices contradicts what is known."""
        devices = ((_find_device(given.name, self._devices_of(machine)), given) for given in data.storage)
        pairs: list[tuple[Any, UploadHardware | UploadDevice]] = [(machine, data), *devices]
        is_other = data.machine_id not in ("", machine.details.get("machine_id", ""))
        return not is_other and not any(_contradictions("", "", row, _facts(given)) for row, given in pairs if row)

    def _machine(self, data: str | UploadHardware, *, is_hidden: bool) -> HardwareProfile:
        """Made where it is new; nothing known is overwritten, and gaps in what is known of the sender's are filled."""
        row = self._find_machine(data)
        if isinstance(data, str):
            if row is None:
                raise LookupError(f"no machine {data}: `_hardware_errors` has refused it")
            return row
        if row is None:
            row = HardwareProfile.objects.create(
                slug=HardwareProfile.free_slug(data.slug or data.name, is_hidden=is_hidden and not data.slug),
                name=data.name,
                fingerprint=_fingerprint(data),
                provenance=Provenance.UPLOADED,
                created_by=self._owner,
                details={"machine_id": data.machine_id} if data.machine_id else {},
                **_facts(data),
            )
            self._hardware |= {row.slug: row, row.fingerprint: row}
        elif self._owner and row.created_by_id == self._owner.pk and row.provenance == Provenance.UPLOADED:
            row.change(**{name: value for name, value in _facts(data).items() if getattr(row, name) in (None, "")})
        for device in data.storage:
            self._device(device, row)
        return row

    def _devices_of(self, machine: HardwareProfile) -> list[StorageDevice]:
        """Append what is made."""
        if machine.id not in self._devices:
            self._devices[machine.id] = list(machine.storage.all())
        return self._devices[machine.id]

    def _device(self, given: str | UploadDevice, machine: HardwareProfile) -> StorageDevice:
        """A device of the machine by name or slug, made where it is new; gaps in what is known of it are filled."""
        rows = self._devices_of(machine)
        name, facts = (given, {}) if isinstance(given, str) else (given.name, _facts(given))
        row = _find_device(name, rows)
        if row is None:
            row = machine.add_device(name=name, provenance=Provenance.UPLOADED, **facts)
            rows.append(row)
        row.change(**facts)
        return row

    def _hardware_errors(self, document: UploadDocument) -> Errors:
        """Facts may not contradict what is known; devices that are only named must be the machine's."""
        data = document.hardware
        machine: HardwareProfile | None = None
        given: list[tuple[str, str | UploadDevice]] = []
        if isinstance(data, str):
            machine = self._find_machine(data)
            if machine is None:
                return {"hardware": [f"No machine {data}. An object with its facts adds one."]}
        else:
            machine = self._find_machine(data.slug) if data.slug else None
            if machine and (
                errors := _contradictions("hardware", f"The machine {machine.slug}", machine, _facts(data))
            ):
                return errors
            given = [(f"hardware.storage[{index}]", device) for index, device in enumerate(data.storage)]
        given += [(f"storage[{index}].device", use.device) for index, use in enumerate(document.storage)]
        if not given:
            return {}
        machine = machine or self._find_machine(data)
        rows = self._devices_of(machine) if machine else []
        named = {device.name: device for _, device in reversed(given) if not isinstance(device, str)}
        errors = {}
        for path, device in given:
            row = _find_device(device if isinstance(device, str) else device.name, rows)
            if isinstance(device, str):
                if row is None and device not in named:
                    errors[path] = [f"This machine has no device {device}. An object with its facts adds one."]
            elif row is not None:
                errors |= _contradictions(path, f"The device {row.slug}", row, _facts(device))
            elif named[device.name] != device:
                errors[path] = [f"{device.name} is described twice, differently."]
        return errors

    def _find_config(self, slug: str) -> Config | None:
        if slug not in self._configs:
            self._configs[slug] = self._visible(Config.objects.filter(slug=slug)).first()
        return self._configs[slug]

    def _config(
        self, given: list[UploadSetting] | UploadConfigFiles | str | None, version: DbmsVersion
    ) -> Config | None:
        """Equal configurations of one DBMS are one row, looked up once a request."""
        if not given:
            return None
        if isinstance(given, str):
            return self._find_config(given)
        files: list[FileText] = []
        parameters: list[Parameter] = []
        if isinstance(given, UploadConfigFiles):
            files = _file_texts(given)
        else:
            parameters = [
                Parameter(row["name"], row["value"], row.get("section", ""), row.get("comment", "")) for row in given
            ]
        dbms = version.dbms
        mark = (dbms.slug, *files, *parameters)
        if mark not in self._configs:
            self._configs[mark] = (
                create_config(Content(files=files, dbms=dbms.slug), by=self._owner, dbms=dbms)
                if files
                else config_of(dbms.slug, dbms.name, parameters, provenance=Provenance.UPLOADED, by=self._owner)[0]
            )
        return self._configs[mark]

    def _visible(self, rows: QuerySet[M]) -> QuerySet[M]:
        return rows if self._owner is None else nameable(rows, self._owner, by_address=True)


def _catalogue_entry(data: UploadDbms) -> DbmsEntry | None:
    wanted = str(data.slug or data.name).casefold()
    named = (entry for entry in DBMSS.values() if wanted in (entry.slug.casefold(), entry.name.casefold()))
    return next(named, None)


def _known_version(rows: Sequence[DbmsVersion], data: UploadDbms) -> DbmsVersion | None:
    found = (matching_version(rows, f"{v}{data.version}", data.architecture) for v in ("", "v", "V"))
    return next(filter(None, found), None)


def versioned_slug(slug: str, version: str) -> str:
    return slugify(f"{slug}-v{version.replace('.', '-')}")[:110]


def _facts(data: UploadHardware | UploadDevice) -> dict[str, Any]:
    """What is stated of it, but for its name."""
    names = MACHINE_FIELDS if isinstance(data, UploadHardware) else DEVICE_FIELDS
    return {name: value for name in names if name != "name" and (value := getattr(data, name)) not in (None, "")}


def _fingerprint(data: UploadHardware) -> str:
    document = ["upload", data.slug, data.name, _facts(data), *filter(None, [data.machine_id])]
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _find_device(name: str, rows: list[StorageDevice]) -> StorageDevice | None:
    return next((row for row in rows if name in (row.slug, row.name)), None)


def _contradictions(path: str, who: str, row: Any, facts: dict[str, Any]) -> Errors:
    """What is stored is not overwritten. A device's `emulated` is false where nobody said it."""
    return {
        f"{path}.{name}": [f"{who} has {getattr(row, name)}."]
        for name, value in facts.items()
        if getattr(row, name) not in (None, "", False, value)
    }


def _file_texts(given: UploadConfigFiles) -> list[FileText]:
    return [FileText(file.name, file.text, file.format or "") for file in given.files]


def _ranks_nothing(name: str) -> bool:
    sides = {*Metric.objects.filter(name=name).values_list("better", flat=True)}
    return sides == {Better.NONE}


def _headline(document: UploadDocument) -> str:
    """Name of the metric that charts of a new workload show first: TPS, else a throughput, else what the document names
    first.
    """
    names: list[str] = []
    for repeat in document.repeats:
        names += [*(entry["name"] for entry in repeat["metrics"]), *(given.name for given in repeat["series"])]
    return min(names, key=lambda name: (name != "tps", name not in THROUGHPUTS), default="")[:80]
