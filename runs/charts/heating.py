"""Memory of the DBMS while the queries before a run warm it up: the curve of the 2015 article."""

from __future__ import annotations

from typing import Any

from runs.charts.base import BandSpec, Figure, Point, lines, lines_table
from runs.models import Run

MIB = 2**20


def memory_figure(run: Run) -> Figure | None:
    """None where no server was there to be watched."""
    told: dict[str, Any] = run.statistics.get("warm_up_queries") or {}
    points: list[Point] = [
        (round(float(sample["t"]), 2), float(sample["bytes"]) / MIB)
        for sample in told.get("memory", [])
        if isinstance(sample.get("bytes"), int | float)
    ]
    if not points:
        return None
    spec = lines(
        x={"label": "Time", "unit": "s", "scale": "linear"},
        y={"label": "Memory", "unit": "MiB", "zero": True},
        series=[{"label": run.dbms_version.dbms.name, "color": 0, "dash": False, "points": points}],
        bands=_band(told.get("queries", [])),
    )
    first, last = points[0][1], points[-1][1]
    return Figure(
        id="heating", title="Memory of the DBMS while it warms up", spec=spec, table=lines_table(spec),
        alt=f"Line of the memory of the DBMS: from {first:.0f} to {last:.0f} MiB.",
        note="Ten samples a second; pages that processes share count once.",
    )  # fmt: skip


def _band(queries: list[dict[str, Any]]) -> list[BandSpec]:
    """From the begin of the first to the end of the last; `t` is when a query ended."""
    ends = [(float(query["t"]), float(query.get("elapsed_s") or 0)) for query in queries if query.get("t") is not None]
    if not ends:
        return []
    begin = max(0.0, min(end - elapsed for end, elapsed in ends))
    return [{"from": round(begin, 2), "to": round(max(ends)[0], 2), "label": "warm-up queries"}]
