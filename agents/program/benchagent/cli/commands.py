"""What the commands share: errors as words and an exit status, lines that are seen at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from benchagent.engines.sources import InstallError
from benchagent.errors import JobError
from benchagent.java import FetchError, JarChecksumError, JavaNotFoundError
from benchagent.link.identity import IdentityError
from benchagent.machine.process import ProcessFailed
from benchagent.paths import AgentDirs

EXIT_FAILED, EXIT_USAGE = 1, 2
Action = Callable[[argparse.Namespace, AgentDirs], int | None]
# What a person can act on.
FAILURES = (
    JobError, ProcessFailed, IdentityError, InstallError, FetchError, JarChecksumError, JavaNotFoundError, OSError,
)  # fmt: skip


class UsageError(JobError):
    """What was named is not there, and nothing was done."""


class Actions:
    """A command whose first argument is an action; `list` is the default one. `common` has what every command takes."""

    def __init__(self, commands: Any, common: argparse.ArgumentParser, name: str, listing: Action, help: str) -> None:
        parser = commands.add_parser(name, parents=[common], help=help)
        parser.set_defaults(command=command(listing), json=False)
        self._actions = parser.add_subparsers(metavar="ACTION")
        self._common = common

    def add(self, name: str, action: Action, help: str, *arguments: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._actions.add_parser(name, parents=[self._common], help=help)
        parser.set_defaults(command=command(action))
        for argument in arguments:
            parser.add_argument(argument)
        return parser


def command(action: Action) -> Callable[[argparse.Namespace, AgentDirs], int]:
    """The action as a command: what it raises is told, and sets the exit status."""

    def run(options: argparse.Namespace, dirs: AgentDirs) -> int:
        try:
            return action(options, dirs) or 0
        except FAILURES as error:
            complain(str(error))
            return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED

    return run


def print_line(line: str) -> None:
    print(line, flush=True)


def complain(words: str) -> None:
    print(f"benchagent: {words}", file=sys.stderr)
