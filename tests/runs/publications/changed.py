"""The program's own publications with something changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from runs.publications.folder import DATA, Folder
from runs.publications.importer import import_folders
from scripts.article_checks.computing import TOPICS, computed


def files_of(slug: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (DATA / slug).iterdir()}


def import_changed(slug: str, change: Callable[[dict[str, Any]], object]) -> None:
    """`change` gets what results.json holds; the checks are computed anew, as for an article that is made."""
    files = files_of(slug)
    results = json.loads(files["results.json"])
    change(results)
    files |= {"results.json": json.dumps(results).encode()}
    files["checks.json"] = json.dumps({"checks": computed(TOPICS[slug], results)}).encode()
    import_folders(Folder.of(files))
