"""What machine this is. Linux first; whatever cannot be found out is None, never a guess."""

from __future__ import annotations

import platform
import shutil
import socket
import subprocess
from pathlib import Path

import psutil

from benchagent.machine.devices import storage_facts
from benchagent.protocol import HardwareFacts

DMI = Path("/sys/class/dmi/id")


def hardware_facts(*storage_paths: Path) -> HardwareFacts:
    """The profile of this machine; `storage_paths` are paths whose file system has to be among the devices."""
    return {
        "hostname": socket.gethostname(),
        "os": _operating_system(),
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu_model": _cpu_model(),
        "cpu_cores": psutil.cpu_count(logical=False),
        "cpu_threads": psutil.cpu_count(logical=True),
        "ram_bytes": psutil.virtual_memory().total,
        "motherboard": " ".join(filter(None, (_read(DMI / "board_vendor"), _read(DMI / "board_name")))) or None,
        "virtualisation": _virtualisation(),
        "storage": storage_facts(*storage_paths),
    }


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip() or None
    except OSError:
        return None


def _operating_system() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return platform.platform() or None


def _cpu_model() -> str | None:
    fields: dict[str, str] = {}
    for line in (_read(Path("/proc/cpuinfo")) or "").splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip().lower(), " ".join(value.split()))
    names = (fields.get(key) for key in ("model name", "cpu model", "cpu"))
    return next((name for name in names if name), None) or platform.processor() or None


def _virtualisation() -> str | None:
    """Hypervisor and container as systemd-detect-virt names them ("kvm", "kvm + docker"), "none" on bare metal."""
    tool = shutil.which("systemd-detect-virt")
    if tool:
        kinds = [_detected(tool, kind) for kind in ("--vm", "--container")]
        words = [word for word in kinds if word not in (None, "none")]
        if words or None not in kinds:
            return " + ".join(str(word) for word in words) or "none"
    if Path("/.dockerenv").exists():
        return "docker"
    flags = _read(Path("/proc/cpuinfo")) or ""
    return "virtual machine" if " hypervisor" in flags else None


def _detected(tool: str, kind: str) -> str | None:
    try:
        answer = subprocess.run([tool, kind], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None
