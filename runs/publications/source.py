"""The data file, and ids that stay the same in every installation."""

from __future__ import annotations

import json
import uuid
from functools import lru_cache
from pathlib import Path
from typing import Any

DATA_FILE = Path(__file__).parent / "data" / "published-results.json"
_NAMESPACE = uuid.UUID("c1f0b7a4-7d0e-5e0c-9d3f-6a2b8e4f1c57")

Row = dict[str, Any]


@lru_cache(maxsize=1)
def load() -> dict[str, list[Row]]:
    data: dict[str, list[Row]] = json.loads(DATA_FILE.read_text(encoding="utf-8"))
    return data


def stable_id(kind: str, publication: str, source_id: str) -> uuid.UUID:
    """The same for the same item of the same publication, wherever and whenever it is imported: links survive."""
    return uuid.uuid5(_NAMESPACE, f"{publication}/{kind}/{source_id}")
