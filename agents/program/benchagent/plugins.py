"""Engines, workloads, importers and exporters are found by entry points, ours by the same way as everybody's.

A distribution lists what it offers under the group in its pyproject.toml; see docs/extend/plug-ins.md.
"""

from __future__ import annotations

import logging
from importlib.metadata import EntryPoint, entry_points
from typing import Any

LOG = logging.getLogger(__name__)
OURS = "benchagent"
# What is said of a part that a job or a document names and that nobody offers here.
LACKING = "no plug-in that is installed here offers it"
ENGINES, WORKLOADS = "benchsite.engines", "benchsite.workloads"
IMPORTERS, EXPORTERS = "benchsite.importers", "benchsite.exporters"


def offered(group: str) -> dict[str, Any]:
    """What distributions offer in a group, by name: others' first, as who installs a plug-in wants it to be asked.

    What cannot be loaded and what takes a name that another has is left out and logged, so that it costs nothing else.
    Raises RuntimeError where ours are missing: this program was installed before it had them.
    """
    points = sorted(entry_points(group=group), key=lambda point: point.name)
    ours = {point.name: point.load() for point in points if _distribution(point) == OURS}
    if not ours:
        raise RuntimeError(f"{OURS} is installed without its {group}: install it anew (python3 scripts/bootstrap.py)")
    others: dict[str, Any] = {}
    for point in points:
        if _distribution(point) == OURS:
            continue
        if point.name in ours or point.name in others:
            LOG.error("%s of %s is left out: another part has its name", point.name, _distribution(point))
            continue
        try:
            others[point.name] = point.load()
        except Exception:
            LOG.exception("%s of %s cannot be loaded and is left out", point.name, _distribution(point))
    return others | ours


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else ""
