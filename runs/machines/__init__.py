"""Machines and their storage devices as people keep them: made by hand, edited, merged, compared."""

from __future__ import annotations

from runs.machines.differences import DeviceRow, FactRow, compare_profiles, device_facts, profile_facts
from runs.machines.editing import add_device, create_profile, edit_device, edit_facts
from runs.machines.facts import DEVICE_FIELDS, MACHINE_FIELDS
from runs.machines.merging import CannotMerge, merge, unmerge
from runs.machines.reported import device_named, upsert_hardware
from runs.machines.usage import BestResult, best_results, listed_profiles, readable_profiles
