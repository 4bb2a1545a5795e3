"""`python -m benchagent.java.lock`: fetch every pinned jar anew and write its checksum into the list."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from benchagent.java.jars import LOCK_NAME, resolve, sha256_of


def main() -> None:
    path = Path(__file__).with_name(LOCK_NAME)
    lock = json.loads(path.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for jars in [*lock["tools"].values(), *(group["jars"] for group in lock["engines"])]:
            for jar in jars:
                jar["sha256"] = sha256_of(resolve(jar["coordinate"], Path(folder)))
                print(jar["sha256"][:12], jar["coordinate"], flush=True)
    path.write_text(json.dumps(lock, indent=1) + "\n")


if __name__ == "__main__":
    main()
