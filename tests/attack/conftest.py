"""Attacks on a running Benchsite and on real engines."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import REPOSITORY
from tests.e2e.conftest import Site, site

__all__ = ["Site", "site"]


def token(site: Site, scopes: str) -> str:
    """One of the operator's."""
    command = [sys.executable, "manage.py", "token", "--name", f"attack {scopes}", "--scopes", scopes]
    environment = os.environ | {"STATE": str(site.state)}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()
