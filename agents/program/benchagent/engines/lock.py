"""`python -m benchagent.engines.lock [NAME…]`: fetch the pieces anew and write checksums and sizes into the list.

A Debian package's checksum is added beside those that are known: an offline machine may carry an older one.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchagent.engines import LOCK_NAME, Engine, Piece, engine_of
from benchagent.engines.install import finish, unpack
from benchagent.engines.sources import fetch
from benchagent.java.jars import sha256_of
from benchagent.java.maven import resolve


def main(names: list[str]) -> None:
    path = Path(__file__).with_name(LOCK_NAME)
    lock = json.loads(path.read_text(encoding="utf-8"))
    for entry in lock["engines"]:
        if not names or entry["name"] in names:
            entry.setdefault("unpacked_bytes", 0)
            print(entry["name"], flush=True)
            _renew(entry, engine_of(entry))
    path.write_text(json.dumps(lock, indent=1) + "\n", encoding="utf-8")


def _renew(entry: dict[str, Any], engine: Engine) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        for fields, piece in zip(entry["pieces"], engine.pieces, strict=True):
            with tempfile.TemporaryDirectory() as draft:
                file = _pin(fields, piece, Path(draft))
                for step in piece.unpack:
                    unpack(file, step, tree)
        finish(engine, tree)
        entry["unpacked_bytes"] = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir())


def _pin(fields: dict[str, Any], piece: Piece, draft: Path) -> Path:
    """Write what is found into `fields` and give the file."""
    if piece.kind == "debian":
        (fetched,) = fetch([piece], draft)
        fields["known"] = {**piece.known, fetched.version: fetched.sha256}
        file = fetched.path
    elif piece.kind == "maven":
        file = resolve(piece.name, draft)
        fields["sha256"] = sha256_of(file)
    else:
        file = fetch([piece], draft)[0].path
    fields["size_bytes"] = file.stat().st_size
    print(f"  {fields['size_bytes']:>10} {file.name}", flush=True)
    return file


if __name__ == "__main__":
    main(sys.argv[1:])
