"""What the commands share: errors as words and an exit status, lines that are seen at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from benchagent.errors import JobError
from benchagent.link.identity import IdentityError
from benchagent.machine.process import ProcessFailed
from benchagent.paths import AgentDirs

EXIT_FAILED, EXIT_USAGE = 1, 2
Command = Callable[[argparse.Namespace, AgentDirs], int]


def command(action: Callable[[argparse.Namespace, AgentDirs], None]) -> Command:
    """The action as a command: what it raises is told, and sets the exit status."""

    def run(options: argparse.Namespace, dirs: AgentDirs) -> int:
        try:
            action(options, dirs)
        except (JobError, ProcessFailed, IdentityError) as error:
            complain(str(error))
            return EXIT_FAILED
        return 0

    return run


def say(line: str) -> None:
    print(line, flush=True)


def complain(words: str) -> None:
    print(f"benchagent: {words}", file=sys.stderr)
