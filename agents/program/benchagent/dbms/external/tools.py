"""Backups by tools of engines that the agent cannot start: commands for the server's own machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand
from benchagent.dbms.base import JobError

Command = Callable[[Path], Sequence[str | Path]]


@dataclass(frozen=True)
class Tool:
    """`back_up` and `bring_back` make the arguments, from the target, which the tool writes below or as.

    `program`: what has to be there, where the first argument is only what starts it.
    """

    slug: str
    label: str
    back_up: Command
    bring_back: Command
    program: str = ""


class ToolBackup(BackupMethod):
    """Logs in by the operating system, so that no password is an argument: the agent's user has to be allowed to."""

    def __init__(self, tool: Tool) -> None:
        self.slug, self.label = tool.slug, tool.label
        self._tool = tool

    def check(self, options: Options) -> None:
        program = self._tool.program or str(self._tool.back_up(Path("x"))[0])
        if not shutil.which(program):
            raise JobError(f"{self.label} runs on the server's own machine, and {program} is not on this one")

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [ToolCommand(self._tool.back_up(target))]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [ToolCommand(self._tool.bring_back(source))]
