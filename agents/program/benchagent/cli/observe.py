"""`benchagent observe`: which processes of this machine are sampled for runs of other agents."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchagent.cli.commands import Actions
from benchagent.machine.observations import Observation, Observations
from benchagent.paths import AgentDirs


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    words = "name a server's processes on this machine, to be sampled for runs of another agent"
    actions = Actions(commands, common, "observe", _list, words)
    actions.add("list", _list, "list them (the default action)")

    add = actions.add("add", _add, "name one", "name")
    which = add.add_mutually_exclusive_group(required=True)
    which.add_argument("--pid-file", metavar="FILE", help="the process whose number it holds, with all its children")
    which.add_argument("--process", metavar="NAME", help="all processes of this name, with their children")
    which.add_argument("--user", metavar="USER", help="all processes of this user, with their children")
    add.add_argument("--data-dir", metavar="DIR", help="folder of the data: its device is sampled too")

    actions.add("remove", _remove, "forget one", "name")


def _list(_options: argparse.Namespace, dirs: AgentDirs) -> None:
    for known in Observations(dirs.root).listed():
        device = f"data on {known.device}" if known.device else ""
        print("  ".join(filter(None, (known.name, known.what, device, known.problem()))))


def _add(options: argparse.Namespace, dirs: AgentDirs) -> None:
    paths = [str(Path(path).absolute()) if path else "" for path in (options.pid_file, options.data_dir)]
    made = Observation(options.name, paths[0], options.process or "", options.user or "", paths[1])
    Observations(dirs.root).add(made)
    problem = made.problem()
    print(f"observation {made.name} added" + (f"; {problem}" if problem else ""))
    print(f"pair it on the agent that runs the load: benchagent connections pair CONNECTION AGENT/{made.name}")


def _remove(options: argparse.Namespace, dirs: AgentDirs) -> None:
    Observations(dirs.root).remove(options.name)
    print(f"observation {options.name} removed")
