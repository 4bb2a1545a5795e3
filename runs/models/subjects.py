"""What runs are about: workloads, DBMSs and their versions, machines and their devices, configurations."""

from __future__ import annotations

from typing import Any

from benchagent.catalog import Durability
from benchagent.configfiles.settings import Given
from django.conf import settings
from django.db import models
from django.utils import timezone

from runs.formatting import version_order
from runs.models.base import NamedModel, UUIDModel
from runs.models.choices import SHORT_DURABILITY, Provenance
from runs.models.shapes import ConfigDetails, WorkloadDetails
from runs.models.stored import StoredJSON


def versioned(name: str, version: str) -> str:
    """A workload's name with its version, except the first."""
    return name if version in ("", "1") else f"{name}, version {version}"


class Workload(NamedModel):
    """What was run. `version` breaks comparability: another version is another row."""

    version = models.CharField(max_length=40, blank=True)
    kind = models.CharField(max_length=60, blank=True)
    summary = models.TextField(blank=True)
    publication = models.ForeignKey(
        "runs.Publication", on_delete=models.SET_NULL, null=True, blank=True, related_name="workloads"
    )
    source_id = models.CharField(max_length=120, blank=True)
    # Name of the metric that charts show first; empty where none is set.
    primary_metric = models.CharField(max_length=80, blank=True)
    details = StoredJSON(shape=WorkloadDetails, default=dict, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return versioned(self.name, self.version)


def dbms_name(name: str, durability: str) -> str:
    """With "in memory" where the database is: next to one on a disk it is another thing."""
    return f"{name}, {SHORT_DURABILITY[Durability.MEMORY]}" if durability == Durability.MEMORY else name


class Dbms(NamedModel):
    vendor = models.CharField(max_length=200, blank=True)
    aliases = StoredJSON(shape=list[str], default=list, blank=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "DBMS"
        verbose_name_plural = "DBMSs"


class DbmsVersion(NamedModel):
    """One version of a DBMS in one architecture (Firebird SuperServer, Classic…)."""

    dbms = models.ForeignKey(Dbms, on_delete=models.PROTECT, related_name="versions")
    version = models.CharField(max_length=120)
    architecture = models.CharField(max_length=60, blank=True)
    # Other names of the same version: CUBRID 2008 R3.0 is 8.3.0.
    aliases = StoredJSON(shape=list[str], default=list, blank=True)
    source_id = models.CharField(max_length=120, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["dbms", "version", "architecture"], name="dbms_version_architecture")
        ]

    @property
    def place(self) -> tuple[str, str]:
        """Its place among the versions of its DBMS."""
        return version_order(self.version), self.name


class Machine(UUIDModel):
    """What stands above profiles: a new kernel, firmware or more memory is another profile of the same machine.

    `key`: hash of what tells it from others (`runs.history.identity.machine_of`).
    """

    key = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return self.key[:12]


class HardwareProfile(NamedModel):
    """A machine as far as it is known; null is "not stated", never a guess."""

    # What tells its machine from others, as it was when a run on it was filed first: it stays, whatever the profile is
    # called later (`runs.history.identity`).
    filed_as = models.CharField(max_length=420, blank=True, editable=False)
    publication = models.ForeignKey(
        "runs.Publication", on_delete=models.SET_NULL, null=True, blank=True, related_name="hardware"
    )
    source_id = models.CharField(max_length=120, blank=True)
    # Same machine, same fingerprint: an agent that registers again finds its profile by it.
    fingerprint = models.CharField(max_length=64, blank=True, db_index=True)
    provenance = models.CharField(max_length=20, choices=Provenance.choices, default=Provenance.UPLOADED)
    os = models.CharField(max_length=200, blank=True)
    kernel = models.CharField(max_length=200, blank=True)
    cpu_model = models.CharField(max_length=200, blank=True)
    cpu_cores = models.PositiveIntegerField(null=True, blank=True)
    cpu_threads = models.PositiveIntegerField(null=True, blank=True)
    ram_bytes = models.BigIntegerField(null=True, blank=True)
    motherboard = models.CharField(max_length=200, blank=True)
    virtualisation = models.CharField(max_length=100, blank=True)
    details = StoredJSON(shape=dict[str, Any], default=dict, blank=True)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # A profile that turned out to be another's machine: its address leads there, its runs have moved.
    merged_into = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="merged")

    class Meta:
        ordering = ["name"]

    def add_device(self, *, name: str, **columns: Any) -> StorageDevice:
        slug = StorageDevice.free_slug(f"{self.slug}-{name}")
        return StorageDevice.objects.create(hardware=self, slug=slug, name=name, **columns)


class StorageDevice(NamedModel):
    hardware = models.ForeignKey(HardwareProfile, on_delete=models.CASCADE, related_name="storage")
    provenance = models.CharField(max_length=20, choices=Provenance.choices, default=Provenance.UPLOADED)
    medium = models.CharField(max_length=60, blank=True)
    model = models.CharField(max_length=200, blank=True)
    bus = models.CharField(max_length=60, blank=True)
    capacity_bytes = models.BigIntegerField(null=True, blank=True)
    raid = models.CharField(max_length=60, blank=True)
    file_system = models.CharField(max_length=60, blank=True)
    mount_point = models.CharField(max_length=500, blank=True)
    mount_options = models.CharField(max_length=500, blank=True)
    scheduler = models.CharField(max_length=60, blank=True)
    controller_cache = models.CharField(max_length=120, blank=True)
    write_cache = models.CharField(max_length=60, blank=True)
    emulated = models.BooleanField(default=False)
    details = StoredJSON(shape=dict[str, Any], default=dict, blank=True)
    note = models.TextField(blank=True)
    # What it was called when a run on it was filed first: it stays when it is renamed (`runs.history.identity`).
    filed_as = models.CharField(max_length=420, blank=True, editable=False)

    class Meta:
        ordering = ["hardware", "name"]
        constraints = [models.UniqueConstraint(fields=["hardware", "name"], name="storage_name_per_hardware")]

    @property
    def medium_label(self) -> str:
        """HDD, SSD, NVMe as they are written; any other word as it is."""
        return {"hdd": "HDD", "ssd": "SSD", "nvme": "NVMe"}.get(self.medium.lower(), self.medium)

    @property
    def short_name(self) -> str:
        """For a legend. An agent names an emulated disk with its limits: "slow (emulated: write 60 MB/s, 120 IOPS)"."""
        name, mark, _ = self.name.partition(" (emulated")
        return f"{name}{mark})" if mark else name


class Config(NamedModel):
    """A DBMS configuration as given: its parameters in order, duplicates and flags kept.

    Immutable once a run has used it: an edit makes the next revision.
    """

    # SHA-256 of DBMS slug and parameters: equal configurations of scheduled runs are one row.
    digest = models.CharField(max_length=64, blank=True, db_index=True)
    publication = models.ForeignKey(
        "runs.Publication", on_delete=models.SET_NULL, null=True, blank=True, related_name="configs"
    )
    source_id = models.CharField(max_length=120, blank=True)
    dbms = models.ForeignKey("runs.Dbms", on_delete=models.PROTECT, null=True, blank=True, related_name="configs")
    revision = models.PositiveIntegerField(default=1)
    revision_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="later_revisions"
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    applies_to = models.ManyToManyField("runs.DbmsVersion", blank=True, related_name="configs")
    file_name = models.CharField(max_length=200, blank=True)
    details = StoredJSON(shape=ConfigDetails, default=dict, blank=True)
    note = models.TextField(blank=True)
    # The same of configurations; null until a run with it is filed, empty of a name that was made of its settings.
    filed_as = models.CharField(max_length=200, null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name"]

    def is_named_after_settings(self, dbms: str) -> bool:
        """Whether nobody named it: `dbms` is the name of its DBMS."""
        return bool(self.digest) and self.name.startswith((f"{dbms}: ", f"{dbms}, standard"))

    @property
    def given(self) -> list[Given]:
        """Its parameters in their order, as settings are read."""
        return [Given(row.name, row.value, row.section) for row in self.parameters.all()]


class ConfigFile(models.Model):
    """One file of a configuration, byte for byte as given but for its secrets."""

    config = models.ForeignKey(Config, on_delete=models.CASCADE, related_name="files")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    # A name of `benchagent.configfiles`; empty where the format is not known.
    format = models.CharField(max_length=40, blank=True)
    text = models.TextField()

    class Meta:
        ordering = ["config", "position"]
        constraints = [models.UniqueConstraint(fields=["config", "position"], name="config_file_position")]

    def __str__(self) -> str:
        return self.name


class ConfigParameter(models.Model):
    config = models.ForeignKey(Config, on_delete=models.CASCADE, related_name="parameters")
    file = models.ForeignKey(ConfigFile, on_delete=models.CASCADE, null=True, blank=True, related_name="parameters")
    line = models.PositiveIntegerField(null=True, blank=True)
    position = models.PositiveIntegerField()
    section = models.CharField(max_length=120, blank=True)
    name = models.CharField(max_length=200)
    # Null is a flag: a name that stands alone.
    value = models.TextField(null=True, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    comment = models.TextField(blank=True)
    provenance = models.CharField(max_length=20, choices=Provenance.choices, default=Provenance.MEASURED)

    class Meta:
        ordering = ["config", "position"]
        constraints = [models.UniqueConstraint(fields=["config", "position"], name="config_position")]

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name} = {self.value}"
