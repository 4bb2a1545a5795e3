"""Progress and complaints on stderr, results on stdout: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


class UsageError(Exception):
    """What was asked for is not understood, or not there: told in words, with exit status 2."""


def say(text: str) -> None:
    """A line for people; never mixed with results."""
    print(text, file=sys.stderr, flush=True)


class ProgressLine:
    """One line that is overwritten on a terminal; elsewhere a line for every change of its text."""

    def __init__(self) -> None:
        self._last = ""
        self._terminal = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if text == self._last:
            return
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{text[:200]}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        self._last = text

    def end(self) -> None:
        if self._terminal and self._last:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._last = ""


def print_json(value: Any) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def print_table(rows: Sequence[Sequence[str]], *, heading: Sequence[str]) -> None:
    """Columns as wide as their widest cell; the last one runs on."""
    table = [[*map(str, row)] for row in (heading, *rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(heading))]
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())


def plain_number(value: float) -> str:
    """12,345.678 without digits that nobody reads; small values keep their significant ones."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) >= 1 else f"{value:.4g}"
