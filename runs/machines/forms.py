"""Machines and devices by hand: a form each, the same rules as the API's messages."""

from __future__ import annotations

from typing import Any

from django import forms

from runs.machines.facts import DEVICE_FIELDS, DEVICE_LABELS, MACHINE_FIELDS, MACHINE_LABELS, parse_size, size_text
from runs.models import HardwareProfile, StorageDevice


class SizeField(forms.CharField):
    """`16 GB`, `512 GiB`, `1.8 TB` or a number of bytes -> bytes."""

    def to_python(self, value: Any) -> Any:
        text = str(value or "").strip()
        if not text:
            return None
        try:
            return parse_size(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def prepare_value(self, value: Any) -> Any:
        return size_text(value) if isinstance(value, int) else value


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # cannot be subscripted when it runs
    ram_bytes = SizeField(label="RAM", required=False, help_text="16 GiB, 64 GB or bytes")

    class Meta:
        model = HardwareProfile
        fields = list(MACHINE_FIELDS)
        labels = MACHINE_LABELS
        help_texts = {"name": "as people will look for it", "virtualisation": "kvm, VMware, none, …"}
        widgets = {"note": forms.Textarea(attrs={"rows": 3})}


class DeviceForm(forms.ModelForm):  # type: ignore[type-arg]  # cannot be subscripted when it runs
    capacity_bytes = SizeField(label="Capacity", required=False, help_text="480 GB, 1.8 TB or bytes")

    class Meta:
        model = StorageDevice
        fields = list(DEVICE_FIELDS)
        labels = DEVICE_LABELS
        help_texts = {
            "name": "sda, nvme0n1, data array, …",
            "medium": "HDD, SSD, NVMe, …",
            "bus": "SATA, SAS, NVMe, virtio, …",
            "raid": "level, hardware or software",
            "controller_cache": "size; battery or flash backed or not",
            "write_cache": "write back, write through or power-loss protected",
            "emulated": "a loop device, a throttled volume, a cloud disk",
        }
        widgets = {"note": forms.Textarea(attrs={"rows": 2})}
