"""What Apache Otava calls a change as a series grows, batch by batch; run in a virtual environment that has it.

[means of the batches of each series] as JSON from stdin, the least magnitude as argument -> [[(when, where)]].
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

# Only there, see `other_rules`.
from otava.analysis import compute_change_points

FIRST, NEWEST, NEAR = 10, 100, 3


def alarms(means: Sequence[float], magnitude: float) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for now in range(FIRST, len(means)):
        low = max(0, now + 1 - NEWEST)
        points, _ = compute_change_points(
            list(means[low : now + 1]), window_len=50, max_pvalue=0.001, min_magnitude=magnitude
        )
        for at in (low + int(point.index) for point in points):
            # What only moved out of the window, or was found already a few batches beside.
            if at >= low + NEAR and all(abs(at - where) > NEAR for _, where in found):
                found.append((now, at))
    return found


if __name__ == "__main__":
    json.dump([alarms(means, float(sys.argv[1])) for means in json.load(sys.stdin)], sys.stdout)
