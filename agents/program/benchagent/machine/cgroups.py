"""Control groups of Linux, version 1 and 2: groups of our own for memory, and limits on a block device.

Version 1 has a tree of groups for each controller; a group of ours is made below the agent's own. Version 2 has one
tree, in which a group with processes cannot hand controllers on: a group of ours stands beside the agent's own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchagent.machine.devices import Mount, mounts, text_of

PREFIX = "benchagent-"
MEMBERSHIP = Path("/proc/self/cgroup")
# How version 2 names what version 1 calls blkio.
V2_NAMES = {"memory": "memory", "blkio": "io"}
REMOVE_WAIT_S = 5.0


class CgroupError(Exception):
    """Not possible on this machine; the text says what is missing."""


@dataclass(frozen=True)
class Hierarchy:
    """Where a controller is: `root` is the topmost group that can be seen, `own` the agent's."""

    controller: str
    version: int
    root: Path
    own: Path

    @property
    def parent(self) -> Path:
        """Where a group of ours can be made."""
        return self.own if self.version == 1 or self.own == self.root else self.own.parent


@dataclass(frozen=True)
class Throttle:
    """Limits on one block device, given as "major:minor"; None is no limit."""

    device_number: str
    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None
    read_iops: int | None = None
    write_iops: int | None = None

    def v1_files(self) -> dict[str, int | None]:
        return {
            "blkio.throttle.read_bps_device": self.read_bytes_per_s,
            "blkio.throttle.write_bps_device": self.write_bytes_per_s,
            "blkio.throttle.read_iops_device": self.read_iops,
            "blkio.throttle.write_iops_device": self.write_iops,
        }

    @property
    def lifted(self) -> Throttle:
        """The same device without limits."""
        return Throttle(self.device_number, 0, 0, 0, 0)

    def v2_line(self) -> str:
        limits = (self.read_bytes_per_s, self.write_bytes_per_s, self.read_iops, self.write_iops)
        words = (
            f"{key}={value or 'max'}" for key, value in zip(("rbps", "wbps", "riops", "wiops"), limits, strict=True)
        )
        return f"{self.device_number} {' '.join(words)}"


def set_rates(where: Hierarchy, group: Path, throttle: Throttle) -> None:
    """For all that is in the group. Raises `OSError`."""
    if where.version == 2:
        (group / "io.max").write_text(throttle.v2_line())
        return
    for name, value in throttle.v1_files().items():
        if value is not None:
            (group / name).write_text(f"{throttle.device_number} {value}")


def hierarchy(controller: str) -> Hierarchy:
    """Where "memory" or "blkio" is. Raises `CgroupError` when this kernel has it nowhere."""
    memberships = _memberships()
    for mount in mounts():
        if mount.file_system == "cgroup" and controller in mount.options.split(","):
            return _hierarchy(controller, 1, mount, memberships.get(controller, "/"))
        if mount.file_system == "cgroup2":
            offered = text_of(Path(mount.mount_point) / "cgroup.controllers").split()
            if V2_NAMES[controller] in offered:
                return _hierarchy(controller, 2, mount, memberships.get("", "/"))
    raise CgroupError(f"no control group hierarchy with the controller {controller} is mounted on this machine")


def _hierarchy(controller: str, version: int, mount: Mount, own: str) -> Hierarchy:
    root = Path(mount.mount_point)
    below = os.path.relpath(own, mount.root)
    return Hierarchy(controller, version, root, root if below.startswith("..") else root / below)


def _memberships() -> dict[str, str]:
    """Group of this process by controller of version 1; under "" that of version 2."""
    groups = {}
    for line in text_of(MEMBERSHIP).splitlines():
        _, controllers, path = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def make_group(where: Hierarchy, name: str) -> Path:
    """A new group of ours; in version 2 it gets the controller handed down. Raises `CgroupError`."""
    group = where.parent / f"{PREFIX}{name}"
    try:
        if where.version == 2:
            _hand_down(where)
        group.mkdir(exist_ok=True)
    except OSError as error:
        raise CgroupError(
            f"a control group cannot be made in {where.parent} ({error.strerror}): the agent needs root's rights there"
            + (", and version 2 wants no process in that group itself" if where.version == 2 else "")
        ) from error
    return group


def _hand_down(where: Hierarchy) -> None:
    """Let every group from the root to the parent of ours hand the controller on."""
    name = V2_NAMES[where.controller]
    chain = [group for group in (where.parent, *where.parent.parents) if group.is_relative_to(where.root)]
    for group in reversed(chain):
        if name not in text_of(group / "cgroup.subtree_control").split():
            (group / "cgroup.subtree_control").write_text(f"+{name}")


def groups_named(name: str) -> Iterator[Path]:
    """Groups of ours of that name anywhere, also those that an earlier life of the agent has made.

    Each once, where the same hierarchy is mounted in several places, as for containers.
    """
    yielded = set()
    for mount in mounts():
        if mount.file_system in ("cgroup", "cgroup2"):
            for folder, children, _ in os.walk(mount.mount_point):
                group = Path(folder) / f"{PREFIX}{name}"
                if group.name in children and (identity := (group.stat().st_dev, group.stat().st_ino)) not in yielded:
                    yielded.add(identity)
                    yield group


def remove_group(group: Path) -> bool:
    """Kill what still runs in it and remove it. False when that did not work in time."""
    deadline = time.monotonic() + REMOVE_WAIT_S
    while group.is_dir():
        for pid in text_of(group / "cgroup.procs").split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            group.rmdir()
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
