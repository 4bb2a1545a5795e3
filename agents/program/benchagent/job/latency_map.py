"""How many transactions took how long over the time of a run, small enough to be kept with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

# Of a longer run two neighbours become one, again and again: at most some 30 kB.
MOST_INTERVALS = 240


class LatencyMap:
    """Counts by interval and bucket: `k` holds what took from 2^(k/2) to less than 2^((k+1)/2) microseconds."""

    def __init__(self) -> None:
        self._interval_s = 1
        self._counts: list[Counter[int]] = []

    def add(self, second: int, buckets: Sequence[int]) -> None:
        """`buckets`: k, n, k, n …, as the load generator tells them."""
        while second // self._interval_s >= MOST_INTERVALS:
            self._interval_s *= 2
            pairs = zip(self._counts[::2], [*self._counts[1::2], Counter[int]()], strict=False)
            self._counts = [one + other for one, other in pairs]
        at = second // self._interval_s
        self._counts += [Counter() for _ in range(at + 1 - len(self._counts))]
        self._counts[at].update(dict(zip(buckets[::2], buckets[1::2], strict=True)))

    def told(self) -> dict[str, Any]:
        """Empty where nothing was told; `counts` of each interval as `buckets` are."""
        if not any(self._counts):
            return {}
        flat = [[part for item in sorted(counts.items()) for part in item] for counts in self._counts]
        return {"interval_s": self._interval_s, "counts": flat}
