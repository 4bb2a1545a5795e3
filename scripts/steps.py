"""A leg of steps that build on each other: one line for each, the counts as the last; a failed step ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable


class Steps:
    leg = ""
    passed = failed = 0

    def go(self, steps: Iterable[Callable[[], str]]) -> None:
        """Each returns what is wrong, empty when nothing is."""
        for step in steps:
            started = time.monotonic()
            try:
                wrong = step()
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}"
            name = step.__name__.replace("_", " ")
            print(f"{'FAILED' if wrong else 'passed'}  {name} ({time.monotonic() - started:.1f} s)", flush=True)
            if wrong:
                self.failed += 1
                print(wrong, self.log_ends(), sep="\n", flush=True)
                return
            self.passed += 1

    def log_ends(self) -> str:
        """What the programs said last."""
        return ""

    def count(self) -> int:
        """Print the counts. -> the exit code."""
        print(f"{self.leg}: {self.passed} passed, {self.failed} failed, 0 skipped", flush=True)
        return 1 if self.failed else 0
