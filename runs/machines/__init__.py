"""Machines and their storage devices as people keep them: made by hand, edited, merged, compared."""

from __future__ import annotations

from runs.machines.facts import (
    DEVICE_FIELDS,
    MACHINE_FIELDS,
    compare_profiles,
    device_facts,
    names_apart,
    profile_facts,
)
from runs.machines.profiles import (
    CannotMerge,
    add_device,
    create_profile,
    edit_device,
    edit_facts,
    merge,
    unmerge,
    upsert_hardware,
)
from runs.machines.usage import LOOKED_AT, MOST_COUNTED, best_results, listed_profiles, readable_profiles
