"""`python -m benchagent.java.lock [--list FILE] [NAME…]`: fetch pinned jars anew, write their checksums into the list.

Without a FILE it is our own list. A name is that of an engine or driver, as `benchagent engines install` takes it, or
of a tool; none: all of the list.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from benchagent.java.jars import LOCK_NAME, EngineJars, sha256_of
from benchagent.java.maven import resolve

LOCK = Path(__file__).with_name(LOCK_NAME)


def main(names: list[str], path: Path = LOCK) -> None:
    lock = json.loads(path.read_text())
    lists = lock.get("tools", {}) | {
        EngineJars(**group | {"jars": ()}).name: group["jars"] for group in lock["engines"]
    }
    if unknown := set(names) - lists.keys():
        raise SystemExit(f"the list has no {', '.join(sorted(unknown))}; it has {', '.join(lists)}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names or lists:
            for jar in lists[name]:
                jar["sha256"] = sha256_of(resolve(jar["coordinate"], Path(folder)))
                print(jar["sha256"][:12], jar["coordinate"], flush=True)
    path.write_text(json.dumps(lock, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, default=LOCK)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    main(options.names, options.list)
