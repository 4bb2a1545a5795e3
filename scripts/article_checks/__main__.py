"""Compute the checks of an article from its numbers: `python -m scripts.article_checks FOLDER FORMULAS`.

Writes checks.json into the folder of the article. `make article-checks` does so for those that come with the program.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from scripts.private import ROOT, set_up_here

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="of the article; default: all that come with the program")
    parser.add_argument("formulas", type=Path, nargs="?", help="as scripts/article_checks/example.json")
    arguments = parser.parse_args()
    own = sorted((ROOT / "runs" / "publications" / "data").iterdir())
    pairs = [(folder, HERE / f"{folder.name}.json") for folder in own]
    with tempfile.TemporaryDirectory(prefix="benchsite-") as state:
        set_up_here(state)
        from scripts.article_checks.computing import computed

        for folder, formulas in [(arguments.folder, arguments.formulas)] if arguments.formulas else pairs:
            files = {"results.json": (folder / "results.json").read_bytes()}
            rows = {"checks": computed(files, json.loads(formulas.read_text()))}
            (folder / "checks.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
            print(f"{folder.name}: {len(rows['checks'])} checks", file=sys.stderr)


if __name__ == "__main__":
    main()
