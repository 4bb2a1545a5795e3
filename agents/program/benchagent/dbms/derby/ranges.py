"""What Derby makes of the numbers in its properties. It tells nothing of most, and takes another one in silence.

After its source: BaseDataFileFactory, FileContainer, LogToFile, RawStoreFactory, Property.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchagent.configfiles.units import MIB

PAGE_SIZE, CACHE = "derby.storage.pageSize", "derby.storage.pageCacheSize"
DEFAULT_PAGE_SIZE = 4096
PAGE_SIZES = (4096, 8192, 16384, 32768)
LARGEST = 2**31 - 1
NUMBER = re.compile(r"[+-]?\d+\Z")


@dataclass(frozen=True)
class Range:
    """`otherwise` is taken for a number outside; None: the nearest one inside."""

    least: int
    most: int
    otherwise: int | None = None

    def taken(self, number: int) -> int:
        if self.least <= number <= self.most:
            return number
        return min(max(number, self.least), self.most) if self.otherwise is None else self.otherwise


RANGES = {
    CACHE: Range(40, LARGEST, 1000),
    "derby.storage.pageReservedSpace": Range(0, 100, 20),
    "derby.storage.logBufferSize": Range(8192, 128 * MIB, 32768),
    "derby.storage.logSwitchInterval": Range(100_000, 128 * MIB),
    "derby.storage.checkpointInterval": Range(100_000, 128 * MIB),
    "derby.locks.escalationThreshold": Range(100, LARGEST, 5000),
}


def taken(name: str, value: str) -> str:
    """The value that Derby goes by, where a property with this value was set."""
    number = int(value) if NUMBER.match(value) else None
    if name == PAGE_SIZE:
        return value if number in PAGE_SIZES else str(DEFAULT_PAGE_SIZE)
    limits = RANGES.get(name)
    if limits is None:
        return value
    if number is None:  # as good as none; where there is no other one, Derby does not start
        return value if limits.otherwise is None else str(limits.otherwise)
    return str(limits.taken(number))
