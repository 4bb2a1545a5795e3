from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from runs.models.base import NamedModel
from runs.models.choices import Provenance


class HardwareProfile(NamedModel):
    """A machine as far as it is known; null is "not stated", never a guess."""

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
    details = models.JSONField(default=dict, blank=True)
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
    details = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["hardware", "name"]
        constraints = [models.UniqueConstraint(fields=["hardware", "name"], name="storage_name_per_hardware")]

    @property
    def medium_label(self) -> str:
        """HDD, SSD, NVMe as they are written; any other word as it is."""
        return {"hdd": "HDD", "ssd": "SSD", "nvme": "NVMe"}.get(self.medium.lower(), self.medium)
