"""`benchagent update`: this program anew, from a wheel of its server."""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchagent.cli.commands import command, print_line
from benchagent.errors import JobError
from benchagent.paths import AgentDirs

PIP = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    update = commands.add_parser("update", parents=[common], help="install another version of this program")
    update.add_argument("wheel", type=Path, metavar="WHEEL")
    update.add_argument("sha256", help="its checksum, as the agents page shows it")
    update.set_defaults(command=command(_update))


def _update(options: argparse.Namespace, _dirs: AgentDirs) -> None:
    """What it needs of others first, so that what fails has changed nothing."""
    if hashlib.sha256(options.wheel.read_bytes()).hexdigest() != options.sha256:
        raise JobError(f"{options.wheel.name} has another checksum: nothing was changed")
    for words in ([], ["--force-reinstall", "--no-deps"]):
        if subprocess.run([*PIP, *words, options.wheel], check=False).returncode:
            raise JobError("pip could not install it, see above")
    done = subprocess.run([sys.executable, "-m", "benchagent", "--version"], check=True, capture_output=True, text=True)
    print_line(f"benchagent {done.stdout.strip()} is installed")
