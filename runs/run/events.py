"""What happened at a second of a run: checkpoints, stalls, and what people noted there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runs.models import Run
from runs.run.series import Series, measured_window, within
from runs.run.steadiness import stalls

RATE, CHECKPOINTS = "tps", "checkpoints"
NAMES = (RATE, CHECKPOINTS)
CHECKPOINT, STALL, NOTE = "checkpoint", "stall", "note"


@dataclass(frozen=True)
class Event:
    """`at_s` counts as series do; `kind` is checkpoint, stall or note."""

    at_s: float
    kind: str
    words: str


def events_of(run: Run, series: Mapping[str, Series]) -> list[Event]:
    """In the order of time. `series` by name, those of `NAMES` count."""
    counts = series[CHECKPOINTS].points() if CHECKPOINTS in series else ()
    checkpoints = [Event(at_s, CHECKPOINT, CHECKPOINT) for at_s, count in counts if count is not None and count >= 1]
    return sorted([*checkpoints, *_stalls(run, series), *notes_of(run)], key=lambda event: event.at_s)


def notes_of(run: Run) -> list[Event]:
    return [Event(note.at_s, NOTE, note.text) for note in run.annotations.all()]


def _stalls(run: Run, series: Mapping[str, Series]) -> list[Event]:
    """Seconds of the window in which next to nothing ended; those that follow each other are one stall."""
    rate = series.get(RATE)
    if rate is None:
        return []
    begin_s, end_s = measured_window(run.factor_values, rate)
    first_s, each_s = max(begin_s, rate.t0_s), rate.interval_s
    return [
        Event(first_s + stall.start * each_s, STALL, f"stall, {len(stall) * each_s:g} s")
        for stall in stalls(within(rate, begin_s, end_s))
    ]
