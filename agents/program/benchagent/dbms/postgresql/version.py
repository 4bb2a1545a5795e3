"""Versions as numbers, for what changed with them."""

from __future__ import annotations

import re

Version = tuple[int, int]


def numbers(version: str) -> Version:
    """ "9.6.24" is (9, 6), "15.20" is (15, 20), "18beta1" is (18, 0): compare with (9, 5) or (17, 0)."""
    found = [int(part) for part in re.findall(r"\d+", version.partition("beta")[0].partition("rc")[0])]
    return (found[0] if found else 0, found[1] if len(found) > 1 else 0)
