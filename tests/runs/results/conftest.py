from __future__ import annotations

from pathlib import Path

import pytest

from benchsite.state import State


@pytest.fixture(autouse=True)
def own_state(settings, tmp_path: Path):
    """`manage.py judge` notes in STATE by which rules it judged."""
    settings.STATE = State(tmp_path)
