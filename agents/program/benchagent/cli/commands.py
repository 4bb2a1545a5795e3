"""What the commands share: errors as words and an exit status, lines that are seen at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from benchagent.errors import JobError
from benchagent.link.identity import IdentityError
from benchagent.machine.process import ProcessFailed
from benchagent.paths import AgentDirs

EXIT_FAILED, EXIT_USAGE = 1, 2
Command = Callable[[argparse.Namespace, AgentDirs], int]


class Actions:
    """A command whose first argument is an action; `list` is the default one. `common` has what every command takes."""

    def __init__(self, commands: Any, common: argparse.ArgumentParser, name: str, listing: Command, help: str) -> None:
        parser = commands.add_parser(name, parents=[common], help=help)
        parser.set_defaults(command=listing, json=False)
        self._actions = parser.add_subparsers(metavar="ACTION")
        self._common = common

    def add(self, name: str, action: Command, help: str, *arguments: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._actions.add_parser(name, parents=[self._common], help=help)
        parser.set_defaults(command=action)
        for argument in arguments:
            parser.add_argument(argument)
        return parser


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


def print_line(line: str) -> None:
    print(line, flush=True)


def complain(words: str) -> None:
    print(f"benchagent: {words}", file=sys.stderr)
