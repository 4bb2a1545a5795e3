"""Progress and complaints on stderr, results on stdout: tables for people, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Self, TextIO


class UsageError(Exception):
    """What was asked for is not understood, or not there: told in words, with exit status 2."""


def print_line(text: str) -> None:
    """A line for people; never mixed with results."""
    print(text, file=sys.stderr, flush=True)


def columns_of(stream: TextIO) -> int | None:
    """How wide a terminal is; None for a file or a pipe, which take lines of any length."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def shortened(text: str, columns: int) -> str:
    """Its end, which tells more of a path than its beginning."""
    return text if len(text) <= columns else f"…{text[len(text) - max(columns - 1, 0) :]}"


class ProgressLine:
    """One line that is overwritten on a terminal, and never longer than it; elsewhere a line for every change."""

    def __init__(self) -> None:
        self._last = ""
        self._terminal = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if text == self._last:
            return
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{text[: (columns_of(sys.stderr) or 80) - 1]}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        self._last = text

    def end(self) -> None:
        if self._terminal and self._last:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._last = ""


class Tries:
    """Waiting for a server, in one line for all tries, with how many there were and for how long."""

    def __init__(self) -> None:
        self.count, self._began, self._line = 0, time.monotonic(), ProgressLine()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._line.end()
        if self.count > 1:
            print_line(f"({self.count} tries in {self.passed_s:.0f} s)")

    @property
    def passed_s(self) -> float:
        return time.monotonic() - self._began

    def wait(self, why: str, wait_s: float) -> None:
        self.count += 1
        if self.count == 1 or sys.stderr.isatty():
            nth = f", try {self.count} after {self.passed_s:.0f} s" if self.count > 1 else ""
            self._line.show(f"{time.strftime('%H:%M:%S')} {why} (again in {wait_s:.0f} s{nth})")
        time.sleep(wait_s)


def how_far(done: int, size: int, bytes_per_s: float) -> str:
    """45 of 300 MB, 12.0 MB/s, about 21 s left."""
    unit, of_unit = ("MB", 1e6) if size >= 1e6 else ("kB", 1e3)
    digits = 0 if size >= 10 * of_unit else 1
    words = f"{done / of_unit:,.{digits}f} of {size / of_unit:,.{digits}f} {unit}"
    if not done or bytes_per_s <= 0:
        return words
    left_s = (size - done) / bytes_per_s
    left = f"{left_s / 60:.0f} min" if left_s >= 90 else f"{left_s:.0f} s"
    return f"{words}, {bytes_per_s / of_unit:,.1f} {unit}/s, about {left} left"


def print_json(value: Any) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def print_table(rows: Sequence[Sequence[str]], *, heading: Sequence[str]) -> None:
    print("\n".join(table_lines(rows, heading=heading, columns=columns_of(sys.stdout))))


def table_lines(rows: Sequence[Sequence[str]], *, heading: Sequence[str], columns: int | None = None) -> list[str]:
    """Columns as wide as their widest cell. Where that is wider than `columns`, cells go on below, between words."""
    table = [[*map(str, row)] for row in (heading, *rows)]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    least = [max(len(word) for cell in cells for word in cell.split() or [""]) for cells in zip(*table, strict=True)]
    while columns and sum(widths) + len("  ") * (len(widths) - 1) > columns and widths != least:
        widest = max((at for at, width in enumerate(widths) if width > least[at]), key=widths.__getitem__)
        widths[widest] -= 1
    lines = []
    for row in table:
        wraps = (textwrap.wrap(cell, width, break_on_hyphens=False) for cell, width in zip(row, widths, strict=True))
        cells = [wrapped or [""] for wrapped in wraps]
        lines += ["  ".join(map(str.ljust, line, widths)).rstrip() for line in zip_longest(*cells, fillvalue="")]
    return lines


def plain_number(value: float) -> str:
    """12,345.678 without digits that nobody reads; small values keep their significant ones."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) >= 1 else f"{value:.4g}"


def counted(number: int, noun: str = "run") -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
