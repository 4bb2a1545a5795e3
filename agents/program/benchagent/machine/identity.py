"""Which machine this is, whatever it is called: the id of its installation and what it is made of, both hashed.

Two machines with one host name have two ids. Two copies of one image have one id and other boards and network cards.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

from benchagent.machine.system import text_of

ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
DMI = Path("/sys/class/dmi/id")
NETWORK = Path("/sys/class/net")
# For machines without an id of their own, and for several agents on one that shall count as several machines.
VARIABLE = "BENCHAGENT_MACHINE_ID"
NONE = {"", "uninitialized", "None", "Not Specified", "00:00:00:00:00:00"}


def machine_id() -> str:
    """Empty where there is none. As machine-id(5) asks for, the id itself is told nobody."""
    found = os.environ.get(VARIABLE) or next(filter(None, map(text_of, ID_FILES)), "")
    return "" if found in NONE else hmac.new(found.encode(), b"benchsite machine", hashlib.sha256).hexdigest()[:32]


def made_of() -> list[str]:
    """What the machine is made of: numbers of its board that only its administrator may read, and addresses of real
    network cards.
    """
    parts = [text_of(DMI / name) for name in ("product_uuid", "board_serial")]
    cards = sorted(NETWORK.iterdir()) if NETWORK.is_dir() else []
    parts += [text_of(card / "address") for card in cards if (card / "device").exists()]
    return sorted({hashlib.sha256(part.encode()).hexdigest()[:16] for part in parts if part not in NONE})
