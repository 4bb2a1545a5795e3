"""Backups by tools of engines that the agent cannot start: commands for the server's own machine, to be shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand

Command = Callable[[Path], Sequence[str | Path]]


@dataclass(frozen=True)
class Tool:
    """`back_up` and `bring_back` make the arguments, from the target, which the tool writes below or as."""

    slug: str
    label: str
    back_up: Command
    bring_back: Command


class ToolBackup(BackupMethod):
    """Logs in by the operating system, so that no password is an argument.

    No job runs it: it is of a whole database, and brought back as a second one.
    """

    def __init__(self, tool: Tool) -> None:
        self.slug, self.label = tool.slug, tool.label
        self._tool = tool

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [ToolCommand(self._tool.back_up(target))]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [ToolCommand(self._tool.bring_back(source))]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return "jdbc:"  # nobody connects
