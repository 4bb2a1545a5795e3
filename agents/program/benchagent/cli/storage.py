"""`benchagent storage`: the named storages of this machine."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchagent.arguments import above_zero
from benchagent.cli.commands import Actions, print_line
from benchagent.machine.devices import device_of
from benchagent.machine.emulation import MEGABYTE, Emulation
from benchagent.machine.fingerprint import SYNC_RATES, TRIES, SyncRates
from benchagent.machine.storages import Storage, StorageError, Storages
from benchagent.paths import AgentDirs
from benchagent.protocol import NamedStorageFacts


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    words = "name the storages of this machine, or emulate one"
    actions = Actions(commands, common, "storage", _list, words)
    actions.add("list", _list, "list them with their devices (the default action)")

    add = actions.add("add", _add, "give a folder on some device a name", "name")
    add.add_argument("folder", type=Path, metavar="DIR")

    actions.add("remove", _remove, "forget a storage; that of an emulated one is deleted", "name")

    actions.add("measure", _measure, "its synchronous writes a second, measured again", "name")

    emulate = actions.add("emulate", _emulate, "make a slow disk out of a file (root only)", "name")
    emulate.add_argument("--file", type=Path, required=True, metavar="FILE", help="is made, and must not exist yet")
    emulate.add_argument("--size-mb", type=above_zero, required=True, metavar="N", help="size of the disk")
    for what in ("read", "write"):
        emulate.add_argument(
            f"--{what}-mb-per-s", type=above_zero, metavar="X", help=f"most that can be {what} a second"
        )
        emulate.add_argument(f"--{what}-iops", type=above_zero, metavar="N", help=f"most {what} operations a second")


def _list(_options: argparse.Namespace, dirs: AgentDirs) -> None:
    storages = Storages(dirs)
    for storage, facts in zip(storages.listed(), storages.facts(), strict=True):
        print(_line(storage, facts))


def _add(options: argparse.Namespace, dirs: AgentDirs) -> None:
    storages = Storages(dirs)
    storage = storages.add(options.name, options.folder)
    print(_line(storage, next(facts for facts in storages.facts() if facts["name"] == storage.name)))


def _remove(options: argparse.Namespace, dirs: AgentDirs) -> None:
    storages = Storages(dirs)
    words = storages.remove(options.name)
    print("; ".join(part for part in (f"storage {options.name} removed", words) if part))


def _measure(options: argparse.Namespace, dirs: AgentDirs) -> None:
    """What was measured in the last day counts as well: other load only ever makes a disk look slower."""
    storages = Storages(dirs)
    storage = storages.get(options.name)
    if problem := storages.problem(storage):
        raise StorageError(problem)
    if storage.emulation:
        raise StorageError("an emulated disk is measured by each run, within its limits")
    rates = SyncRates(dirs.root / SYNC_RATES)
    for _ in range(TRIES):
        rate = rates.again(device_of(storage.path), storage.path)
        print_line(f"{storage.name}: {rate.fdatasync_per_s:,.0f} syncs a second, {rate.words}")


def _emulate(options: argparse.Namespace, dirs: AgentDirs) -> None:
    storages = Storages(dirs)
    made = Emulation(
        file=options.file.absolute(),
        size_bytes=options.size_mb * MEGABYTE,
        read_mb_per_s=options.read_mb_per_s,
        write_mb_per_s=options.write_mb_per_s,
        read_iops=options.read_iops,
        write_iops=options.write_iops,
    )
    storages.emulate(options.name, made)
    print(f"storage {options.name} made ({made.words}); it is there while the agent runs")


def _line(storage: Storage, facts: NamedStorageFacts) -> str:
    device = device_of(storage.path) if facts["device"] else ""
    words = [facts["name"], str(storage.path), device, facts["medium"] or "", facts["model"] or ""]
    if facts["emulated"]:
        words.append(f"{facts['emulated']}, {storage.emulation.file}" if storage.emulation else "")
    if facts["free_bytes"] is not None and facts["capacity_bytes"] is not None:
        words.append(f"{facts['free_bytes'] / 1e9:.1f} of {facts['capacity_bytes'] / 1e9:.1f} GB free")
    if facts["problem"]:
        words.append(f"not available: {facts['problem']}")
    return "  ".join(word for word in words if word)
