"""How many transactions took how long over the time of a run, small enough to be kept with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

# Beyond an hour and a half.
MOST_BUCKETS = 66
# In a longer run two neighbours become one, again and again: the map takes some 30 kB at most.
MOST_INTERVALS = 240


class LatencyMap:
    """Counts by interval and bucket: `k` holds what took from 2^(k/2) to less than 2^((k+1)/2) microseconds."""

    def __init__(self) -> None:
        self._interval_s = 1
        self._counts: list[Counter[int]] = []

    def add(self, second: int, buckets: Sequence[int]) -> None:
        """`buckets`: k, n, k, n …, as the load generator tells them."""
        self.put(second, dict(zip(buckets[::2], buckets[1::2], strict=True)))

    def put(self, second: int, counts: Mapping[int, int], interval_s: int = 1) -> None:
        """What ended from a second on, by bucket; `interval_s`: how many seconds of it."""
        while second // self._interval_s >= MOST_INTERVALS or interval_s > self._interval_s:
            self._interval_s *= 2
            pairs = zip(self._counts[::2], [*self._counts[1::2], Counter[int]()], strict=False)
            self._counts = [one + other for one, other in pairs]
        at = second // self._interval_s
        self._counts += [Counter() for _ in range(at + 1 - len(self._counts))]
        self._counts[at].update(counts)

    def merge(self, other: LatencyMap, begins_at: int) -> None:
        """What another one holds, whose first second is that one here."""
        for at, counts in enumerate(other._counts):
            self.put(begins_at + at * other._interval_s, counts, other._interval_s)

    def as_json(self) -> dict[str, Any]:
        """Empty where nothing was told; `counts` of each interval as `buckets` are."""
        if not any(self._counts):
            return {}
        flat = [[part for item in sorted(counts.items()) for part in item] for counts in self._counts]
        return {"interval_s": self._interval_s, "counts": flat}
