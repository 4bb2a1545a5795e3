"""Compute the checks of an article from its numbers: `python -m scripts.article_checks FOLDER MODULE`.

Reads results.json of the folder and writes checks.json beside it. `make article-checks` does so for the articles that
come with the program.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from scripts.private import ROOT, set_up_here

DATA = ROOT / "runs" / "publications" / "data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="of the article; default: all that come with the program")
    parser.add_argument("module", nargs="?", help="with its checks, as scripts.article_checks.example")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchsite-") as state:
        set_up_here(state)
        from scripts.article_checks.computing import TOPICS, computed

        own = {DATA / slug: topics for slug, topics in TOPICS.items()}
        given = {arguments.folder: import_module(arguments.module).TOPICS} if arguments.module else own
        for folder, topics in given.items():
            rows = computed(topics, json.loads((folder / "results.json").read_text()))
            (folder / "checks.json").write_text(json.dumps({"checks": rows}, indent=1, ensure_ascii=False) + "\n")
            print(f"{folder.name}: {len(rows)} checks", file=sys.stderr)


if __name__ == "__main__":
    main()
