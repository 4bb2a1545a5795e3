"""Compute the checks of the articles that come with the program from their numbers: `make article-checks`.

Reads results.json of each and writes checks.json beside it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

from scripts.private import ROOT, set_up_here

DATA = ROOT / "runs" / "publications" / "data"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="benchsite-") as state:
        set_up_here(state)
        from scripts.article_checks.computing import MODULES, computed

        for slug in MODULES:
            checks = computed(slug, json.loads((DATA / slug / "results.json").read_text()))
            rows: dict[str, Any] = {"checks": checks}
            (DATA / slug / "checks.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
            print(f"{slug}: {len(checks)} checks", file=sys.stderr)


if __name__ == "__main__":
    main()
